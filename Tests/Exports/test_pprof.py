"""Profiles in Go's own pprof: sums, stacks, labels, differences."""

import gzip
import pathlib
import re
import subprocess
import tempfile

from exports import ExportTest, export, rows


def pprof(*words):
    """What `go tool pprof` prints."""
    # It needs a folder for what it fetches, though it fetches nothing.
    with tempfile.TemporaryDirectory() as folder:
        call = subprocess.run(
            ["go", "tool", "pprof", *map(str, words)], capture_output=True, text=True, check=False,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "PPROF_TMPDIR": folder})
    if call.returncode:
        raise AssertionError(call.stderr)
    return call.stdout


def samples(*words):
    """The samples of a profile: the functions innermost first, the values and the labels of each."""
    text = pprof("-raw", *words)
    locations = {}
    for number, functions in re.findall(r"^ +(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*)$", text.split("Locations\n")[1], re.M):
        locations[number] = re.sub(r" \S*:\d+(:\d+)? s=\d+(\(\S*\))?$", "", functions)
    found = []
    for line in text.split("Samples:\n")[1].split("Locations\n")[0].splitlines()[1:]:
        if match := re.match(r" +(-?\d+) +(-?\d+): ([\d ]*)$", line):
            found.append(([locations[place] for place in match[3].split()], int(match[1]), int(match[2]), {}))
        elif found:
            found[-1][3].update(re.findall(r"([\w:]+):\[(.*?)\](?= [\w:]+:\[|$)", line))
    return found


LIVE = "FROM object_list WHERE snapshot_id = 2 AND is_alive"


class PprofTest(ExportTest):
    @classmethod
    def setUpClass(cls):
        cls.path = export("call-5.pb.gz", "call-5.mgraph")
        cls.samples = samples(cls.path)

    def test_sums(self):
        """All that is alive, and nothing else, is in the samples."""
        count, size = rows("SELECT count(*), sum(bytes) " + LIVE)[0]
        self.assertEqual(sum(sample[1] for sample in self.samples), count)
        self.assertEqual(sum(sample[2] for sample in self.samples), size)

    def test_types(self):
        """Labels sum up to the types."""
        found = {}
        for _, count, size, labels in self.samples:
            before = found.get(labels["type"], (0, 0))
            found[labels["type"]] = (before[0] + count, before[1] + size)
        wanted = {name: (count, size) for name, count, size in rows(
            "SELECT type, count(*), sum(bytes) " + LIVE + " GROUP BY type")}
        self.assertEqual(found, wanted)
        leaked = sum(sample[1] for sample in self.samples if sample[3].get("leaked") == "true")
        self.assertEqual(leaked, rows("SELECT count(*) " + LIVE + " AND is_leaked")[0][0])

    def test_generations(self):
        found = {labels["generation"] for _, _, _, labels in self.samples}
        self.assertEqual(found, {f"call-{number}" for number in range(1, 6)})

    def test_bytes_under_a_stack(self):
        """What pprof sums up below a function is what the database has there."""
        query = """
            WITH RECURSIVE below (call) AS (
              SELECT stacks.id FROM stacks JOIN frames ON frames.id = frame_id WHERE function = ?
              UNION SELECT stacks.id FROM below JOIN stacks ON caller_id = call)
            SELECT count(*), sum(bytes) FROM objects WHERE snapshot_id = 2 AND is_alive
            AND stack_id IN (SELECT call FROM below)"""
        name = "VideoCall.holdConsultation(_:)"
        wanted = rows(query, name)[0]
        self.assertGreater(wanted[0], 100)
        for index, value in (("inuse_objects", wanted[0]), ("inuse_space", wanted[1])):
            top = pprof("-top", "-cum", "-unit=B", "-nodefraction=0", f"-sample_index={index}", self.path)
            line = next(line for line in top.splitlines() if line.endswith("  " + name))
            self.assertEqual(line.split()[3].removesuffix("B"), str(value))

    def test_difference(self):
        """-diff_base understands two marks, and one profile of both says the same."""
        first = export("call-1.pb.gz", "call-1.mgraph")
        both = export("grown.pb.gz", "call-1.mgraph", "call-5.mgraph")
        shared = ("-top", "-unit=B", "-nodefraction=0", "-edgefraction=0", "-sample_index=inuse_objects")
        by_pprof = pprof(*shared, "-diff_base", first, self.path)
        self.assertEqual(pprof(*shared, both), by_pprof)
        line = next(line for line in by_pprof.splitlines() if line.endswith("VideoCall.VideoTrack.init(source:)"))
        self.assertEqual(line.split()[0].removesuffix("B"), "12")

    def test_paths(self):
        """By path the stack of an object is what holds it: from the variable to the screen."""
        found = samples(export("held.pb.gz", "call-5.mgraph", "--by", "path"))
        self.assertEqual(sum(sample[1] for sample in found), sum(sample[1] for sample in self.samples))
        self.assertEqual(sum(sample[2] for sample in found), sum(sample[2] for sample in self.samples))
        screens = [sample for sample in found if sample[0][0] == "VideoCall.CallViewController"]
        self.assertEqual(sum(sample[1] for sample in screens), 5)
        for functions, _, _, labels in screens:
            self.assertEqual(labels["type"], "VideoCall.CallViewController")
            self.assertGreater(len(functions), 2)
        leaked = [sample for sample in found if sample[0][-1] == "(no root reaches it)"]
        self.assertEqual(
            sum(sample[1] for sample in leaked if sample[3].get("leaked")),
            rows("SELECT count(*) " + LIVE + " AND is_leaked")[0][0])

    def test_damage_is_refused(self):
        with gzip.open(self.path) as file:
            content = file.read()
        with tempfile.TemporaryDirectory() as folder:
            half = pathlib.Path(folder) / "half.pb.gz"
            half.write_bytes(gzip.compress(content[:len(content) // 2]))
            with self.assertRaises(AssertionError):
                pprof("-top", half)
