"""Goals with what was measured of them."""

import reasons
from rounds import median, quantile

GOALS = []
VOID = []

# The subjects of the page by the first letter of a goal's name, with what is to be known of the figures.
SUBJECTS = [
    ("T", "What births and deaths cost the program",
     "Programs that do little but ask for memory, as they are, under `memgraph run`, and under other tools. *mix* is JSON, dictionaries and sorting; "
     "*itrees* and *trees* are small objects from few and from very many stacks; *live* keeps all of them; 1T and 2T are threads."),
    ("S", "What a mark costs",
     "The program stands still for a copy of the process by the kernel. All the rest is the reader's, a process beside it."),
    ("A", "What the analysis costs",
     "The product's algorithms in Swift and plain ones in C on the same graph, in turns; the answers are compared. Libraries of Python get the "
     "same graph. *heap* is made as heaps are, *power* has few nodes that most lead to, *chain* is a list, *star* a node that leads to all."),
    ("E", "What exports cost", "`memgraph export` of a captured snapshot, from the start of the tool to the finished file."),
    ("Y", "Names and lines", "Addresses of functions of `memgraph` itself, as it was built for release."),
    ("F", "What is found", "Objects that are alive and hard to see, beside cycles that are leaked, under both tools."),
]

# Figures that are not this run's: what they are of.
NOTES = []


def note(text):
    """A sentence for the end of the page."""
    if text not in NOTES:
        NOTES.append(text)
    print(f"                {text}", flush=True)


def goal(name, what, value, limit, unit="x", spread=None, least=False, reason=""):
    """Notes a figure beside its limit; `least` where more is better."""
    holds = value >= limit if least else value <= limit
    reason = "" if holds else reason or reasons.reason(name, what)
    GOALS.append({
        "name": name, "what": what, "value": value, "limit": limit, "unit": unit, "least": least,
        "spread": (quantile(spread, 0.25), quantile(spread, 0.75)) if spread else None,
        "holds": holds, "reason": reason,
    })
    print(line(GOALS[-1]), flush=True)


def ratio_goal(name, what, values, limit, **more):
    goal(name, what, median(values), limit, spread=values, **more)


def missing(name, what, why):
    """A goal that could not be measured, with the reason."""
    GOALS.append({"name": name, "what": what, "value": None, "limit": None, "unit": "", "least": False, "holds": False,
                  "reason": why, "spread": None})
    print(line(GOALS[-1]), flush=True)


def control(name, values):
    """Holds the bare program against itself; a control that is off makes what was measured beside it worth nothing."""
    value = median(values)
    holds = 0.85 <= value <= 1.15
    if not holds:
        VOID.append(name)
    print(f"      control   {name}: {value:.2f} of itself{'' if holds else ', VOID: the machine was not quiet'}", flush=True)


def number(value, unit):
    if float(value).is_integer():
        text = f"{value:,.0f}"
    elif abs(value) < 0.1:
        text = f"{value:.3f}"
    else:
        text = f"{value:.2f}" if abs(value) < 100 else f"{value:,.0f}"
    return text + ("" if unit == "x" else " " + unit).rstrip()


def line(goal):
    if goal["value"] is None:
        return f"{goal['name']:<4}  short   {goal['what']}: {goal['reason']}"
    spread = ""
    if goal["spread"]:
        spread = " [{:.2f} to {:.2f}]".format(*goal["spread"])
    return (f"{goal['name']:<4}  {'ok   ' if goal['holds'] else 'short'}   {goal['what']}: "
            f"{number(goal['value'], goal['unit'])}{spread}, {'at least' if goal['least'] else 'at most'} "
            f"{number(goal['limit'], goal['unit'])}")


def short():
    return [goal for goal in GOALS if not goal["holds"]]


def table(goals):
    """Goals in Markdown, in the order of their names."""
    rows = ["| goal | what | measured | middle half | goal | |", "|---|---|---|---|---|---|"]
    for goal in sorted(goals, key=lambda goal: goal["name"]):
        if goal["value"] is None:
            rows.append(f"| {goal['name']} | {goal['what']} | | | | not measured: {goal['reason']} |")
            continue
        spread = " to ".join(number(value, "x") for value in goal["spread"]) if goal["spread"] else ""
        sign = "≥" if goal["least"] else "≤"
        rows.append(f"| {goal['name']} | {goal['what']} | {number(goal['value'], goal['unit'])} | {spread} | "
                    f"{sign} {number(goal['limit'], goal['unit'])} | {'holds' if goal['holds'] else '**short**'} |")
    return "\n".join(rows)


def sections():
    """The page's body: what is short and why, a table a subject, the notes."""
    parts = []
    if short():
        parts.append("## What falls short\n\n" + "\n".join(
            f"* **{goal['name']}** {goal['what']}: "
            + (goal["reason"] if goal["value"] is None else
               f"{number(goal['value'], goal['unit'])}, and should be {'at least' if goal['least'] else 'at most'} "
               f"{number(goal['limit'], goal['unit'])}" + (f". {goal['reason'][0].upper()}{goal['reason'][1:]}" if goal["reason"] else ""))
            + "." for goal in short()))
    for letter, title, words in SUBJECTS:
        goals = [goal for goal in GOALS if goal["name"].startswith(letter)]
        if goals:
            parts.append(f"## {title}\n\n{words}\n\n{table(goals)}")
    if NOTES:
        parts.append("## Notes\n\n" + "\n".join(f"* {text}" for text in NOTES))
    return "\n\n".join(parts)
