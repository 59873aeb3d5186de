// FindingSelection: the findings that a filter lets pass.

internal import GraphAnalysis
internal import GraphPrimitives
internal import HeapGraph

extension TypeFilter {
  /// The findings that pass: with a member or a step of a wanted type, and of their members those of the
  /// wanted generation.
  func findings(_ findings: [Finding], in graph: HeapGraph) -> [Finding] {
    if isEmpty { return findings }
    return findings.filter { includesType(members: $0.members, cycle: $0.cycle, in: graph) }
      .keeping(in: graph) { includesGeneration(of: $0, in: graph) }
  }
}
