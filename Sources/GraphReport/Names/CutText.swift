// CutText: the edge to cut and what that does, in words.

internal import GraphAnalysis
internal import GraphPrimitives

/// A proposed cut in words.
struct CutText {
  let cut: CutProposal

  /// The cycle and path that its steps are of; they tell how each step's node is reached.
  let cycle: [ReferenceStep]
  let path: [ReferenceStep]

  /// What a retain without a holder leads to.
  let target: String
  let names: Names

  /// The cut for people: the edges, what they free and what to write in the source.
  var detail: Document.Detail {
    var line = ([cut.step] + cut.together).map(edge).joined(" and ")
    line += Line(
      cut.frees.count > 0
        ? " frees \(Units.count(cut.frees.count, "object")), \(Units.bytes(cut.frees.bytes))"
        : " frees nothing alone, something else holds them too")
    return Document.Detail(
      "cut", line + Line(": ") + Line(cut.advice.text(for: text(of: cut.step)), .good))
  }

  var json: JSONValue {
    .members([
      "edge": .string(name(of: cut.step)),
      "together": cut.together.isEmpty ? nil : .array(cut.together.map { .string(name(of: $0)) }),
      "frees": cut.frees.json,
      "advice": .string(cut.advice.text(for: text(of: cut.step))),
    ])
  }

  /// An edge to cut; a step without edges is a retain that nothing in memory explains, or a resource that
  /// stays as long as it is open.
  private func edge(_ step: ReferenceStep) -> Line {
    if !step.edges.isEmpty { return Line(text(of: step).edge, .code) }
    return cut.advice == .closeResource
      ? Line(names.typeName(of: step.node), .code) : Line("a retain that no holder explains")
  }

  private func name(of step: ReferenceStep) -> String {
    let end = step.edges.last.map { names.typeName(of: names.target(of: $0), reachedBy: $0) }
    return edge(step).text + " -> " + (end ?? target)
  }

  private func text(of step: ReferenceStep) -> StepText {
    for (steps, isCycle) in [(cycle, true), (path, false)] {
      guard let place = steps.firstIndex(of: step) else { continue }
      let before = place > 0 ? steps[place - 1] : isCycle ? steps.last : nil
      return StepText.texts(of: [step], reachedBy: before?.edges.last, names: names)[0]
    }
    return StepText.texts(of: [step], reachedBy: nil, names: names)[0]
  }
}
