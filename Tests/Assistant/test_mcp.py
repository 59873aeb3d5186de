"""`memgraph mcp` as the protocol's public Python client sees it, in each of the protocol's ways to begin.

MEMGRAPH names the tool and MARKS the folder of a recording of the sample VideoCall, `--variant closure`.
"""

import asyncio
import json
import os
import subprocess
import unittest

import mcp
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

TOOL = os.environ["MEMGRAPH"]
MARKS = os.environ["MARKS"]

TOOLS = ["snapshots", "summary", "findings", "finding", "paths", "object", "whatif", "diff", "types"]


def client(mode):
    return Client(StdioServerParameters(command=TOOL, args=["mcp", MARKS]), mode=mode)


def verb(*words):
    """What the tool itself says, as JSON."""
    result = subprocess.run([TOOL, *words, "--format", "json"], capture_output=True, text=True, check=False)
    assert result.returncode in (0, 1), result.stderr
    return json.loads(result.stdout)


class ClientTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        # Else each slow answer is a warning.
        asyncio.get_running_loop().set_debug(False)

    async def call(self, server, tool, **arguments):
        result = await server.call_tool(tool, arguments)
        self.assertFalse(result.is_error, result.content)
        # The text is the same value, for clients that know nothing else.
        self.assertEqual(json.loads(result.content[0].text), result.structured_content)
        self.assertLess(len(result.content[0].text), 14_000)
        return result.structured_content

    async def session(self, mode, version):
        async with client(mode) as server:
            self.assertEqual(server.protocol_version, version)
            if mode != version:  # Who names the version has asked nothing yet.
                self.assertEqual(server.server_info.name, "memgraph")
                self.assertIn("findings", server.instructions)
            listed = await server.list_tools()
            self.assertEqual([tool.name for tool in listed.tools], TOOLS)
            self.assertTrue(all(tool.annotations.read_only_hint for tool in listed.tools))

            snapshots = await self.call(server, "snapshots")
            names = [snapshot["name"] for snapshot in snapshots["snapshots"]]
            self.assertEqual(names, ["call-1", "call-2", "call-3", "call-4", "call-5", "exit"])

            # What the tool says of the known leak is said here, too: who holds it, and the edge to cut.
            report = verb("leaks", f"{MARKS}/call-5.mgraph")
            found = await self.call(server, "findings", snapshot="call-5")
            self.assertEqual([f["id"] for f in found["findings"]], [f["fingerprint"] for f in report["findings"]])
            brief = found["findings"][0]
            self.assertEqual((brief["type"], brief["count"]), ("VideoCall.CallViewController", 5))
            self.assertTrue(brief["edge"].startswith("VideoCall.SignalingClient.onConnectionChange"), brief["edge"])
            self.assertIn("[weak self]", brief["advice"])
            whole = await self.call(server, "finding", snapshot="call-5", id=brief["id"])
            self.assertEqual(whole["findings"], report["findings"][:1])
            steps = [(step["type"], step["field"]) for step in whole["findings"][0]["cycle"]]
            self.assertIn(("VideoCall.CallViewController", "client"), steps)

            # Would the cut be enough?
            freed = await self.call(server, "whatif", snapshot="call-5", weaken=[brief["edge"]])
            self.assertEqual(freed["freed"]["count"], whole["findings"][0]["cut"]["frees"]["count"])
            self.assertEqual(freed["stillLeaked"]["count"], 0)

            address = whole["findings"][0]["addresses"][0]
            one = await self.call(server, "object", snapshot="call-5", address=address)
            self.assertEqual((one["type"], one["reachable"]), ("VideoCall.CallViewController", False))
            self.assertTrue(one["retainers"])

            change = await self.call(server, "diff", **{"from": "call-1", "to": "call-5"})
            row = next(row for row in change["changes"] if row["type"] == "VideoCall.CallViewController")
            self.assertEqual(row["net"], 4)

            # All types, a page at a time.
            types, offset = [], 0
            while offset is not None:
                page = await self.call(server, "types", snapshot="call-5", offset=offset, limit=50)
                types += [(row["type"], row["count"]) for row in page["types"]]
                offset = page["page"].get("next")
            expected = verb("summary", f"{MARKS}/call-5.mgraph")["types"]["byType"]
            self.assertEqual(dict(types), {name: cost["count"] for name, cost in expected.items()})
            self.assertEqual(len(types), len(expected))

            paths = await self.call(server, "paths", snapshot="call-5", of=types[0][0])
            self.assertIn("paths", paths)
            summary = await self.call(server, "summary", snapshot="exit")
            self.assertEqual(summary["leaked"]["count"], verb("leaks", f"{MARKS}/exit.mgraph")["totals"]["leaked"]["count"])

            # What is wrong with a call is an answer that an assistant can read.
            wrong = await server.call_tool("findings", {"snapshot": "/etc/passwd"})
            self.assertTrue(wrong.is_error)
            self.assertIn("no such snapshot here; there are call-1", wrong.content[0].text)
            with self.assertRaises(mcp.MCPError) as caught:
                await server.call_tool("finding2", {})
            self.assertEqual(caught.exception.error.code, -32602)

    async def test_handshake(self):
        await self.session("legacy", "2025-11-25")

    async def test_stateless(self):
        await self.session("2026-07-28", "2026-07-28")

    async def test_client_finds_out(self):
        await self.session("auto", "2026-07-28")


class ProcessTest(unittest.TestCase):
    def test_it_ends_with_its_input_and_writes_nothing_else(self):
        result = subprocess.run([TOOL, "mcp", MARKS], input="", capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_half_a_message(self):
        half = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fin'
        result = subprocess.run([TOOL, "mcp", MARKS], input=half, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(json.loads(result.stdout)["error"]["code"], -32700)

    def test_a_client_that_goes_away(self):
        server = subprocess.Popen([TOOL, "mcp", MARKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        server.stdout.close()
        for number in range(20):
            server.stdin.write(b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}\n' % number)
        server.stdin.close()
        self.assertEqual((server.wait(timeout=60), server.stderr.read()), (0, b""))
        server.stderr.close()


if __name__ == "__main__":
    unittest.main()
