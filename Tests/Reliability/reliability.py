"""`scripts/reliability`: what was tried against the toolkit, how often, and what was lost."""

import argparse
import datetime
import os
import platform
import random
import sys

import faults
import host
import limits
import sanitizers
import security
from harness import ROOT, Machine, Table

MODE_NAMES = [mode[0] for mode in host.MODES]
PARTS = {
    "tasks": host.try_tasks, "budget": host.try_budget,
    "steps": faults.try_steps, "kills": faults.try_kills, "places": faults.try_places, "limits": faults.try_limits,
    "security": security.try_all, "bounded": limits.try_all, "fuzz": sanitizers.try_fuzzers,
    "sanitizers": sanitizers.try_all,
}


def words():
    parser = argparse.ArgumentParser(prog="scripts/reliability", description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="some minutes (the default)")
    size.add_argument("--full", action="store_true", help="some hours, with a soak of ten minutes")
    parser.add_argument("--seed", type=int, help="the first seed (default: a new one, which is printed)")
    parser.add_argument("--build", default=str(ROOT / ".build/debug"), help="where the built programs are")
    parser.add_argument("--only", action="append", metavar="PART",
                        help="one part, or one mode of the stress program: " + ", ".join(dict.fromkeys([*PARTS, "soak", *MODE_NAMES])))
    parser.add_argument("--soak", type=int, metavar="SECONDS", help="how long the soak takes (default with --full: 600)")
    parser.add_argument("--table", help="write the table to this file, as docs/reliability.md")
    return parser.parse_args()


HEAD = ["| what was tried | runs | what was compared | lost | seeds | |", "|---|---|---|---|---|---|"]


def write(table, path, arguments, seed):
    """Puts the table into the file, between its two marks; rows of earlier calls that were not tried again stay."""
    with open(path) as file:
        text = file.read()
    begin, end = "<!-- table -->\n", "<!-- end of table -->"
    before, rest = text.split(begin)
    old, after = rest.split(end)
    words = ["--full" if arguments.full else "--quick", f"--seed {seed}"]
    words += [f"--only {name}" for name in arguments.only or []]
    words += [f"--soak {arguments.soak}"] if arguments.soak else []
    made = (f"- `scripts/reliability {' '.join(words)}`, {datetime.date.today()}, {os.cpu_count()} processors, "
            f"Linux {platform.release().split('-')[0]}")
    calls = [line for line in old.splitlines() if line.startswith("- ") and line != made] if arguments.only else []
    rows, part = {}, ""
    if arguments.only:
        for line in old.splitlines():
            cells = line.split(" | ")
            if line.startswith("| **"):
                part = line[4:].split("**")[0]
            elif line.startswith("| ") and line not in HEAD:
                rows.setdefault(part, {})[cells[0][2:]] = line
    for part, what, runs, compared, lost, seeds, note in table.rows:
        rows.setdefault(part, {})[what] = (
            f"| {what} | {runs or ''} | {compared} | {lost if runs else '–'} | {seeds} | {note} |")
    lines = ["Made by", "", *calls, made, "", *HEAD]
    for part, of_part in rows.items():
        lines += [f"| **{part}** | | | | | |", *of_part.values()]
    with open(path, "w") as file:
        file.write(before + begin + "\n" + "\n".join(lines) + "\n\n" + end + after)


def main():
    arguments = words()
    full = arguments.full
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1, 100_000)
    print(f"seed {seed}")
    only = arguments.only
    for name in only or []:
        if name not in [*PARTS, "soak", *MODE_NAMES]:
            raise SystemExit(f"reliability: there is no part {name}")
    table, machine = Table(), Machine(arguments.build)
    try:
        modes = [name for name in only or MODE_NAMES if name in MODE_NAMES]
        if modes:
            host.try_modes(machine, table, full, seed, modes)
        for name, part in PARTS.items():
            if not only or name in only:
                part(machine, table, full, seed)
        if arguments.soak or full and not only:
            host.soak(machine, table, arguments.soak or 600, seed)
    finally:
        # What was tried before somebody ended it was tried.
        machine.close()
        if arguments.table:
            write(table, arguments.table, arguments, seed)
    print(f"\n{sum(row[2] for row in table.rows):,} runs, {len(table.failures)} losses; seed {seed}")
    for text in table.failures:
        print("LOST  " + text)
    return 1 if table.failures else 0


if __name__ == "__main__":
    sys.exit(main())
