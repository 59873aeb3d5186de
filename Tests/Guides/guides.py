"""Runs the blocks of documents, each document in a folder of its own and a shell of its own, as a reader would."""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import blocks

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A program that never comes back is a fault of the document; nothing here takes half as long, in seconds.
LIMIT = 300
SLOW_LIMIT = 3_600
# The toolkit exits with 1 where it finds something, which is what most documents are about.
FINDS = ("memgraph", "graphdiff", "scripts/demo")


def documents():
    """The README, the guides, and the stories of the samples."""
    names = ["README.md", "CONTRIBUTING.md"]
    names += sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/guides").glob("*.md"))
    return names + sorted(str(path.relative_to(ROOT)) for path in (ROOT / "samples").glob("*/README.md"))


@dataclasses.dataclass
class Place:
    """Where a reader is: a machine, the folder of the clone, and a folder beside it for what passes between reader and shell."""

    work: pathlib.Path
    notes: pathlib.Path
    environment: dict
    # Where the machine's files are to be found from here, and the command that goes there.
    root: pathlib.Path = pathlib.Path("/")
    enter: tuple = ()

    def outside(self, path):
        """A path of that machine as it is called here."""
        return self.root / pathlib.Path(path).relative_to("/")


class Shell:
    """A shell that is given commands one by one, and says of each what it printed and its status."""

    def __init__(self, place, limit=LIMIT):
        self._notes = place.outside(place.notes)
        self._notes.mkdir()
        self._limit = limit
        self._count = 0
        reading, self._answers = os.pipe()
        self._answered = os.fdopen(reading)
        # Descriptor 9 is the way back.
        loop = 'while IFS= read -r n; do eval "$(cat "$NOTES/$n.command")" >"$NOTES/$n.output" 2>&1 </dev/null; echo $? >&9; done'
        self._process = subprocess.Popen(
            [*place.enter, "bash", "-c", f'exec 9>&{self._answers}; cd "$WORK"; ' + loop],
            env=place.environment | {"NOTES": str(place.notes), "WORK": str(place.work)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            pass_fds=[self._answers],
        )
        os.close(self._answers)

    def run(self, command):
        """The status and the lines that were printed; the status is nil where the command didn't come back."""
        self._count += 1
        name = str(self._count)
        (self._notes / f"{name}.command").write_text(command + "\n")
        limit = threading.Timer(self._limit, self._end)
        limit.start()
        try:
            self._process.stdin.write(name + "\n")
            self._process.stdin.flush()
            answer = self._answered.readline().strip()
        except BrokenPipeError:
            answer = ""
        finally:
            limit.cancel()
        output = self._notes / f"{name}.output"
        printed = output.read_text(errors="replace").split("\n") if output.exists() else []
        return (int(answer) if answer else None), printed

    def _end(self):
        """Ends the shell and whatever it has started."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def close(self):
        """Ends the shell and whatever the document left running."""
        self._process.stdin.close()
        self._end()
        self._process.wait()
        self._answered.close()


class Outcome:
    def __init__(self):
        self.ran = 0
        self.commands = 0
        self.files = 0
        # (line, reason)
        self.skipped = []
        self.failures = []


def run(text, is_slow=False):
    """Runs the blocks of a document in a folder that looks like a clone that has been built."""
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="memory-graph-guides."))
    try:
        _furnish(scratch, is_slow)
        return run_at(Place(scratch / "work", scratch / "notes", _environment(scratch)), text, is_slow)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def run_at(place, text, is_slow, tell=lambda command, status, printed: None):
    """Runs the blocks of a document until one fails: what follows would fail for the same reason. Tells of each command."""
    outcome = Outcome()
    try:
        found = blocks.blocks(text)
        plan = [(block, block.commands() if block.language == "shell" else []) for block in found]
    except blocks.Malformed as error:
        outcome.failures.append(str(error))
        return outcome
    shell = Shell(place, SLOW_LIMIT if is_slow else LIMIT)
    try:
        for block, commands in plan:
            if not _run(block, commands, shell, place, is_slow, outcome, tell):
                break
    finally:
        shell.close()
    return outcome


def _furnish(scratch, is_slow):
    """A folder that looks like a clone that has been built. Without its manifest unless something is to be built in it."""
    (scratch / "home").mkdir()
    work = scratch / "work"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        # What a reader of a document opens or runs; the rest is there where something is to be built.
        is_needed = is_slow or name.startswith(("samples/", "scripts/", "Sources/SourceLint/"))
        if not is_needed or not (ROOT / name).is_file():
            continue
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, work / name)
    (work / ".build").mkdir()
    (work / ".build/debug").symlink_to(ROOT / ".build/debug")


def _environment(scratch):
    kept = {name: os.environ[name] for name in ("USER", "TMPDIR", "SWIFT_BACKTRACE") if name in os.environ}
    return kept | {
        "HOME": str(scratch / "home"),
        "LC_ALL": "C.UTF-8",
        "PATH": f"{ROOT}/.build/debug:{os.environ['PATH']}",
    }


def _run(block, commands, shell, place, is_slow, outcome, tell):
    """Runs a block; whether the document can go on."""
    if "not run" in block.said or ("slow" in block.said and not is_slow):
        outcome.skipped.append((block.line, block.said.get("not run") or "slow: " + block.said["slow"]))
        if "instead" not in block.said:
            return True
        commands = [blocks.Command(block.said["instead"], block.line, [])]
    if "needs" in block.said and shell.run(block.said["needs"])[0] != 0:
        outcome.skipped.append((block.line, "needs " + block.said["needs"]))
        return True
    if "file" in block.said:
        # Where the reader is by now: a document may have gone into a folder.
        status, printed = shell.run("pwd")
        target = place.outside(printed[0] if status == 0 else place.work) / block.said["file"]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(block.lines) + "\n")
        outcome.files += 1
        return True
    if block.language != "shell":
        # A diagram, a piece of JSON, a listing: nothing that could be run.
        if block.language == "swift":
            outcome.failures.append(f"line {block.line}: a block of Swift of which nobody says whether it is a file or is not run")
            return False
        return True
    if "first" in block.said:
        commands = [blocks.Command(block.said["first"], block.line, [])] + commands
    for command in commands:
        status, printed = shell.run(command.text)
        tell(command.text, status, printed)
        outcome.commands += 1
        problem = _problem(command, status, printed)
        if problem:
            outcome.failures.append(f"line {command.line}: {command.text}\n{problem}")
            return False
    outcome.ran += 1
    return True


def _problem(command, status, printed):
    """What is wrong with what a command did; nil if nothing is."""
    output = "".join(f"    | {line}\n" for line in printed[:60])
    if status is None:
        return f"  it did not come back, or ended the shell\n{output}"
    if status != 0 and not (status == 1 and any(word in command.text for word in FINDS)):
        return f"  exit status {status}\n{output}"
    missing = blocks.first_missing(command.shown, printed)
    return missing and f"  not printed: {missing}\n{output}"


def main():
    arguments = argparse.ArgumentParser(prog="scripts/test-guides")
    arguments.add_argument("--slow", action="store_true", help="the blocks that build a package, too")
    arguments.add_argument("--verbose", action="store_true", help="one line a document, and what was skipped")
    arguments.add_argument("document", nargs="*", help="only these; paths from the root of the clone")
    options = arguments.parse_args()
    total, reasons, status = Outcome(), [], 0

    def timed(name):
        begin = time.monotonic()
        return run((ROOT / name).read_text(), options.slow), time.monotonic() - begin

    missing = [name for name in options.document if not (ROOT / name).is_file()]
    if missing:
        print(f"test-guides: no such document: {', '.join(missing)}; give paths from the root of the clone", file=sys.stderr)
        sys.exit(2)
    names = options.document or documents()
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        outcomes = list(pool.map(timed, names))
    for name, (outcome, seconds) in zip(names, outcomes):
        total.ran += outcome.ran
        total.commands += outcome.commands
        total.files += outcome.files
        reasons += [f"{name}:{line}: {reason}" for line, reason in outcome.skipped]
        if options.verbose:
            print(
                f"{name}: {outcome.ran} blocks, {outcome.commands} commands, {outcome.files} files, "
                f"{len(outcome.skipped)} not run, {seconds:.1f} s",
            )
        for failure in outcome.failures:
            print(f"test-guides: {name}: {failure}", file=sys.stderr)
            status = 1
    print("\n".join(f"test-guides: not run: {reason}" for reason in reasons))
    print(f"test-guides: {total.ran} blocks, {total.commands} commands, {total.files} files; {len(reasons)} blocks not run")
    sys.exit(status)


if __name__ == "__main__":
    main()
