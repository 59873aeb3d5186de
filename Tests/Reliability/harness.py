"""What all parts of scripts/reliability share: the programs, snapshots as another reader sees them, runs, the table."""

import array
import collections
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import uuid
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent


class Trouble(Exception):
    """Something that could not be tried here; the table says so."""


class Table:
    """What was tried, how often, and what was lost."""

    def __init__(self):
        self.rows = []
        self.failures = []
        self.part = ""

    def begin(self, part):
        self.part = part
        print(f"\n== {part}", flush=True)

    def add(self, what, runs, compared, failures, seeds="", note=""):
        """One line: `failures` are sentences, of which there should be none."""
        row = (self.part, what, runs, compared, len(failures), seeds, note)
        self.rows.append(row)
        self.failures += [f"{what}: {text}" for text in failures]
        verdict = "ok" if not failures else "LOST"
        print(f"{verdict:5} {what}: {runs} runs, {compared}{'; ' + note if note else ''}", flush=True)
        for text in failures[:5]:
            print(f"      {text}", flush=True)

    def skip(self, what, why):
        self.rows.append((self.part, what, 0, "not tried", 0, "", why))
        print(f"skip  {what}: {why}", flush=True)


class Snapshot:
    """A snapshot read by forty lines that share nothing with the tool: the format's own description is their source."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        if data[:8] != b"\x89MGRAPH\n":
            raise ValueError("no snapshot")
        size, count = struct.unpack_from("<QI", data, 16)
        if size != len(data):
            raise ValueError(f"{len(data)} bytes instead of {size}")
        self._data = data
        self._sections = {}
        for row in range(count):
            name, width, flags, offset, length, checksum = struct.unpack_from("<20sHHQQI", data, 64 + 48 * row)
            if zlib.crc32(data[offset : offset + length]) != checksum:
                raise ValueError(f"the checksum of {name} is wrong")
            self._sections[name.rstrip(b"\0").decode()] = (offset, length)

    def column(self, name, code):
        offset, length = self._sections[name]
        column = array.array(code)
        column.frombytes(self._data[offset : offset + length])
        return column

    def blocks_by_size(self):
        return collections.Counter(self.column("nodes.size", "I"))

    def objects_by_type(self):
        starts, texts = self.column("strings.offset", "I"), self._sections["strings.bytes"][0]
        text = lambda row: self._data[texts + starts[row] : texts + starts[row + 1]].decode("utf-8", "replace")
        names = [text(row) for row in self.column("types.name", "I")]
        return collections.Counter(names[row] for row in self.column("nodes.type", "I"))

    def contains(self, text):
        return text.encode() in self._data


class Machine:
    """The built programs and a folder for everything that is made here."""

    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.tool = self.build / "memgraph"
        self.library = self.build / "libMemoryGraphPreload.so"
        for path in (self.tool, self.library):
            if not path.exists():
                raise SystemExit(f"reliability: {path} is not there; run `swift build` first")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="memory-graph-reliability-"))
        self.folder.chmod(0o755)
        self._make_programs()

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def compile(self, *words):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"reliability: {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")

    def objects(self, *targets):
        return [path for target in targets for path in sorted((self.build / f"{target}.build").glob("*.o"))]

    def _make_programs(self):
        object_file, marker = self.folder / "stress.o", self.folder / "marker.swift"
        # One class makes a C program one that the agent takes for Swift's.
        marker.write_text("final class Marker {}\n")
        self.compile(
            "clang", "-c", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-builtin", "-pthread",
            HERE / "stress.c", "-o", object_file)
        self.stress = self.folder / "stress"
        self.compile("swiftc", "-parse-as-library", marker, object_file, "-o", self.stress)
        self.linked = self.folder / "linked"
        self.compile(
            "swiftc", "-parse-as-library", marker, object_file, "-o", self.linked,
            "-Xlinker", "--export-dynamic",
            *self.objects("CMemoryGraphHooks", "CMemoryGraphLayout"))
        # A program with the agent in it looks for its reader beside it.
        (self.folder / "memgraph").symlink_to(self.tool)
        self.tasks = self.folder / "tasks"
        self.compile("swiftc", "-Onone", "-parse-as-library", HERE / "tasks.swift", "-module-name", "tasks", "-o", self.tasks)
        self.fault = self.folder / "fault.so"
        self.compile("clang", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", HERE / "fault.c", "-o", self.fault, "-ldl")

    def new_folder(self, name="run"):
        folder = pathlib.Path(tempfile.mkdtemp(prefix=name + "-", dir=self.folder))
        folder.chmod(0o777)
        return folder


class Run:
    """A program that was run to its end, and what it left behind."""

    def __init__(self, machine, command, environment=None, seconds=120, out=None, started=None, stdin=subprocess.DEVNULL):
        self.out = out or machine.new_folder("out")
        self.temporary = machine.new_folder("tmp")
        self._token = uuid.uuid4().hex
        surroundings = {
            "PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "LC_ALL": "C.UTF-8",
            "SWIFT_BACKTRACE": "enable=no", "TMPDIR": str(self.temporary), "RELIABILITY_RUN": self._token,
        }
        surroundings.update(environment or {})
        files = machine.new_folder("io")
        with open(files / "out", "w+b") as output, open(files / "err", "w+b") as errors:
            self.process = subprocess.Popen(
                [str(word) for word in command], env=surroundings, stdin=stdin, stdout=output, stderr=errors,
                start_new_session=True)
            self.output_path = files / "out"
            if started:
                started(self)
            self.hung = False
            try:
                self.status = self.process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                self.hung = True
                for pid in self.processes():
                    os.kill(pid, signal.SIGKILL)
                self.process.kill()
                self.status = self.process.wait()
            self.output = (files / "out").read_text(errors="replace")
            self.errors = (files / "err").read_text(errors="replace")
        shutil.rmtree(files)

    def processes(self):
        """The processes of this run that are alive, by their environment."""
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if self._token.encode() in file.read() and self._state(entry) not in "ZX":
                        found.append(int(entry))
            except OSError:
                pass
        return found

    @staticmethod
    def _state(pid):
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]

    def left_behind(self):
        """What a run must not leave: processes, temporary files, files that are no snapshot."""
        left = []
        for _ in range(100):
            alive = self.processes()
            if not alive:
                break
            time.sleep(0.02)
        left += [f"process {pid} is left" for pid in alive]
        left += [f"{name} is left in the temporary folder" for name in os.listdir(self.temporary)]
        if self.out.exists():
            left += [f"{name} is left" for name in os.listdir(self.out) if not name.endswith(".mgraph")]
        for path in self.out.glob("*.mgraph"):
            try:
                Snapshot(path)
            except ValueError as error:
                left.append(f"{path.name}: {error}")
            if path.stat().st_mode & 0o777 != 0o600:
                left.append(f"{path.name} has mode {path.stat().st_mode & 0o777:o}")
        return left

    def discard(self):
        shutil.rmtree(self.out, ignore_errors=True)
        shutil.rmtree(self.temporary, ignore_errors=True)

    def compare_counts(self):
        """What the program counted against what is in its snapshots: how many numbers, and what differs."""
        wanted = collections.defaultdict(list)
        for line in self.output.splitlines():
            words = line.split()
            if words and words[0] in ("count", "range", "objects"):
                wanted[words[1]].append(words)
        compared, differences = 0, []
        for mark, lines in wanted.items():
            path = self.out / f"{mark}.mgraph"
            if not path.exists():
                differences.append(f"{mark}: there is no snapshot")
                continue
            snapshot = Snapshot(path)
            sizes = snapshot.blocks_by_size()
            types = snapshot.objects_by_type() if any(words[0] == "objects" for words in lines) else {}
            for words in lines:
                compared += 1
                if words[0] == "objects":
                    found, low, high = types[words[2]], int(words[3]), int(words[3])
                elif words[0] == "count":
                    found, low, high = sizes[int(words[2])], int(words[3]), int(words[3])
                else:
                    found, low, high = sizes[int(words[2])], int(words[3]), int(words[4])
                if not low <= found <= high:
                    differences.append(f"{mark}: {found} of {words[2]} instead of {words[3:]}")
        return compared, differences


def under_run(machine, command, out, *options):
    return [machine.tool, "run", "--out", out, *options, "--", *command]


def preloaded(machine, out):
    return {"LD_PRELOAD": str(machine.library), "MEMORY_GRAPH_OUT": str(out), "MEMORY_GRAPH_AT_EXIT": "1"}
