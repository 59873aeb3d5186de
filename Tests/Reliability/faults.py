"""A fault at every step of a snapshot: the host goes on, the error names the step, nothing half written stays."""

import errno
import os
import random
import signal
import subprocess
import time

from harness import Run, Snapshot, Trouble, preloaded, under_run

# Calls of a reader in the order of a snapshot, and with which numbers they are tried.
FEW, MANY = [1, 2, 3], [1, 2, 3, 5, 8, 13, 21, 40, 80, 160, 320, 640, 1280, 2560]
STEPS = [
    ("receive", [1, 30]), ("open", [1, 2, 3, 5, 8, 13, 21, 34]), ("read", MANY), ("create", FEW), ("fallocate", [1]),
    ("pwrite", [1, 2, 10, 40]), ("fsync", [1]), ("linkat", FEW), ("rename", [1]), ("send", [1]),
]


class Served:
    """A host that takes a mark for each line that it is sent."""

    def __init__(self, machine, command, environment=None, out=None, when_started=None):
        self.machine = machine
        reading, self.writing = os.pipe()
        self._failures = []

        def talk(run):
            os.close(reading)
            self.run = run
            self.pid = self.wait_for("pid ")
            if when_started and self.pid:
                when_started(self)
            if self.writing >= 0:
                os.close(self.writing)

        self.result = Run(machine, command, environment, seconds=60, out=out, started=talk, stdin=reading)

    def wait_for(self, start, seconds=30):
        """The number at the end of the line that begins so; None where it does not come."""
        for _ in range(int(seconds * 200)):
            text = self.run.output_path.read_text(errors="replace")
            for line in text.splitlines(keepends=True):
                if line.startswith(start) and line.endswith("\n"):
                    return int(line.split()[-1])
            if self.run.process.poll() is not None:
                return None
            time.sleep(0.005)
        return None

    def mark(self, name):
        """Has a mark taken; its errno."""
        os.write(self.writing, (name + "\n").encode())
        return self.wait_for(f"mark {name} ")


def expected(machine):
    """What a host that serves has: the sizes of its blocks and how many of each, from a run alone."""
    return 200


def whole(path):
    """Why a snapshot of such a host is not what it should be; None where it is."""
    sizes = Snapshot(path).blocks_by_size()
    kept = sum(sizes[4104 + 16 * kind] for kind in range(64))
    if kept != 200:
        return f"{path.name}: {kept} blocks instead of 200"
    for thread in range(4):
        if not 20 <= sizes[20008 + 16 * thread] <= 21:
            return f"{path.name}: {sizes[20008 + 16 * thread]} blocks of a thread instead of 20 or 21"
    return None


def one_fault(machine, call, number, action, seed, replacing):
    """One mark with the fault, one after it. Whether it was met, and what is wrong."""
    folder = machine.new_folder("faulty")
    once = folder / "once"
    once.touch()
    library = folder / "libMemoryGraphPreload.so"
    library.write_bytes(machine.library.read_bytes())
    reader = folder / "memgraph"
    reader.write_text(
        f'#!/bin/sh\nFAULT={call}:{number}:{action} FAULT_ONCE={once} LD_PRELOAD={machine.fault} exec {machine.tool} "$@"\n')
    reader.chmod(0o755)
    out = machine.new_folder("out")
    if replacing:
        (out / "first.mgraph").write_bytes(b"an older file")
        (out / "first.mgraph").chmod(0o600)
    wrong = []
    results = {}

    def marks(host):
        results["first"] = host.mark("first")
        results["second"] = host.mark("second")

    environment = preloaded(machine, out)
    environment["LD_PRELOAD"] = str(library)
    host = Served(machine, [machine.stress, "serves", seed, 1], environment, out, marks)
    run = host.result
    name = f"{call} {number} {action}"
    was_met = not once.exists()
    if run.hung or run.status != 23 or not run.output.endswith("served\n"):
        wrong.append(f"{name}: the host did not go on: status {run.status}, {run.output[-100:]!r}")
    first = out / "first.mgraph"
    if results.get("first") == 0:
        # Many a call has another way when it fails.
        problem = whole(first) if first.exists() else "there is no snapshot"
        if problem:
            wrong.append(f"{name}: {problem}")
        if run.errors:
            wrong.append(f"{name}: {run.errors}")
    else:
        if not was_met:
            wrong.append(f"{name}: the mark failed by itself: {run.errors}")
        if first.exists() and not (replacing and first.read_bytes() == b"an older file"):
            # It had its name before the answer was lost; then it is whole.
            problem = whole(first) if call in ("send", "linkat", "rename") else "there is half a snapshot"
            if problem:
                wrong.append(f"{name}: {problem}")
        if not run.errors.startswith("memory-graph: ") or run.errors.count("\n") != 1:
            wrong.append(f"{name}: it does not say why: {run.errors!r}")
    if results.get("second") != 0 or whole(out / "second.mgraph"):
        wrong.append(f"{name}: the mark after it: {results.get('second')}, {run.errors}")
    if replacing and first.exists() and first.read_bytes() == b"an older file":
        first.unlink()
    left = run.left_behind()
    if call == "rename" and action == "kill" and was_met:
        # Between its link and its name, in place of an older file, a whole file has another name.
        other = list(out.glob(".mgraph-*"))
        if len(other) != 1 or whole(other[0]):
            wrong.append(f"{name}: {other}")
        left = [text for text in left if ".mgraph-" not in text]
    wrong += [f"{name}: {text}" for text in left]
    said = run.errors.strip()
    run.discard()
    return was_met, wrong, said


def try_steps(machine, table, full, seed):
    table.begin("Faults at every step of a snapshot")
    for action, what in [("kill", "the reader is killed"), (str(errno.ENOSPC), "no space"), (str(errno.EIO), "an input or output error")]:
        runs = met = 0
        wrong, said = [], set()
        for call, numbers in STEPS:
            for number in numbers if full else numbers[::2]:
                for replacing in [False, True] if call in ("linkat", "rename") else [False]:
                    was_met, failed, sentence = one_fault(machine, call, number, action, seed, replacing)
                    runs, met, wrong = runs + 1, met + was_met, wrong + failed
                    if sentence:
                        said.add(sentence.rpartition(": ")[2] if action != "kill" else sentence.partition(".mgraph: ")[2])
        table.add(f"{what} at a call: " + ", ".join(call for call, _ in STEPS), runs, f"{met} calls were met", wrong, f"{seed}",
                  "it says: " + "; ".join(sorted(said)[:4]))


def readers(run):
    found = []
    for pid in run.processes():
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if b"read-twin" in words:
            found.append(pid)
    return found


def try_kills(machine, table, full, seed):
    """Under `memgraph run`: the reader, or the host, is killed after some milliseconds of a mark."""
    table.begin("Faults at every step of a snapshot")
    random_numbers = random.Random(seed)
    for victim in ("reader", "host", "tool"):
        runs, hit, wrong = 0, 0, []
        for _ in range(40 if full else 6):
            delay = random_numbers.random() * 0.15
            results = {}

            def talk(host):
                os.write(host.writing, b"first\n")
                end = time.monotonic() + delay
                while time.monotonic() < end and victim != "reader":
                    time.sleep(0.001)
                if victim == "reader":
                    found = []
                    while not found and host.run.process.poll() is None and time.monotonic() < end + 10:
                        found = readers(host.run)
                        if host.wait_for("mark first ", 0.005) is not None:
                            break
                    time.sleep(delay / 2)
                    for pid in found:
                        try:
                            os.kill(pid, signal.SIGKILL)
                        except ProcessLookupError:
                            pass
                    results["first"] = host.wait_for("mark first ")
                    results["second"] = host.mark("second")
                elif victim == "host":
                    os.kill(host.pid, signal.SIGKILL)
                else:
                    host.run.process.kill()
                    results["first"] = host.wait_for("mark first ", 10)

            out = machine.new_folder("out")
            host = Served(machine, under_run(machine, [machine.stress, "serves", seed, 1], out), out=out, when_started=talk)
            run = host.result
            runs += 1
            name = f"{victim}, {delay * 1000:.0f} ms"
            if run.hung:
                wrong.append(f"{name}: it hung")
            if victim == "reader":
                if run.status != 23 or results.get("second") != 0:
                    wrong.append(f"{name}: status {run.status}, {results}, {run.errors}")
                if results.get("first") != 0:
                    hit += 1
                    if "the reader ended by signal 9" not in run.errors:
                        wrong.append(f"{name}: it does not say why: {run.errors!r}")
            elif victim == "host":
                hit += not (out / "first.mgraph").exists()
                if run.status != -9 and run.status != 137:
                    wrong.append(f"{name}: status {run.status}")
            if victim == "tool":
                hit += 1
                # The tool can't remove its socket when it is killed: the folder is empty for others.
                for entry in run.temporary.glob("memgraph-*"):
                    for file in entry.iterdir():
                        file.unlink()
                    entry.rmdir()
            for path in out.glob("*.mgraph"):
                problem = whole(path) if path.stem in ("first", "second") else None
                if problem:
                    wrong.append(f"{name}: {problem}")
            wrong += [f"{name}: {text}" for text in run.left_behind()]
            run.discard()
        what = {"reader": "the reader of `memgraph run`", "host": "the host", "tool": "`memgraph run` itself"}[victim]
        table.add(f"{what} is killed 0–150 ms into a mark", runs, f"{hit} in the middle of it", wrong, f"{seed}")


def try_places(machine, table, full, seed):
    """Disk full, read-only, gone."""
    table.begin("Faults at every step of a snapshot")
    if os.geteuid() != 0:
        return table.skip("a full disk, a read-only one", "only root can mount one")
    for what, options, later, reason in [
        ("a full disk", "size=128k", None, "No space left on device"),
        ("a folder that becomes read-only", "size=64m", "remount,ro", "Read-only file system"),
    ]:
        wrong = []
        runs = 3 if full else 1
        for _ in range(runs):
            out = machine.new_folder("disk")
            if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", out], capture_output=True).returncode:
                return table.skip(what, "no tmpfs can be mounted here")
            try:
                if later is None:
                    with open(out / "filler.mgraph", "wb") as file:
                        file.write(b"\0" * 124 * 1024)

                def talk(host):
                    if later:
                        subprocess.run(["mount", "-o", later, out], check=True)
                    host.first = host.mark("first")
                    host.second = host.mark("second")

                host = Served(machine, under_run(machine, [machine.stress, "serves", seed, 1], out), out=out, when_started=talk)
                run = host.result
                if run.status != 23:
                    wrong.append(f"status {run.status}: {run.output[-100:]!r}")
                if not host.first or not host.second:
                    wrong.append(f"the marks gave {host.first} and {host.second}")
                if reason not in run.errors or "snapshots could not be written" not in run.errors:
                    wrong.append(f"it says: {run.errors!r}")
                left = sorted(name for name in os.listdir(out) if name != "filler.mgraph")
                if left:
                    wrong.append(f"{left} is left")
            finally:
                subprocess.run(["umount", out], check=True)
        table.add(what, runs, "2 marks and one at exit each", wrong, f"{seed}", f"it says: {reason}")


def try_limits(machine, table, full, seed):
    """No ptrace, no process for the twin, little address space, few descriptors."""
    table.begin("Faults at every step of a snapshot")
    launcher = machine.build / "RestrictedLauncher"

    def serve(prefix, what, wanted, environment=None, status=23, around=()):
        out = machine.new_folder("out")
        results = {}

        def talk(host):
            results["first"] = host.mark("first")

        command = list(around) + under_run(machine, [*prefix, machine.stress, "serves", seed, 1], out)
        host = Served(machine, command, environment, out, talk)
        run, wrong = host.result, []
        if run.status != status:
            wrong.append(f"status {run.status}, {run.output[-100:]!r} {run.errors[-200:]!r}")
        first = out / "first.mgraph"
        if first.exists() and whole(first):
            wrong.append(whole(first))
        if results.get("first") == 0 and not first.exists() and not run.errors:
            wrong.append("there is no snapshot, and no reason why")
        if results.get("first") not in wanted:
            wrong.append(f"the mark gave {results.get('first')}: {run.errors!r}")
        if results.get("first") not in (0, None) and not run.errors:
            wrong.append("it does not say why")
        wrong += run.left_behind()
        said = run.errors.splitlines()[0].rpartition("mgraph: ")[2] if run.errors else ""
        run.discard()
        return wrong, said

    wrong, said = serve([], "no ptrace", [0], around=[launcher, "--no-trace"])
    table.add("neither ptrace nor process_vm_readv", 1, "1 snapshot, counts exact", wrong, f"{seed}", said)

    if os.geteuid() == 0:
        # Of a user who has no other process: the threads of the host are all that there may be.
        wrong, said = serve(
            ["prlimit", "--nproc=6:6", "setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"],
            "no process", [errno.EAGAIN])
        table.add("the twin can't be made (RLIMIT_NPROC)", 1, "1 mark", wrong, f"{seed}", f"it says: {said}")
    else:
        table.skip("the twin can't be made (RLIMIT_NPROC)", "only root can start a program of a user without processes")

    wrong, sentences, tried = [], set(), 0
    for megabytes in [400, 600, 1000, 4000, 70000]:
        failed, said = serve(["prlimit", f"--as={megabytes << 20}"], f"{megabytes} MB", [0, None, errno.ENOTSUP, errno.ENOMEM])
        tried += 1
        wrong += [f"{megabytes} MB: {text}" for text in failed]
        sentences.add(said)
    table.add("little address space (RLIMIT_AS of 400 MB to 70 GB)", tried, "the host goes on", wrong, f"{seed}",
              "it says: " + "; ".join(sorted(filter(None, sentences))))

    wrong, sentences, tried = [], set(), 0
    for files in range(4, 12):
        failed, said = serve(["prlimit", f"--nofile={files}"], f"{files} files", [0, errno.EMFILE])
        tried += 1
        wrong += [f"{files} files: {text}" for text in failed]
        sentences.add(said)
    table.add("few descriptors (RLIMIT_NOFILE of 4 to 11)", tried, "the host goes on", wrong, f"{seed}",
              "it says: " + "; ".join(sorted(filter(None, sentences))))
