"""Runs all measurements and says which goals hold. See scripts/bench."""

import argparse
import datetime
import os
import platform
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))

# pylint: disable=wrong-import-position
import analysis
import capture
import fidelity
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
    parser.add_argument("--only", choices=["tracking", "instructions", "capture", "analysis", "names", "fidelity"], action="append",
                        help="one part; may be given several times")
    parser.add_argument("--rounds", type=int, help="rounds of paired commands; 9, or 3 with --quick")
    parser.add_argument("--write", metavar="FILE", help="writes the page, as docs/benchmarks.md has it")
    parser.add_argument("--check-arguments", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--tools", metavar="NAME=PATH", action="append", default=[], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.check_arguments:
        return
    started = time.monotonic()
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
            capture.measure_exports(tools, folder, files[0], min(rounds, 5))
            analysis.measure_difference(tools, files, max(3, min(rounds, 5)))
            for file in files:
                os.remove(file)
            capture.measure_scan(tools, folder, 250_000 if given.quick else 1_000_000)
        if wanted("analysis"):
            analysis.measure_shapes(tools, 200_000 if given.quick else 1_000_000, max(4, min(rounds, 6) // 2 * 2))
            analysis.measure_growth(tools, [100_000, 300_000, 1_000_000] + ([] if given.quick else [10_000_000]))
            analysis.measure_peers(tools, sys.executable, folder, 200_000 if given.quick else 1_000_000, min(rounds, 5))
            analysis.measure_quoted(tools, folder, [1_000_000] + ([] if given.quick else [10_000_000]), min(rounds, 3))
        if wanted("fidelity"):
            fidelity.measure(tools, folder, 1_000)
        if wanted("names"):
            names.measure(tools, folder, rounds, 10_000)

    print(f"\n{len(goals.GOALS) - len(goals.short())} of {len(goals.GOALS)} goals hold"
          + (f"; void for a machine that was not quiet: {', '.join(goals.VOID)}" if goals.VOID else ""))
    if given.write:
        with open(given.write, "w", encoding="utf-8") as file:
            file.write(page(rounds, given.quick, (time.monotonic() - started) / 60))


def page(rounds, is_quick, minutes):
    commit = shell("git", "rev-parse", "--short", "HEAD")
    changed = [line for line in shell("git", "status", "--porcelain", "--untracked-files=no").splitlines()
               if not line.endswith("docs/benchmarks.md")]
    changes = " with changes that are not committed" if changed else ""
    void = (f"The machine was not quiet, so what was measured beside these controls is void: {', '.join(goals.VOID)}.\n\n"
            if goals.VOID else "")
    size = "a quick run" if is_quick else f"{rounds} rounds"
    return f"""# Benchmarks

What memory-graph costs, beside other tools and a plain C reference: **{len(goals.GOALS) - len(goals.short())} of {len(goals.GOALS)} goals hold.**

`scripts/bench{' --quick' if is_quick else ''} --write docs/benchmarks.md` made this page of {commit}{changes} on {datetime.date.today()}, in \
{minutes:.0f} minutes: {size} on {machine()}.

A figure without a unit is a ratio. It is the median of rounds in which each command ran once, in an order of chance; a ratio is of two figures of the
same round, and *middle half* is where half of the rounds lie. Ratios carry over to other machines, times do not. The bare program ran twice a
round: where it was not within 0.85 and 1.15 of itself, that is said here. [How it is measured](../Benchmarks/README.md).

{void}{goals.sections()}
"""


if __name__ == "__main__":
    main()
