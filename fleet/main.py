"""Answers over the records of many runs; `scripts/fleet --help` says how it is called."""

import argparse
import json
import os
import re
import sys
import tempfile

import engines
import page
import questions

NOTHING_FOUND, FINDINGS, USAGE, UNREADABLE, IMPOSSIBLE = range(5)

DESCRIPTION = "Answers over the runs in a folder that `memgraph record` has filled."

EPILOG = """examples:
  scripts/fleet new --in fleet --since c0ffee
      What has appeared since that commit; the exit status is 1 if anything has.
  scripts/fleet top --in fleet --test CallTests --limit 5
      What retains most in one test.
  scripts/fleet --engine spark seen --in fleet
      The same questions by Apache Spark, which needs Java 17 or later.
  scripts/fleet html --in fleet --since 2027-03-01 -o fleet.html
      All answers as one page.

Exit status: 0 nothing new, 1 something new (new), 2 bad usage, 3 no records that can
be read, 4 it could not be done. docs/fleet.md has the rest, clusters and object stores too.
"""


class FleetError(Exception):
    def __init__(self, sentence, status):
        super().__init__(sentence)
        self.status = status


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        sys.stderr.write(f"fleet: {message}; scripts/fleet --help shows how it is called\n")
        sys.exit(USAGE)


def _parser():
    parser = _Parser(
        prog="scripts/fleet", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--engine", choices=["duckdb", "spark"], default="duckdb", help="who answers (default: duckdb)")
    parser.add_argument("--master", metavar="URL", help="Spark's master (default: spark-submit's, else this machine)")
    parser.add_argument("--check-arguments", action="store_true", help=argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command", metavar="QUESTION", required=True)

    def add(name, help, formats):
        command = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".", allow_abbrev=False)
        command.add_argument("--in", dest="folder", default="fleet", metavar="DIR", help="the folder of records (default: ./fleet)")
        command.add_argument("--from", dest="first_day", default="", metavar="DAY", help="only runs of this day and later")
        command.add_argument("--to", dest="last_day", default="", metavar="DAY", help="only runs of this day and before")
        command.add_argument("--program", default="", help="only runs of this program")
        command.add_argument("--test", default="", help="only runs of this test")
        if formats:
            command.add_argument("--format", choices=["text", "json"], default="text", help="how to write it (default: text)")
            command.add_argument("--limit", default="20", metavar="N", help="at most N rows, or all (default: 20; all in JSON)")
        command.add_argument("-o", "--output", metavar="FILE", help="write to FILE")
        return command

    for question in questions.QUESTIONS.values():
        command = add(question.name, question.help, formats=True)
        if question.name == "new":
            command.add_argument("--since", required=True, metavar="COMMIT|DAY", help="a commit, or its first digits, or a day")
    command = add("html", "all answers as one page", formats=False)
    command.add_argument("--since", metavar="COMMIT|DAY", help="what was new since then, too")
    add("damaged", "the lines that were skipped, with why", formats=True)
    return parser


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def _check(arguments):
    for name in ["first_day", "last_day"]:
        day = getattr(arguments, name)
        if day and not _DAY.fullmatch(day):
            option = "--from" if name == "first_day" else "--to"
            raise FleetError(f'{option}: "{day}" is no day; write it as 2027-03-31', USAGE)
    limit = getattr(arguments, "limit", "all")
    if limit != "all" and not (limit.isascii() and limit.isdigit() and int(limit) > 0):
        raise FleetError(f'--limit: "{limit}" is neither a number of at least 1 nor the word all', USAGE)
    since = getattr(arguments, "since", None)
    if since == "":
        raise FleetError("--since: it is empty; give a commit or a day", USAGE)


def _parameters(arguments):
    since = getattr(arguments, "since", None) or ""
    values = {name: "" for name in questions.PARAMETERS}
    values["wanted_program"] = arguments.program
    values["wanted_test"] = arguments.test
    if _DAY.fullmatch(since) or _TIME.fullmatch(since):
        # As the names of runs begin.
        values["since_start"] = re.sub("[-:]", "", since)
    else:
        values["since_commit"] = since
    return values


def _since(engine, parameters, arguments):
    """What `new` is asked since, in words; raises where that commit is not known."""
    if not parameters["since_commit"]:
        return arguments.since
    found = engine.run(questions.sql("commits"))
    if len(found) == 1:
        return f"{found[0][0][:12]} ({found[0][1]})"
    if not found:
        raise FleetError(
            f"--since {arguments.since}: no run of this commit; give a commit that was recorded, or a day as 2027-03-31", USAGE
        )
    names = ", ".join(row[0][:16] for row in found[:6]) + (", …" if len(found) > 6 else "")
    raise FleetError(f"--since {arguments.since}: {len(found)} commits begin so: {names}; give more of it", USAGE)


def _text(answer, columns, rows, limit):
    shown = rows if limit == "all" else rows[: int(limit)]
    lines = [answer]
    if shown:
        # The name stands last, as in other reports.
        order = sorted(range(len(columns)), key=lambda place: columns[place].kind == "id")
        columns = [columns[place] for place in order]
        cells = [[column.heading for column in columns]]
        cells += [[_cell(row[place], column) for place, column in zip(order, columns)] for row in shown]
        widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
        lines.append("")
        for row in cells:
            parts = [
                cell.rjust(width) if column.is_number else cell.ljust(width)
                for cell, width, column in zip(row, widths, columns)
            ]
            lines.append(("  " + "  ".join(parts)).rstrip())
    if len(shown) < len(rows):
        lines.append(f"\n… and {questions.number(len(rows) - len(shown))} more (--limit all)")
    return "\n".join(lines) + "\n"


def _cell(value, column):
    text = questions.shortened(questions.written(value, column.kind))
    # A name with a line break in it must not look like two rows.
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


def _json(name, answer, columns, rows, totals, damaged, since):
    value = {"schema": "memory-graph/fleet/1", "question": name, "answer": answer}
    if since:
        value["since"] = since
    value["totals"] = totals | {"damagedLines": damaged}
    value["rows"] = [{column.name: cell for column, cell in zip(columns, row)} for row in rows]
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _write(text, path):
    """Writes to standard output, or a file that is there whole or not at all."""
    if not path:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return
        handle, place = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".fleet-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(place, 0o666 & ~mask)
            os.replace(place, path)
        except BaseException:
            os.unlink(place)
            raise
    except OSError as error:
        raise FleetError(f"{path}: cannot write it: {error.strerror}", IMPOSSIBLE) from None


def _note(text):
    sys.stderr.write(f"fleet: {text}\n")


def _damaged_columns():
    return [questions.Column("file", "file"), questions.Column("line", "line", "number"), questions.Column("problem", "why")]


def _answer(engine, arguments):
    parameters = _parameters(arguments)
    lines = engine.load(arguments.folder, arguments.first_day, arguments.last_day)
    if lines == 0:
        raise FleetError(
            f"{arguments.folder}: no records in it; `memgraph record SNAP... --to DIR` writes some", UNREADABLE
        )
    engine.set(parameters)
    questions.prepare(engine)
    totals = questions.totals(engine)
    damaged = questions.ask(engine, "damaged")
    # A run that nobody recorded whole is told; lines that are not ours, too.
    shown = 0 if arguments.command == "damaged" else 10
    for file, number, problem in damaged[:shown]:
        _note(f"{file}{f':{number}' if number else ''}: {problem}; skipped")
    if 0 < shown < len(damaged):
        _note(f"{questions.number(len(damaged) - 10)} more lines skipped; `fleet damaged --limit all` names them")
    if totals["incompleteRuns"]:
        _note(f"{questions.count(totals['incompleteRuns'], 'run')} with lines missing")

    since = _since(engine, parameters, arguments) if getattr(arguments, "since", None) else ""
    if arguments.command == "html":
        names = [name for name in questions.QUESTIONS if name != "new" or since]
        answers = {name: questions.ask(engine, name) for name in names}
        _write(page.render(answers, totals, damaged, arguments.folder, since), arguments.output)
        return NOTHING_FOUND
    if arguments.command == "damaged":
        rows, columns = damaged, _damaged_columns()
        answer = f"{questions.count(len(damaged), 'line')} of {questions.number(lines)} skipped"
    else:
        rows, columns = questions.ask(engine, arguments.command), questions.QUESTIONS[arguments.command].columns
        answer = questions.answer(arguments.command, rows, totals, since)
    # Sums are numbers of a wider kind in some engines.
    rows = [tuple(int(cell) if column.is_number and cell is not None else cell for cell, column in zip(row, columns)) for row in rows]
    if arguments.format == "json":
        text = _json(arguments.command, answer, columns, rows, totals, len(damaged), since)
    else:
        text = _text(answer, columns, rows, arguments.limit)
    _write(text, arguments.output)
    return FINDINGS if arguments.command == "new" and rows else NOTHING_FOUND


def main(words=None):
    arguments = _parser().parse_args(words)
    try:
        _check(arguments)
        if arguments.engine == "duckdb" and not os.path.isdir(arguments.folder):
            why = "no folder" if os.path.exists(arguments.folder) else "no such folder"
            raise FleetError(f"{arguments.folder}: {why}; name the folder of records with --in", UNREADABLE)
        if arguments.check_arguments:
            return NOTHING_FOUND
        engine = engines.DuckDB() if arguments.engine == "duckdb" else engines.Spark(arguments.master)
        try:
            return _answer(engine, arguments)
        finally:
            engine.close()
    except FleetError as error:
        _note(str(error))
        return error.status
    except engines.EngineError as error:
        _note(str(error))
        return IMPOSSIBLE
    except BrokenPipeError:
        # Who reads has gone; Python must not say so when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOTHING_FOUND
    except OSError as error:
        _note(f"{error.filename or 'input'}: {error.strerror}")
        return UNREADABLE


if __name__ == "__main__":
    sys.exit(main())
