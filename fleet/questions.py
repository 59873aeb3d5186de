"""The questions: which SQL answers each, what its columns are called, and the answer in one line."""

import os
import re

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sql")


class Column:
    """A column of an answer: its name in JSON, its heading, and how its values are written."""

    def __init__(self, name, heading, kind="text"):
        self.name = name
        self.heading = heading
        self.kind = kind

    @property
    def is_number(self):
        return self.kind in ("number", "bytes", "change")


class Question:
    def __init__(self, name, help, columns):
        self.name = name
        self.help = help
        self.columns = columns


_ID = Column("fingerprint", "id", "id")
_KIND = Column("kind", "kind")
_TYPE = Column("type", "type", "code")
_RUNS = Column("runs", "runs", "number")
_HOSTS = Column("hosts", "hosts", "number")
_CUT = Column("cut", "cut", "code")
_PLACE = Column("place", "at")

QUESTIONS = {
    question.name: question
    for question in [
        Question(
            "new",
            "what was found since a commit or a day and never before",
            [
                _ID, _KIND, _TYPE, Column("firstSeen", "first seen"), Column("firstCommit", "in", "commit"), _RUNS, _HOSTS,
                Column("retainedBytes", "retains", "bytes"), _CUT, _PLACE,
            ],
        ),
        Question(
            "growing",
            "what grows within a run, or from the first run of a test to the last",
            [
                _ID, _KIND, _TYPE, Column("program", "program"), Column("test", "test"), _RUNS,
                Column("growingRuns", "growing in", "number"), Column("growth", "growth", "change"),
                Column("growthBytes", "by", "bytes"), Column("firstCount", "count first", "number"),
                Column("lastCount", "last", "number"), _PLACE,
            ],
        ),
        Question(
            "hosts",
            "on how many hosts each finding was found",
            [_ID, _KIND, _TYPE, _HOSTS, Column("allHosts", "of", "number"), _RUNS, Column("lastSeen", "last seen")],
        ),
        Question(
            "seen",
            "when each finding was seen first and last, and whether it is gone",
            [
                _ID, _KIND, _TYPE, Column("state", "state", "state"), Column("firstSeen", "first seen"),
                Column("firstCommit", "in", "commit"), Column("lastSeen", "last seen"), Column("lastCommit", "in", "commit"),
                _RUNS, Column("runsWithout", "runs without since", "number"),
            ],
        ),
        Question(
            "top",
            "what retains most",
            [
                _ID, _KIND, _TYPE, Column("retainedBytes", "retains", "bytes"), Column("lastRetainedBytes", "last", "bytes"),
                Column("lastCount", "count", "number"), _RUNS, _HOSTS, Column("lastSeen", "last seen"), _CUT,
                Column("advice", "advice"), _PLACE,
            ],
        ),
    ]
}

# What the SQL takes; every engine has them as the one row of a table.
PARAMETERS = ["since_commit", "since_start", "wanted_program", "wanted_test"]


def sql(name):
    """The text of a file of SQL."""
    with open(os.path.join(_FOLDER, name + ".sql"), encoding="utf-8") as file:
        return file.read()


def prepare(engine):
    """Makes the views that all questions are asked of."""
    text = re.sub(r"^--.*$", "", sql("views"), flags=re.MULTILINE)
    for statement in text.split(";"):
        if statement.strip():
            engine.run(statement)


def ask(engine, name):
    """The rows that answer a question."""
    return engine.run(sql(name))


def totals(engine):
    """What there is, by name."""
    names = ["runs", "cleanRuns", "incompleteRuns", "hosts", "firstTime", "lastTime", "fingerprints"]
    row = engine.run(sql("totals"))[0]
    return {name: 0 if value is None else value if isinstance(value, str) else int(value) for name, value in zip(names, row)}


def answer(name, rows, totals, since=""):
    """The answer in one line."""
    everything = f"{count(totals['runs'], 'run')}, {count(totals['hosts'], 'host')}"
    if name == "new":
        return f"{count(len(rows), 'new finding')} since {since}, of {count(totals['fingerprints'], 'finding')} in {everything}"
    if name == "growing":
        fingerprints = {row[0] for row in rows}
        tests = {(row[3], row[4]) for row in rows}
        if not rows:
            return f"Nothing grows, in {everything}"
        return f"{count(len(fingerprints), 'finding')} {'grows' if len(fingerprints) == 1 else 'grow'} in {count(len(tests), 'test')}, of {everything}"
    if name == "hosts":
        if not rows:
            return f"No findings in {everything}"
        wide = sum(1 for row in rows if row[3] > 1)
        return f"{count(len(rows), 'finding')} in {everything}; {number(wide)} on more than one host"
    if name == "seen":
        gone = sum(1 for row in rows if row[3] == "gone")
        return f"{count(len(rows), 'finding')} in {everything}: {number(len(rows) - gone)} there, {number(gone)} gone"
    if not rows:
        return f"No findings in {everything}"
    return f"{count(len(rows), 'finding')} in {everything}; most retains {rows[0][2]}, {size(rows[0][3])}"


# Values as the reports write them.


def number(value):
    return f"{value:,}"


def count(value, noun):
    return f"{number(value)} {noun}{'' if value == 1 else 's'}"


def size(value):
    """Bytes with their unit, as `memgraph` writes them: a KB has 1,024."""
    sign = "-" if value < 0 else ""
    value = abs(value)
    if value < 1024:
        return f"{sign}{value} byte{'' if value == 1 else 's'}"
    unit = 1024
    for name in ["KB", "MB", "GB", "TB", "PB", "EB"]:
        tenths = value // unit * 10 + (value % unit * 10 + unit // 2) // unit
        if tenths < 1000:
            return f"{sign}{tenths // 10}.{tenths % 10} {name}"
        whole = value // unit + (1 if value % unit >= unit // 2 else 0)
        if whole < 1024 or name == "EB":
            return f"{sign}{whole} {name}"
        unit *= 1024
    return f"{sign}{value} bytes"


def written(value, kind):
    """A value for people."""
    if value is None:
        return ""
    if kind == "number":
        return number(value)
    if kind == "change":
        return ("+" if value > 0 else "") + number(value)
    if kind == "bytes":
        return size(value)
    if kind == "commit":
        return value[:12]
    return str(value)


# How much of a name a table of text shows; JSON and the page have it whole.
LONGEST_NAME = 60


def shortened(text):
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
