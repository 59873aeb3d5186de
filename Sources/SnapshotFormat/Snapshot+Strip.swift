// Snapshot+Strip: a snapshot without what says whose it is.

internal import GraphPrimitives

extension Snapshot {
  /// A copy without paths, and without the program's names where that is asked for.
  ///
  /// Of a path the last part stays. Without names there are numbers in their place: types, modules, fields,
  /// registered names, marks, threads; build ids and diagnostics are left out. What reports go by stays: `capture`,
  /// `frame` and `task-local` at the beginning of a label, positions in containers, and which names are alike.
  ///
  /// - Complexity: O(*t*) for *t* rows of tables of names. Columns of nodes and edges are shared with the original.
  public func stripped(ofNames: Bool) -> Snapshot {
    var copy = self
    copy.process.executable = Self._lastPart(process.executable)
    for row in copy.modules.indices {
      copy.modules[row].path = Self._lastPart(copy.modules[row].path)
    }
    if ofNames { copy._dropNames() }
    return copy
  }

  private static func _lastPart(_ path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? ""
  }

  private mutating func _dropNames() {
    let old = strings
    var texts = [""]
    var rowByText: [String: UInt32] = ["": 0]
    func row(_ text: String) -> UInt32 {
      if let row = rowByText[text] { return row }
      rowByText[text] = UInt32(texts.count)
      texts.append(text)
      return UInt32(texts.count - 1)
    }

    /// Numbers what is alike alike; the empty text stays empty.
    func renamed(
      _ column: Column<UInt32>, noting newByOld: inout [UInt32: UInt32],
      as text: (String, Int) -> String
    ) -> Column<UInt32> {
      var numbers = 0
      return Column(
        column.map { name in
          if let known = newByOld[name] { return known }
          let before = old[name]
          if !before.isEmpty { numbers += 1 }
          let new = before.isEmpty ? 0 : row(text(before, numbers))
          newByOld[name] = new
          return new
        })
    }
    var (newModules, newTypes, newLabels): ([UInt32: UInt32], [UInt32: UInt32], [UInt32: UInt32]) =
      ([:], [:], [:])
    types.module = renamed(types.module, noting: &newModules) { "Module\($1)" }
    types.name = renamed(types.name, noting: &newTypes) { "Type\($1)" }
    labels.name = renamed(labels.name, noting: &newLabels) { before, number in
      // The words that reports know stand before the first dot.
      let dot = before.firstIndex(of: ".") ?? before.endIndex
      let isKnown = ["capture", "frame", "task-local"].contains(String(before[..<dot]))
      guard isKnown else { return "field\(number)" }
      return String(before[..<dot]) + (dot == before.endIndex ? "" : ".field\(number)")
    }
    // What is said of a field that no edge goes by is of no use without its name.
    let declared = fields.type.indices.compactMap { row in
      newLabels[fields.name[row]].map { (fields.type[row], $0, fields.declaration[row]) }
    }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
    fields = Fields(
      type: Column(declared.map(\.0)), name: Column(declared.map(\.1)),
      declaration: Column(declared.map(\.2)))
    var names: [NodeIndex: StringIndex] = [:]
    for (number, entry) in nodeNames.sorted(by: { $0.key < $1.key }).enumerated() {
      names[entry.key] = StringIndex(rawValue: row("name\(number + 1)"))
    }
    nodeNames = names
    strings = StringTable(texts)

    process.executable = process.executable.isEmpty ? "" : "program"
    let marked = marks.lastIndex { $0.name == process.mark }
    for row in marks.indices { marks[row].name = "mark-\(row + 1)" }
    process.mark = process.mark.isEmpty ? "" : marked.map { marks[$0].name } ?? "mark"
    for row in threads.indices { threads[row].name = "" }
    for row in modules.indices {
      modules[row].path = "module-\(row + 1)"
      modules[row].buildID = ""
    }
    diagnostics =
      diagnostics.isEmpty
      ? []
      : [
        Diagnostic(
          text: "a note of the capture was left out with the names",
          count: Int(clamping: diagnostics.reduce(0) { $0 &+ $1.count }))
      ]
  }
}
