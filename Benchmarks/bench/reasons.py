"""Why a goal is short, where that is known: shown only where it is."""

# The goal's name, words of what it is about, and the reason; the first that fits is shown.
REASONS = [
    ("S2", "bytes that the reader looks at",
     "each pointer becomes a reference of the snapshot, with its label and its strength, and that is most of the time"),
]


def reason(name, what):
    """The reason for a goal; empty for none."""
    return next((text for goal, words, text in REASONS if goal == name and words in what), "")
