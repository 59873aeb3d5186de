"""One library of Python on a graph that `Analysis` wrote; a JSON line for each phase and round.

    peers.py igraph|scipy FILE ROUNDS
"""

import json
import sys
import time

import numpy


def read(path):
    words = numpy.fromfile(path, dtype=numpy.uint32)
    nodes, edges, roots = (int(word) for word in words[:3])
    offsets = words[3:4 + nodes]
    targets = words[4 + nodes:4 + nodes + edges]
    return nodes, offsets, targets, words[4 + nodes + edges:][:roots]


class Watch:
    def __init__(self):
        self.last = time.process_time_ns()

    def lap(self, phase):
        now = time.process_time_ns()
        print(json.dumps({"phase": phase, "ns": now - self.last}), flush=True)
        self.last = time.process_time_ns()


def with_igraph(nodes, offsets, targets, roots, rounds):
    import igraph

    sources = numpy.repeat(numpy.arange(nodes, dtype=numpy.uint32), numpy.diff(offsets))
    # A node that leads to all roots, since igraph's dominators have one root.
    pairs = numpy.stack([numpy.append(sources, numpy.full(len(roots), nodes)), numpy.append(targets, roots)], axis=1)
    for _ in range(rounds):
        watch = Watch()
        graph = igraph.Graph(n=nodes + 1, edges=pairs, directed=True)
        watch.lap("build")
        graph.connected_components(mode="strong")
        watch.lap("components")
        graph.bfs(nodes)
        watch.lap("shortest paths")
        graph.dominator(nodes)
        watch.lap("dominators")


def with_scipy(nodes, offsets, targets, roots, rounds):
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    # The node that leads to all roots, again.
    columns = numpy.append(targets, roots).astype(numpy.int32)
    rows = numpy.append(offsets, len(columns)).astype(numpy.int32)
    for _ in range(rounds):
        matrix = csr_matrix((numpy.ones(len(columns), dtype=numpy.int8), columns, rows), shape=(nodes + 1, nodes + 1))
        watch = Watch()
        connected_components(matrix, directed=True, connection="strong")
        watch.lap("components")
        breadth_first_order(matrix, nodes, directed=True)
        watch.lap("shortest paths")


if __name__ == "__main__":
    library, path, count = sys.argv[1:]
    {"igraph": with_igraph, "scipy": with_scipy}[library](*read(path), int(count))
