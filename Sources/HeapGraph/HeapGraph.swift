// HeapGraph: a snapshot as a graph of strong references with a virtual root.
