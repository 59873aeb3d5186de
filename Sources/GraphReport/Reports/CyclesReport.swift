// CyclesReport: every cycle of references, the reachable ones too.

package import GraphAnalysis
internal import GraphPrimitives

/// Cycles of references, grouped by types and fields.
package struct CyclesReport: Report {
  private let _groups: [CycleGroup]
  private let _names: Names

  /// - Parameter groups: What to show, leaked ones first.
  package init(groups: [CycleGroup], names: Names) {
    _groups = groups
    _names = names
  }

  package var findings: [JSONValue] { [] }

  package var members: [JSONValue.Member] {
    [
      JSONValue.Member(
        "cycles",
        .array(
          _groups.map { group in
            .members([
              "reachable": .bool(group.isReachable),
              "fingerprint": .string(group.fingerprint),
              "type": .string(type(of: group)),
              "count": .integer(group.members.count),
              "objects": group.cost.json,
              "cycle": .array(StepText.texts(ofCycle: group.cycle, names: _names).map(\.json)),
              "cut": cut(of: group).map { $0.json(step: group.cycle.firstIndex(of: $0.cut.step)) },
            ])
          }))
    ]
  }

  private func type(of group: CycleGroup) -> String {
    guard let first = group.cycle.first else { return "" }
    return _names.typeName(of: first.node, reachedBy: group.cycle.last?.edges.last)
  }

  private func cut(of group: CycleGroup) -> CutText? {
    group.cuts.first.map {
      CutText(cut: $0, cycle: group.cycle, path: nil, target: type(of: group), names: _names)
    }
  }

  package func document(limit: Int?) -> Document {
    let leaked = _groups.filter { !$0.isReachable }.reduce(0) { $0 + $1.members.count }
    let reachable = _groups.filter(\.isReachable).reduce(0) { $0 + $1.members.count }
    guard leaked + reachable > 0 else { return Document(answer: Line("No cycles.", .good)) }
    var document = Document(
      answer: Line(
        "\(Units.count(leaked + reachable, "cycle")) in \(Units.count(_groups.count, "group")): ")
        + Line("\(Units.number(leaked)) leaked", leaked > 0 ? .bad : .good)
        + Line(", \(Units.number(reachable)) held by roots"))
    for (place, group) in _groups.prefix(limit ?? .max).enumerated() {
      let title =
        Line("\(Units.number(group.members.count)) × ") + Line(type(of: group), .code)
        + (group.isReachable ? Line(", held by roots, ") : Line(", leaked, ", .bad))
        + Line("\(Units.bytes(group.cost.bytes)) in \(Units.count(group.cost.count, "object"))")
      var details = [
        Document.Detail("cycle", chain: StepText.chain(ofCycle: group.cycle, names: _names))
      ]
      // What holds a reachable cycle lets it go; a cut is only of use where nothing does.
      if !group.isReachable, let cut = cut(of: group) { details += cut.details }
      if let first = group.members.first {
        details.append(Document.Detail("at", Line(_names.address(of: first).description, .faint)))
      }
      details.append(Document.Detail("id", Line(group.fingerprint, .faint)))
      document.blocks.append(
        .item(Document.Item(number: place + 1, title: title, details: details)))
    }
    if let rest = Document.omission(_groups.count, limit: limit, "group") {
      document.blocks.append(rest)
    }
    return document
  }
}
