// Tests of HeapGraph.
