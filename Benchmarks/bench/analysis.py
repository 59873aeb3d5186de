"""The algorithms in Swift beside those in C, and beside the libraries of Python, on the same graphs."""

import json
import math
import os
import sys

from goals import control, goal, missing, note, ratio_goal
from rounds import Failed, median, run

PHASES = ["transpose", "shortest paths", "components", "dominators", "retained sizes"]


def phases(tools, graph, count, rounds, engine="both"):
    """Nanoseconds of each phase, by engine and round."""
    text = run([tools["analysis"], graph, str(count), str(rounds), engine])["out"]
    times = {}
    for row in map(json.loads, text.splitlines()):
        times.setdefault((row["engine"], row["phase"]), []).append(row["ns"])
    return times


def total(times, engine):
    return [sum(row) for row in zip(*(times[(engine, phase)] for phase in PHASES))]


def measure_shapes(tools, count, rounds):
    by_shape = {}
    for shape in ("heap", "power", "chain", "star"):
        times = phases(tools, shape, count, rounds)
        by_shape[shape] = times
        for phase in PHASES:
            values = [a / b for a, b in zip(times[("swift", phase)], times[("c", phase)])]
            print(f"                {shape} {count:,}, {phase}: {median(values):.2f}x of C", flush=True)
        values = [a / b for a, b in zip(total(times, "swift"), total(times, "c"))]
        ratio_goal("A1", f"{shape} with {count:,} nodes, all phases beside C", values, 1.5)
    heap, chain = (median(by_shape[shape][("swift", "dominators")]) for shape in ("heap", "chain"))
    goal("A5", "dominators of a chain beside those of a heap", chain / heap, 2)
    control("C beside itself, first and second half of the rounds", [
        a / b for a, b in zip(total(by_shape["heap"], "c")[::2], total(by_shape["heap"], "c")[1::2])])


def exponent(points):
    """The slope through the logarithms of counts and times."""
    logs = [(math.log(count), math.log(time)) for count, time in points]
    x, y = (sum(values) / len(logs) for values in zip(*logs))
    return sum((a - x) * (b - y) for a, b in logs) / sum((a - x) ** 2 for a, _ in logs)


def measure_growth(tools, counts):
    """Caches make larger graphs slower a node, so the exponent is held against that of C, whose work is linear."""
    for shape in ("heap", "chain", "star"):
        points = {"swift": [], "c": []}
        for count in counts:
            times = phases(tools, shape, count, 4 if count < 5_000_000 else 2 if shape == "heap" else 1)
            for engine, taken in points.items():
                taken.append((count, min(total(times, engine))))
            if count >= 10_000_000 and shape == "heap":
                values = [a / b for a, b in zip(total(times, "swift"), total(times, "c"))]
                ratio_goal("A1", f"{shape} with {count:,} nodes, all phases beside C", values, 1.5)
            if count >= 10_000_000 and shape == "chain":
                # `phases` fails where the answers differ, a stack that overflows ends the program.
                goal("A5", "nodes of the longest chain that was analysed, with the answer of C", count, 10_000_000, "", least=True)
        own, theirs = exponent(points["swift"]), exponent(points["c"])
        goal("A", f"{shape}, exponent of the time from {counts[0]:,} to {counts[-1]:,} nodes ({theirs:.2f} in C)", own,
             theirs + 0.05, "")


def measure_peers(tools, python, folder, count, rounds):
    graph = os.path.join(folder, "graph.bin")
    run([tools["analysis"], "heap", str(count), "write", graph])
    own = phases(tools, graph, 0, rounds, "swift")
    whole = run([tools["analysis"], graph, "0", "1", "swift"])
    # Of a smaller graph's peak a good part is the process itself.
    large, nodes = graph, max(count, 1_000_000)
    if nodes > count:
        large = os.path.join(folder, "large.bin")
        run([tools["analysis"], "heap", str(nodes), "write", large])
    peak = whole["peak"] if large == graph else run([tools["analysis"], large, "0", "1", "swift"])["peak"]
    goal("A6", "peak of memory for each node", peak / nodes, 150, "bytes")
    peer = os.path.join(os.path.dirname(__file__), "peers.py")
    for library in ("igraph", "scipy"):
        try:
            taken = run([python, peer, library, graph, str(rounds)])
        except Failed as failure:
            missing("A2" if library == "igraph" else "A3", f"beside {library}", str(failure)[-80:])
            continue
        times = {}
        for row in map(json.loads, taken["out"].splitlines()):
            times.setdefault(row["phase"], []).append(row["ns"])
        if library == "igraph":
            theirs = sum(median(values) for values in times.values())
            goal("A2", "all phases beside igraph", median(total(own, "swift")) / theirs, 0.2)
            goal("A2", "peak of memory beside igraph", whole["peak"] / taken["peak"], 0.35)
        else:
            for phase, limit in (("components", 0.8), ("shortest paths", 1.0)):
                goal("A3", f"{phase} beside scipy",
                     median(own[("swift", phase)]) / median(times[phase]), limit)
    os.remove(graph)


# Processor time in seconds by the number of nodes, measured once on one machine on graphs of this shape and degree, and what the five
# phases in C took there: so much for a machine's speed. Neither tool can be installed from a package registry.
QUOTED = {
    "Eclipse MAT 1.17": {1_000_000: 8.0, 10_000_000: 55.0},
    "memlab": {1_000_000: 5.8},
}
QUOTED_C = {1_000_000: 0.321, 10_000_000: 7.96}
LIMITS = {("Eclipse MAT 1.17", 1_000_000): 0.1, ("Eclipse MAT 1.17", 10_000_000): 0.25, ("memlab", 1_000_000): 0.15}


def measure_quoted(tools, folder, counts, rounds):
    """The whole analysis of a file, reading it included, beside figures of other tools that are quoted."""
    for count in counts:
        graph = os.path.join(folder, "quoted.bin")
        run([tools["analysis"], "heap", str(count), "write", graph])
        rounds = rounds if count < 5_000_000 else 1
        own = median([run([tools["analysis"], graph, "0", "1", "swift"])["cpu"] for _ in range(rounds)])
        theirs = phases(tools, graph, 0, rounds, "c")
        speed = median(total(theirs, "c")) / 1e9 / QUOTED_C[count]
        os.remove(graph)
        for peer, taken in QUOTED.items():
            if count in taken:
                goal("A4", f"{count:,} nodes, processor time from the file to retained sizes, beside that of {peer} (quoted)",
                     own / (taken[count] * speed), LIMITS[(peer, count)])
    note("Figures of Eclipse MAT and memlab (A4) are quoted, not of this run: "
         + "; ".join(f"{peer} took {taken[count]:g} s of processor time for {count:,} nodes" for peer, taken in QUOTED.items()
                     for count in taken)
         + ", on a machine where the same phases in C took "
         + " and ".join(f"{QUOTED_C[count]:g} s" for count in QUOTED_C)
         + ". They are scaled by what C took here.")


def measure_difference(tools, files, rounds):
    """What survived between two snapshots of one run, and the same as if they were of two."""
    times = {}
    for row in map(json.loads, run([tools["difference"], *files, str(rounds)])["out"].splitlines()):
        times.setdefault(row["kind"], []).append(row["ns"] / row["objects"])
    goal("A7", "what survived between two marks of a run, for each object of the larger one", median(times["ordered"]), 8, "ns",
         spread=times["ordered"])
    goal("A7", "what survived between two runs, by type and size, for each object of the larger one", median(times["unordered"]), 60, "ns",
         spread=times["unordered"])


if __name__ == "__main__":
    sys.exit("run scripts/bench")
