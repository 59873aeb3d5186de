"""Why a goal is short, where that is known: shown only where it is."""

# The goal's name, words of what it is about, and the reason; the first that fits is shown.
REASONS = [
    ("S2", "bytes that the reader looks at",
     "half of the time is the scan, in which each pointer becomes a reference with its label and its strength; in the other half the memory is "
     "copied, blocks become nodes, and the file is written"),
]


def reason(name, what):
    """The reason for a goal; empty for none."""
    return next((text for goal, words, text in REASONS if goal == name and words in what), "")
