"""Runs all measurements and says which goals hold. See scripts/bench."""

import argparse
import datetime
import os
import platform
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))

# pylint: disable=wrong-import-position
import analysis
import capture
import goals
import names
import tracking


def shell(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} cores, {model}, Linux {platform.release()}"


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller graphs, under five minutes")
    parser.add_argument("--only", choices=["tracking", "instructions", "capture", "analysis", "names"], action="append")
    parser.add_argument("--rounds", type=int, help="rounds of paired commands; 9, or 3 with --quick")
    parser.add_argument("--write", metavar="FILE", help="writes the table, as docs/benchmarks.md has it")
    parser.add_argument("--tools", metavar="NAME=PATH", action="append", default=[], help=argparse.SUPPRESS)
    given = parser.parse_args()
    tools = dict(entry.split("=", 1) for entry in given.tools)
    rounds = given.rounds or (3 if given.quick else 9)

    def wanted(part):
        return not given.only or part in given.only

    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        if wanted("tracking"):
            tracking.measure(tools, rounds, folder)
            tracking.measure_stacks(tools, rounds)
        if wanted("instructions"):
            tracking.measure_instructions(tools, folder)
        if wanted("capture"):
            capture.measure_pause(tools, folder, 0.5 if given.quick else 1)
            files = capture.measure_capture(tools, folder, 1_000_000)
            capture.check(tools, files)
            capture.measure_reports(tools, files, min(rounds, 5))
        if wanted("analysis"):
            analysis.measure_shapes(tools, 200_000 if given.quick else 1_000_000, max(4, rounds // 2 * 2))
            analysis.measure_growth(tools, [100_000, 300_000, 1_000_000] + ([] if given.quick else [10_000_000]))
            analysis.measure_peers(tools, sys.executable, folder, 200_000 if given.quick else 1_000_000, min(rounds, 5))
        if wanted("names"):
            names.measure(tools, folder, rounds, 10_000)

    short = [goal for goal in goals.GOALS if not goal["holds"]]
    print(f"\n{len(goals.GOALS) - len(short)} of {len(goals.GOALS)} goals hold"
          + (f"; void for a machine that was not quiet: {', '.join(goals.VOID)}" if goals.VOID else ""))
    if given.write:
        with open(given.write, "w", encoding="utf-8") as file:
            file.write(page(rounds))


def page(rounds):
    commit = shell("git", "rev-parse", "--short", "HEAD")
    void = (f"The machine was not quiet, so what was measured beside these controls is void: {', '.join(goals.VOID)}.\n\n"
            if goals.VOID else "")
    return f"""# Benchmarks

Made by `scripts/bench --write docs/benchmarks.md` at {commit} on {datetime.date.today()}, {rounds} rounds; {machine()}.
Figures without a unit are ratios. Each is the median of paired rounds in an order of chance, with its middle half, and holds for this run
alone; times of another machine can't be held against them.

{void}{goals.table()}
"""


if __name__ == "__main__":
    main()
