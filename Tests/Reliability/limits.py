"""Bounded analysis: memory, and an end in the middle of it."""

import os
import random
import re
import signal
import subprocess
import time

from harness import Run


def make_snapshot(machine, nodes, edges):
    path = machine.folder / f"made-{nodes}.mgraph"
    if not path.exists():
        subprocess.run([machine.build / "SnapshotMaker", str(nodes), str(edges), path], check=True)
    return path


def measured(command):
    """Runs a command; its status, what it says, its greatest resident memory in MB, its seconds."""
    start = time.monotonic()
    reading, writing = os.pipe()
    pid = os.posix_spawnp(command[0], [str(word) for word in command], os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0), (os.POSIX_SPAWN_DUP2, writing, 2)])
    os.close(writing)
    with os.fdopen(reading) as errors:
        text = errors.read()
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), text, usage.ru_maxrss >> 10, time.monotonic() - start


def try_memory_limit(machine, table, full, seed):
    path = make_snapshot(machine, 200_000, 600_000)
    folder = machine.new_folder("limit")
    wrong, runs = [], 0
    for verb in (["leaks"], ["summary"], ["tree"], ["cycles"], ["audit"], ["view", "-o", folder / "page.html"]):
        command = [str(machine.tool), verb[0], path, *verb[1:], "--memory-limit"]
        status, text, peak, _ = measured([*command, "2M"])
        runs += 1
        if status != 4 or "needs more memory than --memory-limit 2M allows" not in text:
            wrong.append(f"{verb[0]}: status {status}: {text}")
        if os.listdir(folder):
            wrong.append(f"{verb[0]}: {os.listdir(folder)} is left")
        status, text, _, _ = measured([*command, "8G"])
        runs += 1
        if status not in (0, 1):
            wrong.append(f"{verb[0]} with enough: status {status}: {text}")
        for name in os.listdir(folder):
            os.unlink(folder / name)
    table.add("`--memory-limit` on six verbs, too little and enough", runs, "status, sentence, no file left", wrong)


def try_interrupts(machine, table, full, seed):
    path = make_snapshot(machine, 200_000, 600_000)
    numbers = random.Random(seed)
    wrong, runs, cut = [], 0, 0
    for words in (["view", path, "-o", "page.html"], ["export", path, "-o", "graph.sqlite"], ["strip", path, "-o", "copy.mgraph"],
                  ["bundle", path.parent / "marks", "-o", "bundle"]):
        if words[0] == "bundle":
            words[1].mkdir(exist_ok=True)
            if not (words[1] / "made.mgraph").exists():
                os.link(path, words[1] / "made.mgraph")
        for number in (signal.SIGINT, signal.SIGTERM) * (10 if full else 1):
            folder, delay = machine.new_folder("cut"), numbers.random() * 4

            def interrupt(run):
                time.sleep(delay)
                run.process.send_signal(number)

            here = os.getcwd()
            os.chdir(folder)
            try:
                run = Run(machine, ["env", "--default-signal", machine.tool, *words], out=folder, started=interrupt, seconds=120)
            finally:
                os.chdir(here)
            runs += 1
            left = os.listdir(folder)
            if run.status == -number:
                cut += 1
                if left:
                    wrong.append(f"{words[0]} after {delay:.2f} s: {left} is left")
            elif run.status not in (0, 1) or left != [str(words[-1])]:
                wrong.append(f"{words[0]} after {delay:.2f} s: status {run.status}, {left}, {run.errors}")
            if os.listdir(run.temporary):
                wrong.append(f"{words[0]} after {delay:.2f} s: {os.listdir(run.temporary)} in the temporary folder")
            run.discard()
    table.add("SIGINT and SIGTERM 0–4 s into `view`, `export`, `strip`, `bundle`", runs, f"{cut} in the middle of it", wrong, f"{seed}")


def try_large(machine, table, full, seed):
    if not full:
        return
    nodes, edges = 12_000_000, 40_000_000
    path = make_snapshot(machine, nodes, edges)
    wrong, said = [], []
    for verb in ("check", "leaks", "summary"):
        status, text, peak, seconds = measured([str(machine.tool), verb, path, "--memory-limit", "2G"])
        if status not in (0, 1):
            wrong.append(f"{verb}: status {status}: {text}")
        said.append(f"{verb} {peak / 1024:.1f} GB, {seconds:.0f} s")
    table.add(f"a snapshot of {nodes:,} nodes and {edges:,} edges ({path.stat().st_size >> 20} MB)", 3,
              "within `--memory-limit 2G`", wrong, "1", "; ".join(said) + ", the mapped file among it")
    path.unlink()


def try_all(machine, table, full, seed):
    table.begin("Bounded analysis")
    try_memory_limit(machine, table, full, seed)
    try_interrupts(machine, table, full, seed)
    try_large(machine, table, full, seed)
