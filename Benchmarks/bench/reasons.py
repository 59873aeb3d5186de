"""Why a goal is short, where that is known: shown only where it is."""

# The goal's name, words of what it is about, and the reason; the first that fits is shown.
REASONS = [
    ("T", "full stacks",
     "three quarters of what they add are libunwind's own steps: each frame waits for the look-up of how to leave it. Rules of the agent's own from "
     "`.eh_frame` would be faster; fast stacks, the default, go by frame pointers"),
    ("T9", "_Unwind_Backtrace", "the agent's figure has the look-up of the stack's row in it, which the other's has not"),
    ("T7", "itrees, sampled",
     "29 of them are the agent's; the others are libc's, which locks its arenas once a program has a second thread, as the agent is one"),
    ("E", "sqlite",
     "SQLite's own work is five times the analyses': that is what it takes to copy the same rows from one table into another within SQLite, and to make "
     "the two large indices, with nothing converted or bound"),
    ("E", "json", "each row has its names in words, three hundred bytes for an object and its references"),
    ("A3", "components", "scipy's are a loop in C++ over the same two arrays; runs of one day gave 0.58 to 0.80"),
    ("S2", "bytes that the reader looks at",
     "half of the time is the scan, in which each pointer becomes a reference with its label and its strength; in the other half the memory is "
     "copied, blocks become nodes, and the file is written"),
]


def reason(name, what):
    """The reason for a goal; empty for none."""
    return next((text for goal, words, text in REASONS if goal == name and words in what), "")
