"""The page: one HTML file that reads without scripts, in the looks of `memgraph view`."""

import os

import questions

_STYLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "viewer", "src", "style")

# How many findings are told with their details, and rows of a table; the commands have them all.
_MOST_FINDINGS = 50
_MOST_ROWS = 200


def escaped(text):
    """A text as the content of an element or of a quoted attribute; what HTML does not allow becomes U+FFFD."""
    result = []
    for sign in str(text):
        if sign in "&<>\"'":
            result.append({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}[sign])
        elif sign not in "\n\t" and (ord(sign) < 0x20 or 0x7F <= ord(sign) <= 0x9F):
            result.append("\ufffd")
        else:
            result.append(sign)
    return "".join(result)


def _code(text):
    # Isolated, so that a name that is written from right to left does not turn round what stands beside it.
    return f'<code dir="ltr">{escaped(text)}</code>' if text else ""


def _cell(value, column):
    text = questions.written(value, column.kind)
    if column.kind in ("code", "id", "commit"):
        content = _code(text)
    elif column.kind == "state":
        content = f'<span class="{"good" if value == "gone" else "bad"}">{escaped(text)}</span>'
    else:
        content = f'<span dir="auto">{escaped(text)}</span>' if text and not column.is_number else escaped(text)
    # Names may be broken anywhere, numbers and times must not be.
    side = ' class="number"' if column.is_number else "" if column.kind == "code" else ' class="whole"'
    return f"<td{side}>{content}</td>"


def _table(question, rows):
    columns = question.columns
    heads = "".join(
        f'<th scope="col"{" class=" + chr(34) + "number" + chr(34) if column.is_number else ""}>{escaped(column.heading)}</th>'
        for column in columns
    )
    text = f'<div class="scroll"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n'
    for row in rows[:_MOST_ROWS]:
        text += "<tr>" + "".join(_cell(value, column) for value, column in zip(row, columns)) + "</tr>\n"
    text += "</tbody>\n</table></div>\n"
    if len(rows) > _MOST_ROWS:
        text += f'<p class="faint">… and {questions.number(len(rows) - _MOST_ROWS)} more: fleet {question.name}</p>\n'
    return text


def _section(name, heading, content):
    return f'<section id="{name}">\n<h2>{escaped(heading)}</h2>\n{content}</section>\n'


def _findings(rows, seen_by_fingerprint):
    if not rows:
        return "<p>Nothing was found.</p>\n"
    columns = [column.name for column in questions.QUESTIONS["top"].columns]
    text = '<ol class="findings">\n'
    for row in rows[:_MOST_FINDINGS]:
        value = dict(zip(columns, row))
        seen = seen_by_fingerprint.get(value["fingerprint"], {})
        title = f'{_code(value["type"])}, <strong class="bad">{escaped(value["kind"])}</strong>, retains up to '
        title += f'{escaped(questions.size(value["retainedBytes"]))}'
        details = []
        if value["cut"]:
            advice = f'<span class="advice">{escaped(value["advice"])}</span>' if value["advice"] else ""
            details.append(("cut", _code(value["cut"]) + (f": {advice}" if advice else "")))
        if value["place"]:
            details.append(("at", escaped(value["place"])))
        where = f'in {questions.count(value["runs"], "run")} on {questions.count(value["hosts"], "host")}'
        details.append(("found", escaped(where)))
        if seen:
            first = f'first {seen["firstSeen"]}' + (f' in {seen["firstCommit"][:12]}' if seen["firstCommit"] else "")
            last = f'last {seen["lastSeen"]}' + (f' in {seen["lastCommit"][:12]}' if seen["lastCommit"] else "")
            details.append(("seen", escaped(f"{first}, {last}")))
            if seen["state"] == "gone":
                gone = f'gone: not in {questions.count(seen["runsWithout"], "later run")} of the same tests'
                details.append(("now", f'<span class="good">{escaped(gone)}</span>'))
        details.append(("id", f'<span class="faint">{escaped(value["fingerprint"])}</span>'))
        items = "\n".join(f'<dt>{name}</dt><dd class="{name}">{content}</dd>' for name, content in details)
        text += f'<li class="finding {escaped(value["kind"])}" id="finding-{escaped(value["fingerprint"])}">\n'
        text += f"<h3>{title}</h3>\n<dl>\n{items}\n</dl>\n</li>\n"
    text += "</ol>\n"
    if len(rows) > _MOST_FINDINGS:
        text += f'<p class="faint">… and {questions.number(len(rows) - _MOST_FINDINGS)} more: fleet top</p>\n'
    return text


def render(answers, totals, damaged, folder, since):
    """The page.

    `answers` has the rows of each question by its name; `new` only where there is a commit or day to ask since.
    """
    style = ""
    for name in ["colors", "page", "findings"]:
        with open(os.path.join(_STYLES, name + ".css"), encoding="utf-8") as file:
            style += file.read()
    # Tables have more columns here than in a report.
    style += "#static { max-width: 100rem; }\ntd.whole { white-space: nowrap; }\n"
    columns = [column.name for column in questions.QUESTIONS["seen"].columns]
    seen = {row[0]: dict(zip(columns, row)) for row in answers["seen"]}
    answer = questions.answer("seen", answers["seen"], totals)
    span = f'{totals["firstTime"]} to {totals["lastTime"]}' if totals["runs"] else "no runs"
    source = f"Records of {folder}, {span}; {questions.count(totals['cleanRuns'], 'clean run')}."
    body = f'<main id="static">\n<header><h1>{escaped(answer)}</h1>\n<p class="source">{escaped(source)}</p></header>\n'
    if "new" in answers:
        rows = answers["new"]
        line = questions.answer("new", rows, totals, since)
        content = f"<p>{escaped(line)}</p>\n" + (_table(questions.QUESTIONS["new"], rows) if rows else "")
        body += _section("new", f"New since {since}", content)
    body += _section("findings", "Findings", _findings(answers["top"], seen))
    for name, heading in [("growing", "What grows"), ("hosts", "On how many hosts"), ("seen", "First and last seen")]:
        rows = answers[name]
        content = f"<p>{escaped(questions.answer(name, rows, totals))}</p>\n"
        body += _section(name, heading, content + (_table(questions.QUESTIONS[name], rows) if rows else ""))
    if damaged or totals["incompleteRuns"]:
        items = "".join(
            f"<li>{_code(file + (f':{number}' if number else ''))}: {escaped(problem)}</li>\n"
            for file, number, problem in damaged[:_MOST_ROWS]
        )
        rest = f'<p class="faint">… and {questions.number(len(damaged) - _MOST_ROWS)} more: fleet damaged</p>\n' if len(damaged) > _MOST_ROWS else ""
        line = f"{questions.count(len(damaged), 'line')} skipped; {questions.count(totals['incompleteRuns'], 'run')} with lines missing."
        body += _section("damaged", "What could not be read", f"<p>{escaped(line)}</p>\n<ul>\n{items}</ul>\n{rest}")
    body += "</main>\n"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
        '<link rel="icon" href="data:,">\n'
        f"<title>{escaped(answer)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
