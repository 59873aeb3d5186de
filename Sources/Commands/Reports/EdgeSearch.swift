// EdgeSearch: the references that a caller names as TYPE.FIELD.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// Finds the references that somebody wrote down as a report shows them or by heart.
struct EdgeSearch {
  /// What a text names.
  struct Found {
    /// The kinds of references, each told once.
    var kinds: [EdgeName]

    /// What goes when they are weak or cleared.
    var effect: CutEffect
  }

  let graph: HeapGraph
  private let _names: Names
  private let _kinds: [(kind: EdgeKind, text: EdgeName)]

  /// - Complexity: O(*V* + *E*).
  init(in graph: HeapGraph, names: Names) {
    self.graph = graph
    _names = names
    _kinds = edgeKinds(in: graph).map { ($0, EdgeName($0, names: names)) }
  }

  /// The kinds of references that a text names.
  ///
  /// The module may be left out, `*` and `?` stand for anything, an index for every index, and what
  /// follows an arrow says where the reference leads. A closure's name alone stands for all that it captures. A
  /// task with its number, as a report has it, stands for the tasks that read like it, and for their end; a
  /// retain that no holder explains stands for those of all objects of the type that it leads to, a registered
  /// resource for its end.
  ///
  /// - Throws: a sentence with what there is where the text names no strong reference.
  func find(_ asked: String) throws -> Found {
    var wanted = Wanted(asked)
    guard !wanted.edge.isEmpty else {
      throw CommandError(
        "--weaken \"\(asked)\"", "it names no reference",
        mend: "name one as a report does, TYPE.FIELD; --weaken '*' stands for all", status: .usage)
    }
    if wanted.edge == Wanted.unexplainedRetain { return try _retains(asked, of: wanted.target) }
    if let task = wanted.task { return try _tasks(asked, task, wanted) }
    if wanted.target != nil, !_kinds.contains(where: { wanted.matches($0.text, byPrefix: true) }) {
      // A kind is called after its first reference, which may lead elsewhere than the one of a finding.
      wanted.target = nil
    }
    var found = _kinds.filter { wanted.matches($0.text, byPrefix: false) }
    if found.isEmpty {
      // A struct that is no reference itself stands for the references in it: the shortest paths.
      let within = _kinds.filter { wanted.matches($0.text, byPrefix: true) }
      let shortest = within.map(\.kind.edges.count).min()
      found = within.filter { $0.kind.edges.count == shortest }
    }
    if found.isEmpty, let closed = _resources(wanted) { return closed }
    if found.isEmpty, let kept = _unowned(wanted) { return kept }
    guard !found.isEmpty else { throw _error(asked, wanted) }
    var told: [EdgeName] = []
    for text in found.map(\.text) where !told.contains(where: { $0.whole == text.whole }) {
      told.append(text)
    }
    return Found(
      kinds: told, effect: CutEffect(slots: Set(found.flatMap(\.kind.slots)).sorted()))
  }

  /// The references that a text names: a cut of several edges is pasted as a report writes it, with "and" between.
  ///
  /// - Returns: the text as it is where it has one part, or not all parts of it name something.
  func parts(of asked: String) -> [String] {
    var parts = [""]
    var depth = 0
    var rest = asked[...]
    while let character = rest.first {
      if depth == 0, rest.hasPrefix(" and ") {
        parts.append("")
        rest = rest.dropFirst(" and ".count)
        continue
      }
      if character == "(" || character == "<" { depth += 1 }
      if character == ")" || character == ">" && !parts[parts.count - 1].hasSuffix("-") {
        depth -= 1
      }
      parts[parts.count - 1].append(character)
      rest = rest.dropFirst()
    }
    for ending in [" together", " together free"] where parts[parts.count - 1].hasSuffix(ending) {
      parts[parts.count - 1].removeLast(ending.count)
    }
    if parts.count == 1 { return [asked] }
    // No task is called so, and what comes after its name would be lost.
    if Wanted(asked).task != nil { return parts }
    return parts.allSatisfy { (try? find($0)) != nil } ? parts : [asked]
  }

  /// What keeps the registered resources that are called so, which closing them ends; nil where there are none.
  private func _resources(_ wanted: Wanted) -> Found? {
    let pattern = TypePattern(wanted.edge)
    let nodes = graph.nodes.filter {
      graph.kind(of: $0) == .resource
        && pattern.matches(graph.typeName(of: $0), module: graph.module(of: $0))
    }
    guard let first = nodes.first else { return nil }
    return Found(
      kinds: [EdgeName(resource: first, names: _names)],
      effect: CutEffect(slots: Set(nodes.flatMap { graph.slots(to: $0) }).sorted()))
  }

  /// The unowned references of a name that keep the memory of destroyed objects; nil where there are none.
  private func _unowned(_ wanted: Wanted) -> Found? {
    let edges = graph.unownedReferencesToZombies()
    var told: [EdgeName] = []
    var found: [EdgeIndex] = []
    for (edge, step) in zip(edges, graph.foldedSteps(by: edges)) {
      let name = EdgeName(step, names: _names)
      guard wanted.matches(name, byPrefix: false) else { continue }
      found.append(edge)
      if !told.contains(where: { $0.whole == name.whole }) { told.append(name) }
    }
    return found.isEmpty ? nil : Found(kinds: told, effect: CutEffect(slots: [], unowned: found))
  }

  /// The retains that nothing explains of the objects of a type.
  private func _retains(_ asked: String, of type: String?) throws -> Found {
    let pattern = TypePattern(type ?? "*")
    let nodes = try unexplainedRetains(in: graph) {
      pattern.matches(graph.typeName(of: $0), module: graph.module(of: $0))
    }
    guard let first = nodes.first else {
      throw CommandError(
        "--weaken \(asked)",
        "no \(type ?? "object") has a retain that no holder explains",
        mend: "memgraph audit shows those that roots reach", status: .usage)
    }
    return Found(
      kinds: [EdgeName(retainOf: first, names: _names)],
      effect: unexplainedEffect(of: nodes, in: graph))
  }

  /// The tasks that a report calls like one, and what goes when they end; where the reference is to an element
  /// of a container of theirs, the elements.
  private func _tasks(
    _ asked: String, _ task: (number: UInt64, standing: String?), _ wanted: Wanted
  ) throws -> Found {
    let all = graph.nodes.filter { _names.task($0) != nil }
    let told = all.first {
      let known = _names.task($0)
      return known?.id == task.number && known?.standing == task.standing ?? known?.standing
    }
    let standing = task.standing ?? told.flatMap { _names.task($0)?.standing }
    let alike = all.filter { _names.task($0)?.standing == standing }
    guard standing != nil, !alike.isEmpty else {
      throw CommandError(
        "--weaken \(asked)",
        task.standing.map { "no task here is \($0)" }
          ?? "no task here has the number \(task.number)",
        mend: "memgraph tasks lists them; Task.* stands for what all tasks hold", status: .usage)
    }
    // A report tells leaked tasks and others apart.
    let tasks =
      told.map { told in
        alike.filter { graph.isReachable[$0.position] == graph.isReachable[told.position] }
      } ?? alike
    let field = wanted.edge.dropFirst("Task".count)
    let kinds = _kinds.filter { wanted.matches($0.text, byPrefix: false) }.map(\.text)
    let first = told ?? tasks[0]
    guard field.hasSuffix("]") else {
      // The task that was asked for, though a kind is called after the first one that has such a reference.
      return Found(
        kinds: [EdgeName(task: first, field: String(field), names: _names)],
        effect: graph.effect(ofEnding: tasks))
    }
    let shown = kinds.isEmpty ? [EdgeName(task: first, names: _names)] : kinds
    let own = Set(graph.slotsHeld(by: tasks))
    let slots = _kinds.filter { wanted.matches($0.text, byPrefix: false) }.flatMap(\.kind.slots)
    return Found(kinds: shown, effect: CutEffect(slots: Set(slots).intersection(own).sorted()))
  }

  private func _error(_ asked: String, _ wanted: Wanted) -> CommandError {
    let what = "--weaken \(asked)"
    // The longest part before a dot that is a type which holds anything.
    for type in wanted.types {
      let pattern = TypePattern(type)
      let fields = Set(
        _kinds.filter { pattern.matches($0.text.holder, module: $0.text.module) }.map(\.text.field)
          .filter { !$0.isEmpty })
      if let strength = wanted.strength(in: graph, by: pattern) {
        return CommandError(
          what, "that reference is \(strength), not strong", mend: "there is nothing to weaken",
          status: .usage)
      }
      if fields.isEmpty { continue }
      let sorted = fields.sorted()
      let field = String(wanted.edge.dropFirst(type.count + 1))
      let guess = Spelling.nearest(to: field, among: sorted).map { "did you mean \($0)? " } ?? ""
      let list = sorted.prefix(12).joined(separator: ", ") + (sorted.count > 12 ? ", …" : "")
      return CommandError(
        what, "\(type) has no such reference", mend: guess + "what it holds: \(list)",
        status: .usage)
    }
    let type = wanted.types.first ?? wanted.edge
    let guess = ObjectSearch.nearestType(to: type, in: graph)
    return CommandError(
      what, "no such reference in the snapshot",
      mend: guess.map { "did you mean \($0).FIELD?" }
        ?? "write it as a report shows it, TYPE.FIELD: memgraph leaks names edges, and memgraph object"
        + " shows what an object holds", status: .usage)
  }
}

/// What a caller wrote, taken apart.
private struct Wanted {
  /// The reference: `App.Client.onChange`.
  let edge: String

  /// What it leads to; nil for anything.
  var target: String?

  /// The task that it leaves, where it says which.
  let task: (number: UInt64, standing: String?)?

  /// What reports call a retain without a reference.
  static let unexplainedRetain = "a retain that no holder explains"

  init(_ text: String) {
    var edge = text
    var target: String?
    for arrow in [" -> ", " → "] {
      if let place = edge.firstRange(of: arrow) {
        target = String(edge[place.upperBound...]).trimmed
        edge = String(edge[..<place.lowerBound]).trimmed
      }
    }
    edge = edge.trimmed
    for note in [" [unsure]", " [unowned]", " [weak]"] where edge.hasSuffix(note) {
      edge.removeLast(note.count)
    }
    task = Self.task(in: edge)
    // As reports write the toolchain's types.
    self.edge = Names.sourceSpelling(of: Self.plain(edge))
    self.target = target.map {
      Names.sourceSpelling(
        of: $0.hasPrefix("(") && $0.hasSuffix(")") ? String($0.dropFirst().dropLast()) : $0)
    }
  }

  /// An edge as it is compared: without what a report alone writes, every index folded.
  private static func plain(_ edge: String) -> String {
    EdgeName.folded(withoutTaskNumber(withoutParentheses(edge)))
  }

  /// `(closure #1 in App.start()).self` and `(malloc[64] in f).+8` without the parentheses around the name.
  private static func withoutParentheses(_ edge: String) -> String {
    guard edge.hasPrefix("("), let close = edge.lastIndex(of: ")"),
      edge[close...].hasPrefix(").") || edge.index(after: close) == edge.endIndex
    else { return edge }
    return String(edge[edge.index(after: edge.startIndex)..<close])
      + edge[edge.index(after: close)...]
  }

  /// The number and the standing of `Task 41 (suspended in …).closure`, the number alone of `Task 41`; nil for another
  /// text.
  private static func task(in edge: String) -> (number: UInt64, standing: String?)? {
    guard let prefix = ["Task ", "async let "].first(where: edge.hasPrefix) else { return nil }
    let digits = edge.dropFirst(prefix.count).prefix { $0.isNumber }
    let rest = edge.dropFirst(prefix.count + digits.count)
    if let number = UInt64(digits), rest.isEmpty || rest.first == "." { return (number, nil) }
    guard let open = edge.firstIndex(of: "("),
      let number = UInt64(edge[..<open].dropFirst(prefix.count).filter { $0 != " " }),
      let close = closing(of: open, in: edge)
    else { return nil }
    return (number, String(edge[edge.index(after: open)..<close]))
  }

  /// The parenthesis that closes another one.
  private static func closing(of open: String.Index, in text: String) -> String.Index? {
    var depth = 0
    for place in text[open...].indices {
      if text[place] == "(" { depth += 1 }
      if text[place] == ")" { depth -= 1 }
      if depth == 0 { return place }
    }
    return nil
  }

  /// `Task 41 (suspended in …).closure` as `Task.closure`.
  private static func withoutTaskNumber(_ edge: String) -> String {
    if let prefix = ["Task ", "async let "].first(where: edge.hasPrefix) {
      let rest = edge.dropFirst(prefix.count).drop { $0.isNumber }
      if rest.count < edge.count - prefix.count, rest.isEmpty || rest.first == "." {
        return "Task" + rest
      }
    }
    guard edge.hasPrefix("Task "), let open = edge.firstIndex(of: "("),
      let close = closing(of: open, in: edge)
    else { return edge }
    return "Task" + edge[edge.index(after: close)...]
  }

  /// What may be the type: everything before each dot, the longest first.
  var types: [String] {
    edge.indices.filter { edge[$0] == "." }.reversed().map { String(edge[..<$0]) }
  }

  func matches(_ text: EdgeName, byPrefix: Bool) -> Bool {
    guard matchesTarget(text) else { return false }
    if Self.plain(text.title) == edge { return true }
    // All words of C memory that reports call the same.
    if edge.hasSuffix(".+*"), TypePattern.glob(edge, Self.plain(text.title)) { return true }
    if text.field.isEmpty || text.module.isEmpty, matchesWhole(EdgeName.folded(text.title)) {
      return true
    }
    if let closure = text.closure {
      if TypePattern.glob(edge, closure) || TypePattern.glob(edge, closure + "." + text.capture) {
        return true
      }
    }
    if text.holder.contains(" "), TypePattern.glob(edge, text.holder) { return true }
    if byPrefix {
      return FieldPattern(edge).matches(field: text.field, type: text.holder, module: text.module)
    }
    return types.contains { type in
      TypePattern.glob(String(edge.dropFirst(type.count + 1)), text.field)
        && TypePattern(type).matches(text.holder, module: text.module)
    } || TypePattern.glob(edge, text.field)
  }

  /// A variable's name, with `static` or without, with the module or without.
  private func matchesWhole(_ title: String) -> Bool {
    let plain = title.hasPrefix("static ") ? String(title.dropFirst("static ".count)) : title
    if TypePattern.glob(edge, title) || TypePattern.glob(edge, plain) { return true }
    guard let dot = plain.firstIndex(of: ".") else { return false }
    return TypePattern.glob(edge, String(plain[plain.index(after: dot)...]))
  }

  private func matchesTarget(_ text: EdgeName) -> Bool {
    guard let target else { return true }
    return [text.target, text.targetType, text.closure ?? ""].contains {
      TypePattern.glob(target, $0) || $0 == target
    }
  }

  /// How a type holds by a field of this name that isn't strong; nil where it has no such field.
  func strength(in graph: HeapGraph, by pattern: TypePattern) -> String? {
    let field = edge.split(separator: ".").last.map(String.init) ?? edge
    for node in graph.nodes(ofType: pattern).prefix(1_000) {
      for row in graph.edges(of: node) {
        let edge = EdgeIndex(row)
        let strength = graph.info(of: edge).strength
        if strength != .strong, graph.label(of: edge).foldedText == field { return strength.name }
      }
    }
    return nil
  }
}

extension String {
  fileprivate var trimmed: String {
    var text = self[...]
    while text.first == " " { text = text.dropFirst() }
    while text.last == " " { text = text.dropLast() }
    return String(text)
  }
}
