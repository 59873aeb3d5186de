"""Goals with what was measured of them."""

from rounds import median, quantile

GOALS = []
VOID = []


def goal(name, what, value, limit, unit="x", spread=None, least=False, reason=""):
    """Notes a figure beside its limit; `least` where more is better."""
    holds = value >= limit if least else value <= limit
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
    GOALS.append({"name": name, "what": what, "value": None, "holds": False, "reason": why, "spread": None})
    print(line(GOALS[-1]), flush=True)


def control(name, values):
    """Holds the bare program against itself; a control that is off makes what was measured beside it worth nothing."""
    value = median(values)
    holds = 0.85 <= value <= 1.15
    if not holds:
        VOID.append(name)
    print(f"      control   {name}: {value:.2f} of itself{'' if holds else ', VOID: the machine was not quiet'}", flush=True)


def number(value, unit):
    text = f"{value:.2f}" if abs(value) < 100 else f"{value:,.0f}"
    return text + ("" if unit == "x" else " " + unit)


def line(goal):
    if goal["value"] is None:
        return f"{goal['name']:<4}  short   {goal['what']}: {goal['reason']}"
    spread = ""
    if goal["spread"]:
        spread = " [{:.2f} to {:.2f}]".format(*goal["spread"])
    return (f"{goal['name']:<4}  {'ok   ' if goal['holds'] else 'short'}   {goal['what']}: "
            f"{number(goal['value'], goal['unit'])}{spread}, {'at least' if goal['least'] else 'at most'} "
            f"{number(goal['limit'], goal['unit'])}")


def table():
    """The goals in Markdown."""
    rows = ["| goal | what | measured | middle half | limit | |", "|---|---|---|---|---|---|"]
    for goal in GOALS:
        if goal["value"] is None:
            rows.append(f"| {goal['name']} | {goal['what']} | | | | short: {goal['reason']} |")
            continue
        spread = "{:.2f} to {:.2f}".format(*goal["spread"]) if goal["spread"] else ""
        sign = "≥" if goal["least"] else "≤"
        verdict = "ok" if goal["holds"] else "short" + (f": {goal['reason']}" if goal["reason"] else "")
        rows.append(f"| {goal['name']} | {goal['what']} | {number(goal['value'], goal['unit'])} | {spread} | "
                    f"{sign} {number(goal['limit'], goal['unit'])} | {verdict} |")
    return "\n".join(rows)
