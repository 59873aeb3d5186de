"""Names and lines for addresses, beside llvm-symbolizer and eu-addr2line."""

import os
import random
import re
import shutil
import subprocess

from goals import goal, missing
from rounds import Series, median, run


def addresses(path, count):
    """Addresses within functions of a file, the same for the same file."""
    out = subprocess.run(["nm", "--defined-only", "--print-size", path], capture_output=True, text=True, check=True)
    ranges = [(int(a, 16), int(b, 16)) for a, b in re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [tT] ", out.stdout, re.MULTILINE)]
    chance = random.Random(1)
    return sorted(start + chance.randrange(max(size, 1)) for start, size in (chance.choice(ranges) for _ in range(count)))


def measure(tools, folder, rounds, count):
    file = tools["memgraph"]
    listed = os.path.join(folder, "addresses")
    chosen = addresses(file, count)
    with open(listed, "w", encoding="utf-8") as out:
        out.writelines(f"{address:#x}\n" for address in chosen)
    notes = subprocess.run(["readelf", "--notes", file], capture_output=True, text=True, check=True).stdout
    identity = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
    commands = {"memgraph": {"command": [tools["names"], file, identity], "stdin": listed}}
    symbolizer = shutil.which("llvm-symbolizer")
    if symbolizer:
        commands["llvm-symbolizer"] = {"command": [symbolizer, f"--obj={file}"], "stdin": listed}
    series = Series(rounds)
    series.measure(commands, lambda run: run)
    named = sum(not line.startswith("0x") for line in series.figures["memgraph"][0]["out"].splitlines())
    lines = sum(not line.endswith("?:0") for line in series.figures["memgraph"][0]["out"].splitlines())
    print(f"                of {count:,} addresses {named:,} have a name and {lines:,} a line; the rest is the compiler's", flush=True)
    if symbolizer:
        for key, what in (("wall", "time"), ("peak", "memory")):
            values = series.ratios("memgraph", "llvm-symbolizer", key)
            goal("Y1", f"{count:,} addresses with lines, {what} beside llvm-symbolizer", median(values), 1, spread=values)
    else:
        missing("Y1", "beside llvm-symbolizer", "llvm-symbolizer is not here")
    if shutil.which("eu-addr2line"):
        fewer = os.path.join(folder, "fewer")
        with open(fewer, "w", encoding="utf-8") as out:
            out.writelines(f"{address:#x}\n" for address in chosen[:count // 10])
        theirs = run(["eu-addr2line", "-f", "-e", file], stdin=fewer)["wall"] * 10
        goal("Y2", "times faster than eu-addr2line -f (a tenth of the addresses, times ten)",
             theirs / median(series.values("memgraph", "wall")), 30, least=True)
    else:
        missing("Y2", "beside eu-addr2line", "eu-addr2line is not here")
