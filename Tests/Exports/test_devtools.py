"""Heap snapshots in Chrome's developer tools: loaded by the front end that Chromium serves, and asked what it shows."""

import collections
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from playwright.sync_api import sync_playwright

from exports import MARKS, ExportTest, export, rows

SCRIPT = pathlib.Path(__file__).with_name("devtools.js").read_text()

# The distance from which on the panel shows a dash: no object of the program leads there.
SYSTEM = 100_000_000


def port(folder, process):
    """The port that a browser has chosen, which it writes down when it listens."""
    path = pathlib.Path(folder) / "DevToolsActivePort"
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if path.exists() and path.read_text().count("\n") > 0:
            return int(path.read_text().split()[0])
        time.sleep(0.05)
    raise AssertionError("Chromium doesn't listen")


def ask(*paths):
    """What the developer tools say of some snapshots."""
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [browser, "--headless=new", "--no-sandbox", "--remote-debugging-port=0",
             f"--user-data-dir={folder}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            place = f"http://127.0.0.1:{port(folder, process)}"
            with sync_playwright() as playwright:
                page = playwright.chromium.connect_over_cdp(place).contexts[0].new_page()
                page.goto(place + "/devtools/inspector.html?ws=none")
                return page.evaluate(SCRIPT, [path.read_text() for path in paths])
        finally:
            process.terminate()
            process.wait()


class DevToolsTest(ExportTest):
    @classmethod
    def setUpClass(cls):
        paths = [export(f"{mark}.heapsnapshot", f"{mark}.mgraph") for mark in ("call-1", "call-5")]
        cls.answer = ask(*paths)
        cls.nodes = cls.answer["nodes"]
        count = rows("SELECT count(*) FROM objects WHERE snapshot_id = 2")[0][0]
        cls.objects = cls.nodes[len(cls.nodes) - count:]

    def named(self, name):
        return [node for node in self.objects if node["className"] == name]

    def test_every_object(self):
        """Names, own and retained sizes of every object are those of the analysis."""
        wanted = rows(
            "SELECT type, bytes, retained_bytes, kind FROM object_list WHERE snapshot_id = 2 ORDER BY id")
        self.assertGreater(len(wanted), 300)
        self.assertEqual(
            [(node["name"], node["self"], node["retained"]) for node in self.objects],
            [(name, own, retained) for name, own, retained, _ in wanted])
        for node, row in zip(self.objects, wanted):
            self.assertEqual(node["type"] == "closure", row[3] == "closureContext")

    def test_retainers(self):
        """Who retains the screens, by which field: what `memgraph object` lists."""
        screens = self.named("VideoCall.CallViewController")
        self.assertEqual(len(screens), 5)
        found = collections.Counter(
            (holder, field) for screen in screens for holder, field, kind, _ in screen["retainers"]
            if kind != "weak")
        wanted = collections.Counter(rows(
            "SELECT holder, field FROM retainers JOIN object_list ON object_list.id = object_id "
            "WHERE type = 'VideoCall.CallViewController' AND snapshot_id = 2 AND holds "
            "AND holder_id IS NOT NULL"))
        self.assertEqual(
            {(holder, field.split(" (")[0]): count for (holder, field), count in found.items()
             if not holder.startswith("(")},
            dict(wanted))
        self.assertIn(("VideoCall.SignalingClient", "onConnectionChange"), wanted)

    def test_weak_references(self):
        """Weak references are of that type, and nothing else is."""
        found = sum(edge[2] == "weak" for node in self.objects for edge in node["retainers"])
        wanted = rows(
            "SELECT count(*) FROM edges JOIN fields ON fields.id = field_id JOIN objects ON objects.id = source_id "
            "WHERE snapshot_id = 2 AND NOT holds")[0][0]
        self.assertEqual(found, wanted)

    def test_leaked_objects_are_far(self):
        """What no root reaches has no distance; what one reaches has."""
        leaked = [row[0] for row in rows("SELECT is_reachable FROM objects WHERE snapshot_id = 2 ORDER BY id")]
        for node, is_reachable in zip(self.objects, leaked):
            if not is_reachable:
                self.assertGreater(node["distance"], SYSTEM, node["name"])
        reached = sum(node["distance"] < SYSTEM for node in self.objects)
        self.assertGreater(reached, 200)

    def test_comparison(self):
        """The Comparison of two marks counts what was born and what died between them, by class."""
        # libdispatch keeps ended continuations to use them again, and such a block is of another class then.
        identities = ("SELECT type, sum(snapshot_id = 2), sum(snapshot_id = 1) FROM object_list o "
                      "WHERE bytes > 0 AND NOT EXISTS (SELECT 1 FROM object_list other WHERE other.identity = o.identity "
                      "AND other.type = o.type AND other.snapshot_id <> o.snapshot_id) GROUP BY type")
        wanted = {"Function" if name.startswith("closure #") else name: (added, removed)
                  for name, added, removed in rows(identities)}
        found = {name: tuple(counts) for name, counts in self.answer["classes"].items()
                 if any(counts) and not name.startswith("(")}
        closures = rows(
            "SELECT sum(snapshot_id = 2), sum(snapshot_id = 1) FROM object_list o WHERE kind = 'closureContext' "
            "AND NOT EXISTS (SELECT 1 FROM objects other WHERE other.identity = o.identity "
            "AND other.snapshot_id <> o.snapshot_id)")[0]
        kinds = dict(rows("SELECT DISTINCT type, kind FROM object_list"))
        wanted = {name: counts for name, counts in wanted.items()
                  if kinds.get(name) != "closureContext" and name != "Function"}
        self.assertEqual(found.pop("Function"), closures)
        self.assertEqual(found, wanted)
        self.assertEqual(found["VideoCall.CallViewController"], (4, 0))

    def test_allocation_stacks(self):
        """An object's stack is there, with places in the source."""
        screen = self.named("VideoCall.CallViewController")[0]
        functions = [frame[0] for frame in screen["stack"]]
        self.assertIn("VideoCall.holdConsultation(_:)", functions)
        self.assertNotIn("malloc", functions)
        place = next(frame for frame in screen["stack"] if frame[0] == "VideoCall.holdConsultation(_:)")
        self.assertTrue(place[1].endswith("Consultation.swift"), place)
        self.assertGreater(place[2], 0)


class DamageTest(ExportTest):
    def test_half_a_file_is_refused(self):
        """The parser is no rubber stamp."""
        whole = export("call-1.heapsnapshot", "call-1.mgraph").read_text()
        half = MARKS / "half.heapsnapshot"
        half.write_text(whole[:len(whole) // 2])
        with self.assertRaises(Exception):
            ask(half)
