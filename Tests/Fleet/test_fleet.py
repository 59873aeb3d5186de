"""Tests of scripts/fleet: its answers against an oracle on made-up records, damaged ones among them; its page; bad input.

FLEET_FILES says how many records to make; FLEET_ENGINES which engines answer (duckdb,spark). Both must give the same.
"""

import contextlib
import copy
import glob
import html.parser
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path[:0] = [os.path.join(ROOT, "fleet"), HERE]

import engines
import generate
import main
import page
import questions
import records
from oracle import Oracle

FILES = int(os.environ.get("FLEET_FILES", "1000"))
ENGINES = os.environ.get("FLEET_ENGINES", "duckdb").split(",")


def call(*words):
    """Runs the command; its status, output and errors."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = main.main(list(words))
        except SystemExit as end:
            status = end.code
    return status, output.getvalue(), errors.getvalue()


class Made(unittest.TestCase):
    """Records that were made for all tests."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="fleet-test-")
        cls.truth = generate.generate(cls.folder, FILES)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)


class AnswersTest(Made):
    """What the engines say is what the oracle says."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.engines = {}
        for name in ENGINES:
            start = time.monotonic()
            engine = engines.Spark() if name == "spark" else engines.DuckDB()
            ready = time.monotonic()
            cls.lines = engine.load(cls.folder)
            print(
                f"{name}: ready after {ready - start:.1f} s, {FILES:,} records with {cls.lines:,} lines read in "
                f"{time.monotonic() - ready:.1f} s", file=sys.stderr,
            )
            cls.engines[name] = engine

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        for engine in cls.engines.values():
            engine.close()

    def answers(self, engine, **parameters):
        """The answers to all questions, as JSON has them, with what there is and what was skipped."""
        start = time.monotonic()
        engine.set({name: "" for name in questions.PARAMETERS} | parameters)
        questions.prepare(engine)
        result = {"totals": questions.totals(engine), "damaged": questions.ask(engine, "damaged")}
        for name, question in questions.QUESTIONS.items():
            columns = [column.name for column in question.columns]
            result[name] = [dict(zip(columns, row)) for row in questions.ask(engine, name)]
        print(f"{engine.name}: all questions in {time.monotonic() - start:.1f} s", file=sys.stderr)
        return result

    def check(self, oracle, expected_new, **parameters):
        first = None
        for name, engine in self.engines.items():
            found = self.answers(engine, **parameters)
            first = first or found
            self.assertEqual(found, first, f"{name} and {ENGINES[0]} differ")
        self.assertEqual(first["totals"], oracle.totals())
        self.assertEqual(first["new"], expected_new)
        for name in ["growing", "hosts", "seen", "top"]:
            rows = getattr(oracle, name)()
            for number, (found, expected) in enumerate(zip(first[name], rows)):
                self.assertEqual(found, expected, f"{name}, row {number}")
            self.assertEqual(len(first[name]), len(rows), name)
        return first

    def test_everything(self):
        oracle = Oracle(self.truth.lines)
        # Since the beginning all is new.
        found = self.check(oracle, oracle.new())
        self.assertEqual(self.lines, self.truth.total)
        self.assertEqual([row[:2] for row in found["damaged"]], self.truth.damaged)
        # There is something to find wrong answers by.
        for name in ["growing", "hosts", "seen", "top"]:
            self.assertGreater(len(found[name]), 20)
        self.assertGreater(len({row["state"] for row in found["seen"]}), 1)
        self.assertGreater(len(found["damaged"]), FILES // 100)

    def test_new_since_a_commit(self):
        oracle = Oracle(self.truth.lines)
        for commit in [self.truth.commits[25], self.truth.commits[30][:10]]:
            expected = oracle.new(commit=commit)
            self.assertGreater(len(expected), 0)
            self.check(oracle, expected, since_commit=commit)

    def test_new_since_a_day(self):
        oracle = Oracle(self.truth.lines)
        expected = oracle.new(day="2027-02-10")
        self.assertGreater(len(expected), 3)
        self.check(oracle, expected, since_start="20270210")

    def test_a_test_and_a_program(self):
        for parameters in [{"wanted_test": "Näme/with, comma"}, {"wanted_test": "O'Hara", "wanted_program": "Server"}]:
            oracle = Oracle(self.truth.lines, test=parameters["wanted_test"], program=parameters.get("wanted_program", ""))
            self.assertGreater(oracle.totals()["runs"], 10)
            self.check(oracle, oracle.new(), **parameters)

    def test_days(self):
        lines = [line for line in self.truth.lines if "2027-01-20" <= line["time"][:10] <= "2027-02-03"]
        counts = set()
        try:
            for engine in self.engines.values():
                counts.add(engine.load(self.folder, "2027-01-20", "2027-02-03"))
            self.check(Oracle(lines), Oracle(lines).new())
        finally:
            for engine in self.engines.values():
                engine.load(self.folder)
        self.assertEqual(len(counts), 1)

    def test_nothing_that_is_asked_for(self):
        found = self.check(Oracle([]), [], wanted_test="no such test", since_commit="abc")
        self.assertEqual(found["totals"]["runs"], 0)


class CommandTest(Made):
    """The command line: text, JSON, errors and their status."""

    def test_text_and_json(self):
        for name in questions.QUESTIONS:
            since = ["--since", self.truth.commits[25][:12]] if name == "new" else []
            status, text, errors = call(name, "--in", self.folder, "--limit", "3", *since)
            self.assertEqual(status, 1 if name == "new" else 0)
            lines = text.split("\n")
            self.assertRegex(lines[0], r"^[0-9,]+ (new )?findings? ")
            self.assertEqual(len([line for line in lines if line.startswith("  ")]), 4, text)
            self.assertIn("(--limit all)", text)
            self.assertNotIn("\u202e", text)
            self.assertIn("skipped", errors)
            status, text, _ = call(name, "--in", self.folder, "--format", "json", *since)
            value = json.loads(text)
            self.assertEqual(value["schema"], "memory-graph/fleet/1")
            self.assertEqual(value["answer"], lines[0])
            self.assertEqual(value["totals"]["damagedLines"], len(self.truth.damaged))
            self.assertGreater(len(value["rows"]), 3)
            self.assertEqual(call(name, "--in", self.folder, "--format", "json", *since)[1], text, "the same bytes")

    def test_damaged_lines_are_named(self):
        status, text, errors = call("damaged", "--in", self.folder, "--format", "json")
        self.assertEqual(status, 0)
        rows = json.loads(text)["rows"]
        self.assertEqual([(row["file"], row["line"]) for row in rows], self.truth.damaged)
        self.assertTrue(all(row["problem"] for row in rows))
        _, _, errors = call("top", "--in", self.folder)
        file, line = next(entry for entry in self.truth.damaged if entry[1])
        self.assertIn(f"{file}:{line}: ", errors)

    def test_errors(self):
        with tempfile.TemporaryDirectory() as empty:
            cases = [
                (["top", "--in", empty], 3, f"fleet: {empty}: no records in it; `memgraph record SNAP... --to DIR` writes some\n"),
                (["top", "--in", empty + "/x"], 3, f"fleet: {empty}/x: no such folder; name the folder of records with --in\n"),
                (["top", "--in", __file__], 3, f"fleet: {__file__}: no folder; name the folder of records with --in\n"),
                (["new", "--in", self.folder, "--since", "fedcba9876"], 2, "no run of this commit"),
                (["new", "--in", self.folder, "--since", ""], 2, "--since: it is empty; give a commit or a day"),
                (["new", "--in", self.folder], 2, "--since"),
                (["top", "--in", self.folder, "--from", "2027"], 2, '--from: "2027" is no day; write it as 2027-03-31'),
                (["top", "--in", self.folder, "--limit", "0"], 2, '--limit: "0" is neither a number of at least 1 nor the word all'),
                (["tpo"], 2, "invalid choice"),
                ([], 2, "QUESTION"),
                (["html", "--in", self.folder, "-o", empty + "/no/page.html"], 4, "cannot write it: No such file or directory"),
            ]
            for words, status, sentence in cases:
                found, text, errors = call(*words)
                self.assertEqual((found, text), (status, ""), words)
                self.assertIn(sentence, errors)
        # A commit of which more than one begins so.
        with tempfile.TemporaryDirectory() as folder:
            for number, commit in enumerate(["abc1", "abc2"]):
                write(folder, run(number, commit=commit))
            status, _, errors = call("new", "--in", folder, "--since", "abc")
            self.assertEqual((status, errors), (2, "fleet: --since abc: 2 commits begin so: abc1, abc2; give more of it\n"))
            status, text, errors = call("new", "--in", folder, "--since", "abc1")
            self.assertEqual((status, errors), (0, ""))
            self.assertTrue(text.startswith("0 new findings since abc1 (2027-03-01T00:00:00Z), "), text)

    def test_help(self):
        status, text, _ = call("--help")
        self.assertEqual(status, 0)
        for name in [*questions.QUESTIONS, "html", "damaged"]:
            self.assertIn(name, text)
            self.assertEqual(call(name, "--help")[0], 0)

    def test_nothing_is_installed_for_help_and_bad_usage(self):
        """The script tells help, and what is wrong with its arguments, where there is neither an engine nor a way to get one."""
        cases = [
            (["--help"], 0, "usage: scripts/fleet"),
            (["new", "-h"], 0, "usage: scripts/fleet new"),
            (["--engine", "spark", "seen", "--help"], 0, "usage: scripts/fleet seen"),
            ([], 2, "fleet: the following arguments are required: QUESTION"),
            (["topp"], 2, "invalid choice: 'topp'"),
            (["top", "--limit", "none"], 2, "neither a number of at least 1 nor the word all"),
            (["top", "--in", "/not/there"], 3, "fleet: /not/there: no such folder"),
        ]
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "environment")
            for words, status, sentence in cases:
                answer = subprocess.run(
                    [os.path.join(ROOT, "scripts", "fleet"), *words], check=False, capture_output=True, text=True,
                    env=os.environ | {"FLEET_ENVIRONMENT": place, "PIP_NO_INDEX": "1"})
                self.assertEqual(answer.returncode, status, (words, answer.stderr))
                self.assertIn(sentence, answer.stdout + answer.stderr)
                self.assertEqual(os.listdir(folder), [], words)


def run(number, commit="c0ffee", findings=(), **facts):
    """The lines of a small run."""
    time_text = f"2027-03-{number + 1:02}T00:00:00Z"
    common = {
        "schema": "memory-graph/record/1", "line": "run", "run": f"202703{number + 1:02}T000000Z-{number:012x}", "time": time_text,
        "commit": commit, "tool": "0.1.0",
    } | facts
    first = common | {
        "marks": 1, "findings": len(findings), "liveObjects": 1, "liveBytes": 1, "leakedObjects": 0, "leakedBytes": 0,
    }
    return [first] + [
        common | {"line": "finding", "fingerprint": "0123456789ab", "kind": "leak", "type": "A", "count": 1, "bytes": 1, "retainedBytes": 1}
        | finding
        for finding in findings
    ]


def write(folder, lines):
    day = f"{folder}/date={lines[0]['time'][:10]}"
    os.makedirs(day, exist_ok=True)
    with open(f"{day}/{lines[0]['run']}.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


class LinesTest(unittest.TestCase):
    """Which lines are whole: as the schema has it, and as memgraph writes them."""

    def test_what_memgraph_writes_is_whole(self):
        paths = glob.glob(os.path.join(ROOT, "Tests/CommandsTests/Goldens/record*.jsonl"))
        self.assertGreaterEqual(len(paths), 4)
        for path in paths:
            with open(path, "rb") as file:
                rows = list(records.rows("x", file.read()))
            self.assertEqual([row[2] for row in rows], ["" for _ in rows], path)

    def test_the_schema_agrees(self):
        import jsonschema

        with open(os.path.join(ROOT, "docs/record.schema.json"), encoding="utf-8") as file:
            validator = jsonschema.Draft202012Validator(json.load(file))
        lines = []
        for path in sorted(glob.glob(os.path.join(ROOT, "Tests/CommandsTests/Goldens/record*.jsonl"))):
            with open(path, encoding="utf-8") as file:
                lines += [json.loads(line) for line in file]
        source = random.Random(7)
        values = [None, True, -1, 0, 1.5, "", "x", [], {}, "2027-03-31T14:05:00Z", "0123456789ab", "leak", "run"]
        counts = {True: 0, False: 0}
        for _ in range(2_000):
            line = copy.deepcopy(source.choice(lines))
            for _ in range(source.randrange(0, 3)):
                name = source.choice([*line, "other"])
                if source.random() < 0.4:
                    line.pop(name, None)
                else:
                    line[name] = source.choice(values)
            is_valid = validator.is_valid(line)
            # The one thing that the schema can't say.
            is_named = str(line.get("run"))[:16] == str(line.get("time")).replace("-", "").replace(":", "")
            try:
                records.judge(json.dumps(line).encode())
                is_whole = True
            except records.Problem:
                is_whole = False
            self.assertEqual(is_whole, is_valid and is_named, line)
            counts[is_whole] += 1
        self.assertGreater(min(counts.values()), 250)

    def test_any_damage_is_a_problem_or_none(self):
        line = json.dumps(run(0, findings=[{}])[1]).encode()
        source = random.Random(9)
        for _ in range(6_000):
            data = bytearray(line)
            for _ in range(source.randrange(1, 4)):
                place = source.randrange(0, max(1, len(data)))
                match source.randrange(4):
                    case 0:
                        data[place : place + 1] = bytes([source.randrange(256)])
                    case 1:
                        del data[place:]
                    case 2:
                        del data[place : place + source.randrange(1, 9)]
                    case _:
                        data[place:place] = data[: source.randrange(1, 20)]
            for row in records.rows("x", bytes(data)):
                self.assertEqual(len(row), len(records.COLUMNS))
                if row[2]:
                    self.assertEqual(set(row[3:]), {"", None})

    def test_states_of_findings(self):
        with tempfile.TemporaryDirectory() as folder:
            leak = {"type": "Leak"}
            write(folder, run(0, findings=[leak], test="A"))
            write(folder, run(1, findings=[], test="B"))
            _, text, _ = call("seen", "--in", folder, "--format", "json")
            self.assertEqual(json.loads(text)["rows"][0]["state"], "there", "another test says nothing of it")
            write(folder, run(2, findings=[], test="A"))
            _, text, _ = call("seen", "--in", folder, "--format", "json")
            row = json.loads(text)["rows"][0]
            self.assertEqual((row["state"], row["runsWithout"]), ("gone", 1))
            self.assertEqual(json.loads(text)["totals"]["cleanRuns"], 2)


class Reader(html.parser.HTMLParser):
    """What a page has in it, for those who have no scripts."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags = []
        self.open = []
        self.text = ""
        self.attributes = []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


class PageTest(Made):
    def test_page(self):
        path = self.folder + "/page.html"
        commit = self.truth.commits[25]
        status, text, _ = call("html", "--in", self.folder, "--since", commit, "-o", path)
        self.assertEqual((status, text), (0, ""))
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(call("html", "--in", self.folder, "--since", commit)[1], text, "the same bytes")
        reader = Reader()
        reader.feed(text)
        self.assertEqual(reader.open, [])
        # Nothing runs, nothing is fetched.
        self.assertFalse({"script", "img", "iframe", "object", "form"} & set(reader.tags))
        for name, value in reader.attributes:
            self.assertFalse(name.startswith("on") or name in ("src", "style", "srcset"), name)
            if name == "href":
                self.assertEqual(value, "data:,")
        self.assertNotIn("url(", text)
        self.assertNotIn("@import", text)
        self.assertIn("default-src 'none'", text)
        oracle = Oracle(self.truth.lines)
        shown = " ".join(reader.text.split())
        for row in oracle.top()[:50]:
            self.assertIn(row["fingerprint"], shown)
            self.assertIn(" ".join(row["type"].split()), shown)
        for row in oracle.new(commit=commit)[:100]:
            self.assertIn(row["fingerprint"], shown)
        self.assertIn(self.truth.damaged[1][0], shown)
        self.assertIn("<script>alert(1)</script>", reader.text)
        self.assertNotIn("<script", text)

    def test_text_is_escaped(self):
        self.assertEqual(page.escaped("<a href=\"x\" b='y'>&\x00\x1b\n"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;\ufffd\ufffd\n")

    def test_a_clean_fleet(self):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, run(0))
            _, text, _ = call("html", "--in", folder)
            self.assertIn("<h1>0 findings in 1 run, 0 hosts: 0 there, 0 gone</h1>", text)
            self.assertIn("Nothing was found.", text)
            self.assertNotIn('id="damaged"', text)


if __name__ == "__main__":
    unittest.main()
