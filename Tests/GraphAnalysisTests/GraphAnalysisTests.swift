// Tests of GraphAnalysis.
