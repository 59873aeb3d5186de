// FindingSelection: findings of which only some members are asked for.

internal import GraphAnalysis
internal import GraphPrimitives
internal import HeapGraph

extension Finding {
  /// The finding as if only some of its members had been found; nil where none are left.
  ///
  /// The cycle or path told stays the same, since it is that of every member.
  func keeping(
    _ isWanted: (NodeIndex) -> Bool, in graph: HeapGraph, sizes: () throws -> RetainedSizes
  ) rethrows -> Finding? {
    let kept = members.filter(isWanted)
    if kept.isEmpty || kept.count == members.count { return kept.isEmpty ? nil : self }
    var finding = self
    finding.members = kept
    finding.own = graph.cost(of: kept)
    let sizes = try sizes()
    finding.retained = kept.reduce(.zero) { $0 + sizes.retained(by: $1) }
    for place in finding.cuts.indices where finding.cuts[place].frees == retained {
      finding.cuts[place].frees = finding.retained
    }
    return finding
  }
}

extension TypeFilter {
  /// The findings that pass: with a member or a step of a wanted type, and of their members those of the
  /// wanted generation.
  func findings(_ findings: [Finding], in graph: HeapGraph) throws -> [Finding] {
    if isEmpty { return findings }
    var known: RetainedSizes?
    func sizes() throws -> RetainedSizes {
      let sizes = try known ?? RetainedSizes(of: graph)
      known = sizes
      return sizes
    }
    return try findings.compactMap { finding in
      guard includesType(members: finding.members, cycle: finding.cycle, in: graph) else {
        return nil
      }
      return try finding.keeping(
        { includesGeneration(of: $0, in: graph) }, in: graph, sizes: sizes)
    }
  }
}
