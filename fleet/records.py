"""The lines that `memgraph record` writes: where they lie, which are whole, and what is wrong with the others.

Both engines judge lines by this module, so that they can't differ about a damaged one. docs/fleet.md and
docs/record.schema.json say what is in a line.
"""

import json
import os
import re
import urllib.parse

# A record is small; what is larger is none.
LARGEST_FILE = 64 << 20

SCHEMA = "memory-graph/record/1"

EMPTY = "an empty file"

# The columns of a line in the engines, with whether they are numbers. Words of SQL are no names.
COLUMNS = [
    ("file", False),
    ("number", True),
    ("problem", False),
    ("line", False),
    ("run", False),
    ("run_time", False),
    ("commit_id", False),
    ("host_name", False),
    ("test_name", False),
    ("program", False),
    ("tool", False),
    ("marks", True),
    ("declared", True),
    ("live_objects", True),
    ("live_bytes", True),
    ("leaked_objects", True),
    ("leaked_bytes", True),
    ("fingerprint", False),
    ("kind", False),
    ("type_name", False),
    ("module", False),
    ("objects", True),
    ("bytes", True),
    ("retained_bytes", True),
    ("growth", True),
    ("growth_bytes", True),
    ("cut_edge", False),
    ("advice", False),
    ("place", False),
]

# Members: their column, whether they must be there, and what they may be.
_COUNT = (0, 2**63 - 1)
_ANY = (-(2**63), 2**63 - 1)
_COMMON = {
    "run": ("run", True, re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{12}")),
    "time": ("run_time", True, re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")),
    "commit": ("commit_id", False, None),
    "host": ("host_name", False, None),
    "test": ("test_name", False, None),
    "program": ("program", False, None),
    "tool": ("tool", True, None),
}
_RUN = _COMMON | {
    "marks": ("marks", True, (1, 2**63 - 1)),
    "findings": ("declared", True, _COUNT),
    "liveObjects": ("live_objects", True, _COUNT),
    "liveBytes": ("live_bytes", True, _COUNT),
    "leakedObjects": ("leaked_objects", True, _COUNT),
    "leakedBytes": ("leaked_bytes", True, _COUNT),
}
_FINDING = _COMMON | {
    "fingerprint": ("fingerprint", True, re.compile(r"[0-9a-f]{12}")),
    "kind": ("kind", True, re.compile(r"leak|abandoned|overRetained|zombie")),
    "type": ("type_name", True, None),
    "module": ("module", False, None),
    "count": ("objects", True, _COUNT),
    "bytes": ("bytes", True, _COUNT),
    "retainedBytes": ("retained_bytes", True, _COUNT),
    "growth": ("growth", False, _ANY),
    "growthBytes": ("growth_bytes", False, _ANY),
    "cut": ("cut_edge", False, None),
    "advice": ("advice", False, None),
    "place": ("place", False, None),
}


class Problem(Exception):
    """Why a line is none of ours."""


def _refuse_constant(name):
    raise Problem(f"{name} is no number")


def _members(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Problem("a name stands twice")
    return members


def judge(data):
    """The members of a line of bytes by column; raises Problem for one that is damaged."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Problem("not UTF-8") from None
    if not text.strip():
        raise Problem("an empty line")
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_members)
    except json.JSONDecodeError as error:
        raise Problem(f"no JSON, from character {error.pos + 1} on") from None
    except (ValueError, RecursionError):
        raise Problem("no JSON that can be read") from None
    if not isinstance(value, dict):
        raise Problem("not an object")
    schema = value.get("schema")
    if schema != SCHEMA:
        if isinstance(schema, str) and re.fullmatch(r"memory-graph/record/[0-9]{1,9}", schema):
            raise Problem(f"of another version: {schema}")
        raise Problem("no record of memgraph")
    kind = value.get("line")
    if kind not in ("run", "finding"):
        raise Problem("neither a run nor a finding")
    row = {"line": kind}
    for name, (column, is_needed, wanted) in (_RUN if kind == "run" else _FINDING).items():
        if name not in value:
            if is_needed:
                raise Problem(f"{name} is missing")
            continue
        member = value[name]
        if isinstance(wanted, tuple):
            if type(member) is not int or not wanted[0] <= member <= wanted[1]:
                raise Problem(f"{name} is no number that it can be")
        elif not isinstance(member, str) or not member or (wanted and not wanted.fullmatch(member)):
            raise Problem(f"{name} is no text that it can be")
        elif any("\ud800" <= sign <= "\udfff" or sign == "\0" for sign in member):
            raise Problem(f"{name} has a sign that is no character")
        row[column] = member
    # Runs are put in order by their names.
    if row["run"][:16] != re.sub("[-:]", "", row["run_time"]):
        raise Problem("the run's name is not of its time")
    return row


def rows(name, data):
    """The rows of a file's bytes, one a line; a damaged line has its problem, and no other column."""
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for number, line in enumerate(lines, 1):
        try:
            row = judge(line)
            yield _row(name, number, "", row)
        except Problem as problem:
            yield _row(name, number, str(problem), {})
    if not lines:
        yield problem_row(name, EMPTY)


def problem_row(name, problem):
    """The row of a file that can't be looked into."""
    return _row(name, 0, problem, {})


def _row(name, number, problem, row):
    known = {"file": name, "number": number, "problem": problem}
    # Texts that are not there are empty, so that engines need not agree about them; numbers are null.
    return tuple(
        known.get(column, row.get(column, None if is_number else "")) for column, is_number in COLUMNS
    )


_DAY = re.compile(r"date=([0-9]{4}-[0-9]{2}-[0-9]{2})")


def files(folder, first_day="", last_day=""):
    """The records of a folder on this machine, sorted: (name below the folder, path)."""
    found = []
    for entry in os.scandir(folder):
        day = _DAY.fullmatch(entry.name)
        if not day or not entry.is_dir():
            continue
        if not is_of_days(entry.name, first_day, last_day):
            continue
        for file in os.scandir(entry.path):
            if is_record(file.name) and file.is_file():
                found.append((f"{entry.name}/{file.name}", file.path))
    return sorted(found)


def is_of_days(name, first_day, last_day):
    """Whether a file or folder lies in the days that are asked for; an empty day is no bound."""
    day = name[len("date=") :][:10]
    return (not first_day or day >= first_day) and (not last_day or day <= last_day)


def is_record(name):
    """Whether a file of this name is a record: hidden ones are somebody's work that isn't finished."""
    return name.endswith(".jsonl") and name[0] not in "._"


def read(folder, first_day="", last_day=""):
    """The rows of all records of a folder on this machine."""
    for name, path in files(folder, first_day, last_day):
        try:
            with open(path, "rb") as file:
                data = file.read(LARGEST_FILE + 1)
        except OSError as error:
            yield problem_row(name, f"it can't be read: {error.strerror}")
            continue
        if len(data) > LARGEST_FILE:
            yield problem_row(name, "larger than a record can be")
        else:
            yield from rows(name, data)


# What Spark's workers do; they have this module and none of the others.


def rows_of_url(file):
    """The rows of a file that Spark has read."""
    return list(rows(name_of_url(file["path"]), bytes(file["content"])))


def row_of_large_url(file):
    """The row of a file that is too large to be read."""
    return problem_row(name_of_url(file["path"]), "larger than a record can be")


def name_of_url(url):
    """The name of a file below the folder of records, from its URL."""
    return "/".join(urllib.parse.unquote(url).split("/")[-2:])
