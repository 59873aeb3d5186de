"""Heap dumps of Java in VisualVM's own heap library: what it finds is what the database says."""

import collections
import os
import pathlib
import re
import subprocess

from exports import ExportTest, export, memgraph, rows

LIBRARY = "/usr/share/visualvm/visualvm/modules/org-graalvm-visualvm-lib-jfluid-heap.jar"
READER = pathlib.Path(__file__).with_name("HeapReader.java")
SIGNS = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}

# What no object of the program is of.
JAVA = ("java.lang.", "(")


def plain(cell):
    """A field of a line as it was before signs of its own were escaped."""
    pieces = cell.split("\\")
    text, place = pieces[0], 1
    while place < len(pieces):
        # Two bars in a row are one, with nothing between them.
        if pieces[place] == "":
            text += "\\" + (pieces[place + 1] if place + 1 < len(pieces) else "")
            place += 2
        else:
            text += SIGNS[pieces[place][0]] + pieces[place][1:]
            place += 1
    return text


def ask(path, *objects):
    """What VisualVM's library says of a dump, by the first word of each line."""
    answer = subprocess.run(
        ["java", "-cp", os.environ.get("VISUALVM_HEAP", LIBRARY), READER, path, *map(str, objects)],
        capture_output=True, text=True, check=False)
    if answer.returncode:
        raise AssertionError(answer.stderr)
    lines = collections.defaultdict(list)
    for line in answer.stdout.split("\n")[:-1]:
        word, *cells = line.split("\t")
        lines[word].append([plain(cell) for cell in cells])
    return lines


class HprofTest(ExportTest):
    @classmethod
    def setUpClass(cls):
        cls.held = rows("SELECT identity FROM object_list WHERE snapshot_id = 2 AND type = 'VideoCall.CallViewController' ORDER BY id")
        cls.held = [identity for (identity,) in cls.held]
        cls.said = ask(export("call-5.hprof", "call-5.mgraph"), *cls.held)
        cls.types = {number: name.removesuffix("[]") for number, name, _ in cls.said["object"]}

    def test_classes(self):
        """Every object is there, by type; VisualVM's sizes of classes are ours where all objects of one have the same."""
        classes = {name.removesuffix("[]"): (int(count), int(size), is_array == "true")
                   for _, name, is_array, count, size in self.said["class"] if not name.startswith(JAVA)}
        wanted = {}
        for type_, count, least, most in rows(
                "SELECT type, count(*), min(bytes), max(bytes) FROM object_list WHERE snapshot_id = 2 GROUP BY type"):
            wanted[type_] = count
            if least == most and not classes[type_][2]:
                self.assertEqual(classes[type_][1], least, type_)
        self.assertEqual({name: count for name, (count, _, _) in classes.items()}, wanted)
        self.assertEqual(classes["VideoCall.CallViewController"][0], 5)

    def test_sizes_of_objects(self):
        found = {int(number): int(value) for number, name, value in self.said["number"] if name == "(bytes)"}
        wanted = dict(rows("SELECT identity, bytes FROM objects WHERE snapshot_id = 2"))
        self.assertEqual(found, {number: wanted[number] for number in found})
        self.assertGreater(len(found), len(wanted) / 2)

    def test_references(self):
        """Every reference that holds, with its field or from an array."""
        found = collections.Counter(
            (self.types[holder], re.sub(r" #\d+$", "", name), self.types[target]) for holder, name, target in self.said["field"])
        arrays = {number for number, _, _ in self.said["element"]}
        found += collections.Counter((self.types[holder], "[]", self.types[target]) for holder, _, target in self.said["element"])
        wanted = collections.Counter()
        for identity, holder, field, via, target in rows(
                "SELECT holders.identity, retainers.holder, field, via, held.type FROM retainers JOIN object_list held "
                "ON held.id = object_id JOIN objects holders ON holders.id = holder_id WHERE held.snapshot_id = 2 AND holds"):
            shown = " ".join(part for part in (field, f"({via})" if via else "") if part) or "?"
            wanted[holder, "[]" if str(identity) in arrays else shown, target] += 1
        self.assertEqual(found, wanted)
        self.assertIn(("VideoCall.PeerConnection", "delegate"), {key[:2] for key in found})

    def test_retainers(self):
        """Who retains the screens of the calls, as VisualVM tells it, is who `retainers` says."""
        self.assertEqual(len(self.held), 5)
        for held in self.held:
            found = sorted((self.types[holder], name) for number, name, holder in self.said["heldBy"] if int(number) == held)
            wanted = sorted(
                (holder, f"{field} ({via})" if via else field) for holder, field, via in rows(
                    "SELECT holder, field, via FROM retainers JOIN objects ON objects.id = object_id "
                    "WHERE identity = ? AND snapshot_id = 2 AND holds", held))
            self.assertEqual(found, wanted)
        self.assertIn(
            ("VideoCall.SignalingClient", "onConnectionChange (closure #1 in VideoCall.CallViewController.listenToClient())"), found)

    def test_ways_to_roots(self):
        """The native connections hold the screens by a global variable, which is a static field there."""
        ways = collections.defaultdict(list)
        for held, _, name, _ in self.said["way"]:
            ways[int(held)].append(name)
        for held in self.held:
            self.assertEqual(ways[held][0], "VideoCall.CallViewController")
            self.assertEqual(ways[held][-1], "java.lang.Class", "what a root holds is a static field of a class")
            self.assertEqual(ways[held][1:-1], ["VideoCall.EventReceiver", "PeerConnectionHandle", "malloc[512] in make_room"])
        self.assertIn(
            ["(global variables)", "open_connections"], [line[:2] for line in self.said["static"]])
        self.assertTrue(all(kind == "sticky class" for kind, _ in self.said["root"]))

    def test_numbers_last(self):
        """An object has the same number in each dump of its run."""
        first = ask(export("call-1.hprof", "call-1.mgraph"))
        before = {number: name.removesuffix("[]") for number, name, _ in first["object"]}
        shared = {int(number) for number in set(before) & set(self.types)}
        self.assertEqual(shared, {identity for (identity,) in rows(
            "SELECT identity FROM objects WHERE snapshot_id = 1 INTERSECT SELECT identity FROM objects WHERE snapshot_id = 2")})
        # libdispatch keeps a continuation that it has no use for, and uses it again: the same object, called after what it is now.
        def kept(types):
            return [types[str(number)].replace("libdispatch free continuation", "dispatch continuation") for number in shared]

        self.assertEqual(kept(before), kept(self.types))

    def test_what_is_lost_is_told_once(self):
        errors = memgraph("export", "call-5.mgraph", "-o", "again.hprof").stderr.splitlines()
        self.assertEqual(len(errors), len(set(errors)))
        self.assertIn("one size for all objects of a class", errors[0])

