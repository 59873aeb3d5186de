// CutText: the edge to cut and what that does, in words.

internal import GraphAnalysis
internal import GraphPrimitives
internal import SnapshotFormat

/// A proposed cut in words.
struct CutText {
  let cut: CutProposal

  /// The cycle and path that its steps are of; they tell how each step's node is reached.
  let cycle: [ReferenceStep]
  let path: RetainPath?

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
    return Document.Detail("cut", line + Line(": ") + Line(advice, .good))
  }

  /// The cut for programs.
  ///
  /// - Parameter step: Which element of the finding's cycle or path it is of; nil for one elsewhere.
  func json(step: Int?) -> JSONValue {
    .members([
      "edge": .string(name(of: cut.step)),
      "step": step.map { .integer($0) },
      "together": cut.together.isEmpty ? nil : .array(cut.together.map { .string(name(of: $0)) }),
      "frees": cut.frees.json,
      "advice": .string(advice),
    ])
  }

  private var advice: String {
    let end = cut.step.edges.last.map { names.typeName(of: names.target(of: $0), reachedBy: $0) }
    return AdviceText(
      advice: cut.advice, reason: cut.reason, step: text(of: cut.step), target: end ?? target,
      isOfCycle: !cycle.isEmpty,
      isOneOfSeveral: !cut.together.isEmpty && cut.advice != .balanceRetain
        && cut.advice != .endLibraryObject
    ).text
  }

  /// An edge to cut; a step without edges is a retain that nothing in memory explains, or a resource that
  /// stays as long as it is open.
  private func edge(_ step: ReferenceStep) -> Line {
    if !step.edges.isEmpty { return Line(edgeName(of: step).title, .code) }
    return cut.advice == .closeResource
      ? Line(names.typeName(of: step.node), .code) : Line("a retain that no holder explains")
  }

  private func name(of step: ReferenceStep) -> String {
    step.edges.isEmpty ? edge(step).text + " -> " + target : edgeName(of: step).whole
  }

  private func edgeName(of step: ReferenceStep) -> EdgeName {
    if let path, step == path.steps.first, names.isFolded(step.node) {
      return EdgeName(root: path.root, step: step, names: names)
    }
    return EdgeName(step, reachedBy: leading(of: step), names: names)
  }

  /// The edge by which a step's node is reached.
  private func leading(of step: ReferenceStep) -> EdgeIndex? {
    for (steps, isCycle) in [(cycle, true), (path?.steps ?? [], false)] {
      guard let place = steps.firstIndex(of: step) else { continue }
      let before = place > 0 ? steps[place - 1] : isCycle ? steps.last : nil
      return before?.edges.last
    }
    return nil
  }

  /// The step to cut in words.
  var stepText: StepText { text(of: cut.step) }

  private func text(of step: ReferenceStep) -> StepText {
    var text = StepText.texts(of: [step], reachedBy: leading(of: step), names: names)[0]
    if let path, step == path.steps.first, names.isFolded(step.node) {
      // A stack's variables have no names.
      text.containerName =
        names.root(path.root).kind == RootKind.global.name
        ? names.root(path.root).name : "the list in the local variable"
    }
    return text
  }
}
