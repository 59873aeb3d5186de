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

  /// How many objects at least have gone from where those of the finding are held.
  var goneCount = 0

  /// What a retain without a holder leads to.
  let target: String
  let names: Names

  /// How many other holders are named.
  private static let mostHolders = 3

  /// What is said behind the cut of how it goes with those of other findings.
  var relation = ""

  /// What would go with the finding's objects but is not freed by the cut, and what it frees besides.
  var staying = Cost.zero
  var besides = Cost.zero

  /// All edges to cut; what has the same name is one, as it is one for a reader and for `memgraph whatif`.
  var parts: [CutProposal.Part] {
    let all =
      [CutProposal.Part(step: cut.step, advice: cut.advice, reason: cut.reason)] + cut.together
    if all.count == 1 { return all }
    var seen: Set<String> = []
    return all.filter { seen.insert(name(of: $0)).inserted }
  }

  /// How many edges stand in the line of the cut itself; more have a line each.
  private static let mostInLine = 2

  /// The cut for people: the edges, what they free and what to write in the source.
  var details: [Document.Detail] {
    let parts = self.parts
    let isLong = parts.count > Self.mostInLine
    var line =
      isLong
      ? Line("these \(Units.number(parts.count)) edges") : parts.map { edge($0) }.joined(" and ")
    if cut.frees.count > 0 {
      line += Line(
        (parts.count > 1 ? " together free " : " frees ")
          + "\(Units.count(cut.frees.count, "object")), \(Units.bytes(cut.frees.bytes))"
          + differences)
    } else {
      line += Line(" frees nothing alone: ") + others
    }
    line += Line(": ") + Line(advice, .good)
    if !relation.isEmpty { line += Line(relation) }
    if cut.leftBehind.count > 0 { line += Line("; " + Self.behind(cut.leftBehind), .bad) }
    return [Document.Detail("cut", line)]
      + (isLong ? parts.map { Document.Detail("edge", edge($0)) } : [])
  }

  /// Why the cut frees more or less than the finding counts.
  private var differences: String {
    var text = ""
    if besides.count > 0 {
      text += ", \(Units.number(besides.count)) of them not among those above"
    }
    if staying.count > 0 {
      text +=
        (besides.count > 0 ? ", and" : ", but")
        + " not \(Units.number(staying.count)) of those above, which something else holds, too"
    }
    return text
  }

  /// What else holds the objects.
  private var others: Line {
    guard !cut.otherHolders.isEmpty else { return Line("something else holds them too") }
    let shown = cut.otherHolders.prefix(Self.mostHolders).map { other in
      names.line(of: other.holder) + Line(" holds \(Units.number(other.count)) of them")
    }.joined(", ")
    let rest = cut.otherHolders.count - Self.mostHolders
    return rest > 0 ? shown + Line(", and \(Units.count(rest, "more holder"))") : shown
  }

  /// What is said of objects that no release reaches.
  static func behind(_ cost: Cost) -> String {
    "\(Units.count(cost.count, "object")), \(Units.bytes(cost.bytes)), would stay behind: a plain"
      + " ManagedBuffer does not deinitialize its elements; only a subclass with a deinit that does frees them"
  }

  /// The cut for programs.
  ///
  /// - Parameter step: Which element of the finding's cycle or path it is of; nil for one elsewhere.
  func json(step: Int?) -> JSONValue {
    .members([
      "edge": .string(name(of: parts[0])),
      "step": step.map { .integer($0) },
      "together": parts.count < 2
        ? nil : .array(parts.dropFirst().map { .string(name(of: $0)) }),
      "frees": cut.frees.json,
      "besides": besides.count == 0 ? nil : besides.json,
      "staying": staying.count == 0 ? nil : staying.json,
      "leftBehind": cut.leftBehind.count == 0 ? nil : cut.leftBehind.json,
      "alsoHeldBy": cut.otherHolders.isEmpty
        ? nil : .array(cut.otherHolders.map { names.json(of: $0) }),
      "advice": .string(advice),
    ])
  }

  private var advice: String {
    let isLedByRetain =
      cut.step.edges.isEmpty && (cut.advice == .balanceRetain || cut.advice == .endLibraryObject)
    let parts = self.parts
    let texts = parts.map { advice(of: $0) }
    // The retain is what keeps the others.
    if parts.count == 1 || isLedByRetain || cut.advice == .endLibraryObject && texts.count == 1 {
      return texts[0].text
    }
    if parts.allSatisfy({ $0.advice == .makeWeak }), texts.allSatisfy(\.canBeWeak) {
      return
        "make each of them weak: they hold each other in more than one way, so none alone is enough"
    }
    var different: [String] = []
    for text in texts.map(\.text) where !different.contains(text) { different.append(text) }
    return different.count == 1
      ? different[0] + "; each of these edges has to go, none alone is enough"
      : different.joined(separator: "; and ") + "; all of it, none alone is enough"
  }

  private func advice(of part: CutProposal.Part) -> AdviceText {
    let end = part.step.edges.last.map { names.typeName(of: names.target(of: $0), reachedBy: $0) }
    return AdviceText(
      advice: part.advice, reason: part.reason, step: text(of: part.step), target: end ?? target,
      isOfCycle: !cycle.isEmpty, isHeldByNothing: cycle.isEmpty && path == nil,
      goneCount: goneCount,
      isOwnMemory: names.allocation(of: part.step.node).first.map { OwnCode.isOwn($0) } ?? false)
  }

  /// An edge to cut; a step without edges is a retain that nothing in memory explains, or a resource that
  /// stays as long as it is open.
  private func edge(_ part: CutProposal.Part) -> Line {
    if !part.step.edges.isEmpty || closes(part) {
      let name = edgeName(of: part)
      // Two closures in one field are told apart by what they are.
      let isOneOfSeveral =
        parts.count { !$0.step.edges.isEmpty && edgeName(of: $0).title == name.title } > 1
      return Line(isOneOfSeveral ? name.whole : name.title, .code)
    }
    return part.advice == .closeResource
      ? Line(names.typeName(of: part.step.node), .code) : Line(Names.unexplainedRetain)
  }

  /// An edge as `memgraph whatif` takes it: `App.Client.onChange -> closure #1 in App.Model.start()`.
  func name(of part: CutProposal.Part) -> String {
    part.step.edges.isEmpty && !closes(part)
      ? edge(part).text + " -> "
        + (part.step == cut.step ? target : names.typeName(of: part.step.node))
      : edgeName(of: part).whole
  }

  /// Whether a part ends a resource on the way from a root as a whole, and not one reference of it.
  private func closes(_ part: CutProposal.Part) -> Bool {
    part.advice == .closeResource && cycle.isEmpty && names.kind(of: part.step.node) == .resource
  }

  private func edgeName(of part: CutProposal.Part) -> EdgeName {
    if closes(part) { return EdgeName(resource: part.step.node, names: names) }
    let name = edgeName(of: part.step)
    return part.reason == .entry ? name.ofAllEntries : name
  }

  private func edgeName(of step: ReferenceStep) -> EdgeName {
    if let path, path.steps.first?.begins(with: step) == true, names.isFolded(step.node) {
      return EdgeName(root: path.root, step: step, names: names)
    }
    return EdgeName(step, reachedBy: leading(of: step), names: names, isFolded: true)
  }

  /// The edge by which a step's node is reached.
  private func leading(of step: ReferenceStep) -> EdgeIndex? {
    for (steps, isCycle) in [(cycle, true), (path?.steps ?? [], false)] {
      guard let place = steps.firstIndex(where: { $0.begins(with: step) }) else { continue }
      let before = place > 0 ? steps[place - 1] : isCycle ? steps.last : nil
      return before?.edges.last
    }
    return nil
  }

  /// The step to cut in words.
  var stepText: StepText { text(of: cut.step) }

  private func text(of step: ReferenceStep) -> StepText {
    guard !step.edges.isEmpty else {
      return StepText.texts(of: [step], reachedBy: nil, names: names)[0]
    }
    var text = StepText.texts(of: [step], reachedBy: leading(of: step), names: names)[0]
    if let path, path.steps.first?.begins(with: step) == true, names.isFolded(step.node) {
      // A stack's variables have no names.
      text.containerName =
        names.root(path.root).kind == RootKind.global.name
        ? names.root(path.root).name : "the list in the local variable"
    }
    return text
  }
}

extension Names {
  /// What reports call a retain that no reference stands for.
  static let unexplainedRetain = "a retain that no holder explains"

  /// What keeps something.
  func line(of holder: OtherHolder.Holder) -> Line {
    switch holder {
    case .reference(let step):
      Line(EdgeName(step, reachedBy: nil, names: self, isFolded: true).title, .code)
    case .root(let root): Line(self.root(root).name, .code)
    case .unexplainedRetain: Line(Self.unexplainedRetain)
    }
  }

  func json(of other: OtherHolder) -> JSONValue {
    .members([
      "type": .string(typeName(of: other.kept)), "holder": .string(line(of: other.holder).text),
      "count": .integer(other.count),
    ])
  }
}

extension ReferenceStep {
  /// Whether another step is this one or the beginning of it: a cut may end at the element of a container.
  func begins(with other: ReferenceStep) -> Bool {
    node == other.node && edges.starts(with: other.edges)
      && (!other.edges.isEmpty || edges.isEmpty)
  }
}
