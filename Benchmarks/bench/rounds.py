"""Paired rounds: each command once a round, in an order of chance; ratios are of figures of the same round."""

import os
import random
import re
import subprocess
import time


def median(values):
    return quantile(values, 0.5)


def quantile(values, share):
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


class Failed(Exception):
    """A command that should be measured did not end as it should."""


def run(command, env=None, stdin=None, cwd=None, good=(0,)):
    """Runs a command; its wall time, processor time and peak of memory (of it and its children), and what it printed."""
    started = time.monotonic()
    with open(stdin or os.devnull, "rb") as source:
        child = subprocess.Popen(
            command, env={**os.environ, "SWIFT_BACKTRACE": "enable=no", **(env or {})}, stdin=source,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd)
        out, err = child.stdout.read(), child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in good:
        raise Failed(f"{' '.join(command)}: status {child.returncode}: {err.decode(errors='replace')[-400:]}")
    return {
        "wall": time.monotonic() - started,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * 1024,
        "out": out.decode(errors="replace"),
    }


def result(text):
    """What a workload tells in its last line."""
    line = [line for line in text.splitlines() if line.startswith("RESULT ")][-1]
    return dict(re.findall(r"(\w+)=(\S+)", line))


class Series:
    """The figures of several commands over several rounds."""

    def __init__(self, rounds, seed=1):
        self.rounds = rounds
        self.random = random.Random(seed)
        self.figures = {}

    def measure(self, commands, read):
        """`commands` by name; `read` makes figures, a dictionary, of what `run` returned."""
        for _ in range(self.rounds):
            names = list(commands)
            self.random.shuffle(names)
            for name in names:
                self.figures.setdefault(name, []).append(read(run(**commands[name])))

    def ratios(self, name, base, key):
        return [a[key] / b[key] for a, b in zip(self.figures[name], self.figures[base])]

    def values(self, name, key):
        return [figure[key] for figure in self.figures[name]]
