"""Pictures in Graphviz; collapsed stacks."""

import subprocess
import xml.etree.ElementTree

from exports import ExportTest, export, memgraph, rows

SVG = "{http://www.w3.org/2000/svg}"


def drawn(path):
    """The boxes and arrows of a picture as Graphviz draws it."""
    call = subprocess.run(["dot", "-Tsvg", path], capture_output=True, text=True, check=True)
    found = {"node": [], "edge": []}
    for group in xml.etree.ElementTree.fromstring(call.stdout).iter(SVG + "g"):
        if group.get("class") in found:
            found[group.get("class")].append("".join(text.text for text in group.iter(SVG + "text")))
    return found


class DotTest(ExportTest):
    def test_finding(self):
        """The worst cycle, its arrow to cut marked."""
        found = drawn(export("worst.dot", "call-5.mgraph"))
        self.assertIn("VideoCall.VideoTrack", found["node"])
        self.assertEqual(len(found["node"]), len(found["edge"]), "a cycle")
        self.assertEqual(sum(text.startswith("cut: ") for text in found["edge"]), 1)

    def test_path(self):
        """The way to an object begins at a root and ends there."""
        found = drawn(export("way.dot", "call-5.mgraph", "--path", "VideoCall.CallViewController"))
        self.assertEqual(found["node"][-1], "VideoCall.CallViewController")
        self.assertEqual(len(found["edge"]), len(found["node"]) - 1)


class CollapsedTest(ExportTest):
    def test_sums(self):
        for kind in ("stack", "path"):
            for value, column in (("bytes", "sum(bytes)"), ("objects", "count(*)")):
                path = export(f"{kind}-{value}.collapsed", "call-5.mgraph", "--by", kind, "--value", value)
                lines = path.read_text().splitlines()
                stacks = [line.rpartition(" ") for line in lines]
                self.assertEqual(len({stack for stack, _, _ in stacks}), len(stacks), "each stack is one line")
                wanted = rows(f"SELECT {column} FROM objects WHERE is_alive AND snapshot_id = 2")[0][0]
                self.assertEqual(sum(int(amount) for _, _, amount in stacks), wanted)

    def test_a_stack(self):
        path = export("stack-bytes.collapsed", "call-5.mgraph", "--by", "stack", "--value", "bytes")
        lines = [line for line in path.read_text().splitlines() if "VideoCall.holdConsultation(_:);" in line]
        self.assertTrue(all(line.startswith("__libc_start_call_main;VideoCall_main;") for line in lines))
        self.assertGreater(len(lines), 10)


class MermaidTest(ExportTest):
    def test_is_the_picture_of_reports(self):
        """Markdown reports have the same picture, and those are held against Mermaid's own parser by test-exchange."""
        found = export("worst.mmd", "call-5.mgraph").read_text()
        report = memgraph("leaks", "call-5.mgraph", "--format", "markdown").stdout
        self.assertIn(found, report)
