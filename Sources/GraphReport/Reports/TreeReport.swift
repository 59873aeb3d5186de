// TreeReport: what would go with what: the dominator tree with retained sizes.

package import GraphAnalysis
package import GraphPrimitives

/// The dominator tree, equal objects folded into one line.
package struct TreeReport: Report {
  private let _groups: [DominatedGroup]
  private let _tops: [Int]
  private let _subject: String
  private let _asked: Cost
  private let _suggestion: String?
  private let _live: Cost
  private let _names: Names

  /// How deep the tree goes in JSON; readers have limits of their own.
  private static let deepest = 200

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - subject: What was asked for: a type, a pattern or an address; empty for the whole tree.
  ///   - asked: The objects that it names, or all that are alive.
  ///   - live: All that reports count as live: what is neither destroyed nor the runtime's own.
  ///   - suggestion: A type of the snapshot that may have been meant where there are no objects.
  package init(
    _ tree: DominatedGroups, subject: String, asked: Cost, live: Cost, suggestion: String?,
    names: Names
  ) {
    _groups = tree.groups
    _tops = tree.tops
    _subject = subject
    _asked = asked
    _suggestion = suggestion
    _live = live
    _names = names
  }

  package var findings: [JSONValue] { [] }

  private var retained: Cost { _tops.reduce(.zero) { $0 + _groups[$1].retained } }

  package var members: [JSONValue.Member] {
    [
      JSONValue.Member(
        "tree",
        .members([
          "subject": _subject.isEmpty ? nil : .string(_subject),
          "objects": _asked.json,
          "retained": retained.json,
          "children": .array(_tops.map { json(of: $0, depth: 1) }),
        ]))
    ]
  }

  private func json(of number: Int, depth: Int) -> JSONValue {
    let group = _groups[number]
    var members: [JSONValue.Member] = [JSONValue.Member("type", .string(type(of: group)))]
    switch group.hold {
    case .root(let root):
      let (kind, name) = _names.root(root)
      members.append(
        JSONValue.Member("root", .members(["kind": .string(kind), "name": .string(name)])))
    case .edge: members.append(JSONValue.Member("field", .string(field(of: group))))
    case .several: members.append(JSONValue.Member("heldBy", "several"))
    case .leaked: members.append(JSONValue.Member("heldBy", "nothing: leaked"))
    case .unknown: members.append(JSONValue.Member("heldBy", "unknown"))
    case .destroyed: members.append(JSONValue.Member("heldBy", "unowned references"))
    case .asked: break
    }
    members += [
      JSONValue.Member("own", group.own.json), JSONValue.Member("retained", group.retained.json),
      JSONValue.Member("address", .string(_names.address(of: group.representative).description)),
    ]
    let children = depth < Self.deepest ? group.children : []
    members.append(
      JSONValue.Member("children", .array(children.map { json(of: $0, depth: depth + 1) })))
    return .object(members)
  }

  private func type(of group: DominatedGroup) -> String {
    var edge: EdgeIndex?
    if case .edge(let leading) = group.hold { edge = leading }
    return _names.typeName(of: group.representative, reachedBy: edge)
  }

  /// The field that holds a group's objects, indices folded where there are several objects.
  private func field(of group: DominatedGroup) -> String {
    guard case .edge(let edge) = group.hold, let parent = group.parent else { return "" }
    var leading: EdgeIndex?
    if case .edge(let above) = _groups[parent].hold { leading = above }
    let field = _names.field(
      from: _names.source(of: edge), by: [edge], reachedBy: leading)
    return group.own.count > 1 ? Names.foldingIndices(field) : field
  }

  /// A group as a line: `.listeners[_]  12 × App.Listener`.
  private func text(of group: DominatedGroup) -> Line {
    let objects =
      (group.own.count > 1 ? Line("\(Units.number(group.own.count)) × ") : Line(""))
      + Line(type(of: group), .code)
    switch group.hold {
    case .root(let root):
      let (kind, name) = _names.root(root)
      return Line(name, kind == "stack" || kind == "register" ? .plain : .code) + Line(": ")
        + objects
    case .edge:
      let field = field(of: group)
      if field.isEmpty { return objects }
      return Line(field.first == "[" ? field : "." + field, .code) + Line("  ") + objects
    case .several: return objects + Line(" (held in several ways)", .faint)
    case .leaked: return objects + Line(" (leaked)", .bad)
    case .unknown: return objects + Line(" (no holder was found)", .faint)
    case .destroyed: return objects + Line(" (destroyed, memory kept by unowned references)", .bad)
    case .asked: return objects
    }
  }

  package func document(limit: Int?) -> Document {
    guard !_tops.isEmpty else {
      return Document(
        answer: Line("No object of type ") + Line(_subject, .code)
          + Line(" is alive" + (_suggestion.map { "; did you mean \($0)?" } ?? ".")))
    }
    let total = retained
    var answer = Line("")
    if _subject.isEmpty {
      answer = Line(
        "\(Units.count(total.count, "object")), \(Units.bytes(total.bytes)), by what would go with what"
      )
      if let first = _tops.first {
        answer += Line(": the most, \(Units.bytes(_groups[first].retained.bytes)), with ")
        answer += title(of: _groups[first])
      }
    } else {
      answer = Line("\(Units.number(_asked.count)) × ") + Line(_subject, .code)
      answer += Line(
        ": \(Units.bytes(total.bytes)) in \(Units.count(total.count, "object"))"
          + " would go with \(_asked.count == 1 ? "it" : "them")")
    }
    var document = Document(answer: answer)
    document.blocks += Document.tree(
      lines.branches(limit: limit, keepsRuns: false) { row in
        [Line(Units.bytes(row.cost.bytes)), Line(Units.number(row.cost.count))]
      }, "line")
    let others = total - _live
    if _subject.isEmpty, others.count > 0 {
      document.blocks.append(
        .paragraph(
          Line(
            "\(Units.count(others.count, "object")), \(Units.bytes(others.bytes)), of these"
              + " \(others.count == 1 ? "is" : "are") the runtime's own or destroyed: memgraph summary does not"
              + " count \(others.count == 1 ? "it" : "them") as live.", .faint)))
    }
    document.blocks += DiagnosticsText.hint(_names.snapshot)
    return document
  }

  /// What a reader knows a group by: the variable, else the type.
  private func title(of group: DominatedGroup) -> Line {
    guard case .root(let root) = group.hold else { return Line(type(of: group), .code) }
    return Line(_names.root(root).name, .code)
  }

  /// The groups as lines.
  private var lines: CostTree {
    var tree = CostTree()
    var pending = _tops.reversed().map { (group: $0, parent: Int?.none) }
    while let (number, parent) = pending.popLast() {
      let group = _groups[number]
      let line = tree.append(text(of: group), cost: group.retained, below: parent)
      pending += group.children.reversed().map { (group: $0, parent: line) }
    }
    return tree
  }
}
