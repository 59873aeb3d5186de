"""What the tests of exports share: a recording of a sample, and its exports, each made once."""

import functools
import os
import pathlib
import sqlite3
import subprocess
import unittest

MARKS = pathlib.Path(os.environ["MARKS"])
MEMGRAPH = os.environ["MEMGRAPH"]


def memgraph(*words, check=True):
    """Runs the tool on the recording."""
    call = subprocess.run(
        [MEMGRAPH, *map(str, words)], cwd=MARKS, capture_output=True, text=True, check=False)
    if check and call.returncode not in (0, 1):
        raise AssertionError(f"memgraph {words}: {call.returncode}: {call.stderr}")
    return call


@functools.cache
def export(name, *words):
    """The path of an export, which is written where it was not asked for before."""
    path = MARKS / name
    memgraph("export", *words, "-o", path)
    return path


@functools.cache
def database():
    """The first and the last call as a database: the other exports are held against it."""
    connection = sqlite3.connect(export("calls.sqlite", "call-1.mgraph", "call-5.mgraph"))
    connection.row_factory = sqlite3.Row
    return connection


def rows(query, *values):
    return [tuple(row) for row in database().execute(query, values)]


class ExportTest(unittest.TestCase):
    """A test that says all that differs."""

    maxDiff = None
