"""Tables in SQLite's shell, in Python and in DuckDB; the queries of the documentation."""

import csv
import json
import pathlib
import re
import subprocess

import duckdb

from exports import MARKS, ExportTest, database, export, memgraph, rows

DOCUMENT = (pathlib.Path(__file__).parents[2] / "docs" / "export.md").read_text()
QUERIES = re.findall(r"```sql\n(.*?)```", DOCUMENT, re.S)


def tables(kind="table"):
    return [name for (name,) in rows("SELECT name FROM sqlite_schema WHERE type = ? ORDER BY rowid", kind)]


class SQLiteTest(ExportTest):
    def test_shell(self):
        """SQLite's own shell finds the file whole, and answers as Python does."""
        path = export("calls.sqlite", "call-1.mgraph", "call-5.mgraph")
        call = subprocess.run(
            ["sqlite3", "-csv", path, "PRAGMA integrity_check; PRAGMA foreign_key_check; SELECT count(*) FROM objects"],
            capture_output=True, text=True, check=True)
        self.assertEqual(call.stdout.split(), ["ok", str(rows("SELECT count(*) FROM objects")[0][0])])

    def test_queries_of_the_document(self):
        """Each query runs, finds something, and what it finds is what other verbs say."""
        self.assertEqual(len(QUERIES), 5)
        more, born, holders, stack, below = [rows(query) for query in QUERIES]
        self.assertIn(("VideoCall.CallViewController", 4), more)
        difference = json.loads(memgraph("diff", "call-1.mgraph", "call-5.mgraph", "--format", "json").stdout)
        self.assertIn(("VideoCall.CallViewController", 4), [row[:2] for row in born])
        self.assertEqual(sum(row[1] for row in born), difference["born"]["count"])
        self.assertEqual(sum(row[2] for row in born), difference["born"]["bytes"])
        self.assertIn(
            ("VideoCall.SignalingClient", "onConnectionChange", "strong"), [row[:3] for row in holders])
        self.assertIn("VideoCall.holdConsultation(_:)", [row[0] for row in stack])
        self.assertEqual(stack[-1][0], "__libc_start_call_main")
        self.assertEqual([row[0] for row in below], [1, 2])
        self.assertGreater(below[1][2], below[0][2])

    def test_documented(self):
        """Each table, view and column is named in the document."""
        for name in tables() + tables("view"):
            self.assertIn(f"`{name}`", DOCUMENT)
        for name in tables():
            for column in rows(f"SELECT name FROM pragma_table_info('{name}')"):
                if column[0] != "id":
                    self.assertIn(f"`{column[0]}`", DOCUMENT, name)

    def test_totals(self):
        """What is alive and leaked is what `memgraph summary` says, by type, too."""
        for number, mark in ((1, "call-1"), (2, "call-5")):
            report = json.loads(memgraph("summary", f"{mark}.mgraph", "--format", "json").stdout)
            live = report["totals"]["live"]
            row = rows("SELECT objects, bytes, leaked_objects, leaked_bytes FROM snapshots WHERE id = ?", number)
            leaked = report["totals"]["leaked"]
            self.assertEqual(row, [(live["count"], live["bytes"], leaked["count"], leaked["bytes"])])
            wanted = {name: (cost["count"], cost["bytes"]) for name, cost in live["byType"].items()}
            found = {name: (count, size) for name, count, size in rows(
                "SELECT type, objects, bytes FROM live_types WHERE snapshot_id = ?", number)}
            self.assertEqual(found, wanted)

    def test_findings(self):
        report = json.loads(memgraph("leaks", "call-5.mgraph", "--format", "json").stdout)
        found = rows("SELECT fingerprint, type, objects, retained_bytes, cut, json FROM findings "
                     "WHERE snapshot_id = 2 ORDER BY id")
        self.assertGreater(len(found), 0)
        self.assertEqual([row[:4] for row in found], [
            (finding["fingerprint"], finding["type"], finding["count"], finding["retainedBytes"])
            for finding in report["findings"]])
        self.assertEqual([json.loads(row[5]) for row in found], report["findings"])

    def test_sites_use_each_object_once(self):
        sites, alive = rows(
            "SELECT (SELECT sum(objects) FROM allocation_sites), (SELECT count(*) FROM objects WHERE is_alive)")[0]
        self.assertLessEqual(sites, alive)
        self.assertGreater(sites, alive / 2)


class CSVTest(ExportTest):
    def test_every_table(self):
        """A table as CSV has the rows of the database, and names beside the numbers."""
        for name in tables():
            with self.subTest(name):
                path = export(f"{name}.csv", "call-1.mgraph", "call-5.mgraph", "--table", name)
                with path.open(newline="") as file:
                    found = list(csv.DictReader(file))
                wanted = [dict(row) for row in database().execute(f"SELECT * FROM {name}")]
                self.assertEqual(len(found), len(wanted))
                for row, values in zip(found, wanted):
                    for column, value in values.items():
                        text = row[column]
                        if isinstance(value, int) and text.startswith("0x"):
                            text = str(int(text, 16) - (1 << 64 if int(text, 16) >> 63 else 0))
                        self.assertEqual(text, "" if value is None else str(value), (name, column))

    def test_parquet(self):
        """The way of the document: DuckDB makes Parquet of it, and loses nothing."""
        export("objects.csv", "call-1.mgraph", "call-5.mgraph", "--table", "objects")
        connection = duckdb.connect()
        for line in re.findall(r'^duckdb\.sql\("(COPY .*)"\)$', DOCUMENT, re.M):
            connection.execute(line.replace("'objects", f"'{MARKS}/objects"))
        found = connection.execute(
            f"SELECT type, count(*), sum(bytes) FROM '{MARKS}/objects.parquet' WHERE is_leaked = 1 GROUP BY type ORDER BY type"
        ).fetchall()
        self.assertEqual(found, rows(
            "SELECT type, count(*), sum(bytes) FROM object_list WHERE is_leaked GROUP BY type ORDER BY type"))
        self.assertGreater(len(found), 1)


class JSONTest(ExportTest):
    def test_every_table(self):
        path = export("calls.json", "call-1.mgraph", "call-5.mgraph")
        document = json.loads(path.read_text())
        self.assertEqual(document["schema"], "memory-graph/tables/1")
        self.assertEqual(list(document["tables"]), tables())
        for name, table in document["tables"].items():
            self.assertEqual(len(table["rows"]), rows(f"SELECT count(*) FROM {name}")[0][0], name)
            for row in table["rows"]:
                self.assertEqual(len(row), len(table["columns"]), name)
