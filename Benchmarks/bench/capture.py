"""What a mark costs: the pause, the time until the snapshot is there, the reader's memory, the file's size."""

import os
import subprocess
import threading
import time

from goals import goal, missing, ratio_goal
from rounds import Failed, median, result, run


class Watch(threading.Thread):
    """The peak of resident memory of each reader of a running `memgraph run`."""

    def __init__(self, tool):
        super().__init__(daemon=True)
        self.tool = os.path.realpath(tool)
        self.peak = 0
        self.over = False

    def run(self):
        while not self.over:
            for name in os.listdir("/proc"):
                if not name.isdigit():
                    continue
                try:
                    if os.path.realpath(f"/proc/{name}/exe") != self.tool:
                        continue
                    with open(f"/proc/{name}/status", encoding="utf-8") as status:
                        for line in status:
                            if line.startswith("VmHWM:"):
                                self.peak = max(self.peak, int(line.split()[1]) * 1024)
                except OSError:
                    continue
            time.sleep(0.02)


def milliseconds(text):
    return [int(value) / 1e6 for value in text.split(",")]


def measure_pause(tools, folder, gigabytes):
    command = [tools["memgraph"], "run", "--quiet", "--out", folder, "--", tools["workload"], "pause", str(gigabytes)]
    told = result(run(command)["out"])
    marked, forked = milliseconds(told["marked"]), milliseconds(told["forked"])
    quiet = max(milliseconds(told["quiet"]))
    print(f"                the watch's gaps without a mark: {quiet:.1f} ms at most", flush=True)
    goal("S3", f"pause of a mark with {gigabytes} GB resident", median(marked), 25 * gigabytes + 5, "ms", spread=marked)
    ratio_goal("S3", "pause beside a bare fork of the same process", [a / b for a, b in zip(marked, forked)], 1.5)


def measure_capture(tools, folder, count):
    """Two marks of one run; returns their files."""
    watch = Watch(tools["memgraph"])
    watch.start()
    command = [tools["memgraph"], "run", "--quiet", "--out", folder, "--", tools["workload"], "objects", str(count)]
    told = result(run(command)["out"])
    watch.over = True
    files = [os.path.join(folder, f"objects-{number}.mgraph") for number in (1, 2)]
    took = [os.stat(file).st_mtime - float(start) for file, start in zip(files, told["starts"].split(","))]
    goal("S1", f"{count:,} objects, from the mark to the finished file", took[0], 2 * max(1, count / 1_000_000), "s")
    goal("S1", f"{count:,} objects, memory of the reader", watch.peak / 1e6, 200 * max(1, count / 1_000_000), "MB")
    goal("S4", "bytes of the file, which is not compressed, for each object with 2.5 references and its place in a list",
         os.stat(files[0]).st_size / count, 75, "bytes")
    return files


def cold(path):
    """Takes a file out of the kernel's cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure_reports(tools, files, rounds):
    walls = []
    for _ in range(rounds):
        for file in files:
            cold(file)
        walls.append(run([tools["graphdiff"], *files], good=(0, 1))["wall"])
    goal("A", "graphdiff of two snapshots with a million objects, cold files to printed answer", median(walls), 1, "s",
         spread=walls)


# What `memgraph export` writes; each beside the analyses that the tool makes of the same file.
EXPORTS = ["heapsnapshot", "pprof", "perfetto", "hprof", "sqlite", "csv", "json", "collapsed"]


def measure_exports(tools, folder, file, rounds):
    """Exports, each beside `memgraph leaks` and `memgraph tree` of the same round."""
    ratios = {name: [] for name in EXPORTS}
    out = os.path.join(folder, "exported")
    for _ in range(rounds):
        analysis = sum(run([tools["memgraph"], verb, file, "--quiet"], good=(0, 1))["wall"] for verb in ("leaks", "tree"))
        for name in EXPORTS:
            took = run([tools["memgraph"], "export", file, "--quiet", "--format", name, "-o", out])["wall"]
            os.remove(out)
            ratios[name].append(took / analysis)
    for name in EXPORTS:
        ratio_goal("E", f"a million objects as {name}, time beside leaks and tree of the same snapshot", ratios[name], 3)


def check(tools, files):
    for file in files:
        out = subprocess.run([tools["memgraph"], "check", file], capture_output=True, text=True, check=False)
        if out.returncode:
            raise Failed(f"{file}: {out.stdout}{out.stderr}")


def measure_scan(tools, folder, count):
    """Memory of C that is looked at word by word: a mark of it beside LeakSanitizer's check of the same memory."""
    command = [tools["memgraph"], "run", "--quiet", "--out", folder, "--", tools["workload"], "blocks", str(count)]
    told = result(run(command)["out"])
    file = os.path.join(folder, "blocks.mgraph")
    # A mark returns when its file is whole.
    took = int(told["ns"]) / 1e9
    os.remove(file)
    goal("S2", f"{count:,} blocks of C, bytes that the reader looks at in a second, from the mark to the finished file",
         int(told["bytes"]) / 1e9 / took, 0.5, "GB", least=True)
    if not tools.get("lsan"):
        missing("S2", "pause of a mark beside LeakSanitizer's check", "LeakSanitizer is not here")
        return
    # Its check stands the program still for all of its time.
    theirs = result(run([tools["lsan"], "blocks", str(count)], env={"LSAN_OPTIONS": "exitcode=0"})["out"])
    goal("S2", f"{count:,} blocks of C, pause of a mark beside LeakSanitizer's check of the same memory",
         int(told["pause"]) / int(theirs["ns"]), 0.6)
    print(f"                from the mark to the finished file {took * 1e9 / int(theirs['ns']):.1f} times LeakSanitizer's check", flush=True)
