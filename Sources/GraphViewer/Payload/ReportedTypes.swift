// ReportedTypes: what is alive, leaked, born and died by the names under which reports count.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// The names under which reports count, as they write them, with what is alive, leaked, born and died of each.
///
/// Types of two libraries that are written the same are one.
struct ReportedTypes {
  private let _names: [String]
  private let _isOwn: Set<String>

  /// One for each snapshot.
  private let _live: [[String: Cost]]
  private let _changes: [(word: String, costs: [String: Cost])]
  let rowByName: [String: UInt32]

  init(_ input: ViewerInput) {
    _live = input.liveTypes.map { types in
      Self.spelled(types.lazy.map { ($0.key, $0.value.cost) })
    }
    _changes = [
      ("leaked", input.leaks.leaked), ("born", input.change?.bornTypes ?? .empty),
      ("died", input.change?.diedTypes ?? .empty),
    ].map { word, histogram in (word, Self.spelled(histogram.costByType.map { ($0, $1) })) }
    _isOwn = Set(
      input.liveTypes.flatMap { types in
        types.lazy.filter(\.value.isOwn).map { Names.sourceSpelling(of: $0.key) }
      })
    var names: Set<String> = []
    for costs in _live + _changes.map(\.costs) { names.formUnion(costs.keys) }
    // What is destroyed or the runtime's own is in none of those.
    let snapshot = input.graph.snapshot
    for type in 0..<snapshot.types.count {
      names.insert(Names.sourceSpelling(of: input.graph.name(of: TypeIndex(type))))
    }
    for name in snapshot.nodeNames.values {
      names.insert(Names.sourceSpelling(of: snapshot.strings[name]))
    }
    _names = names.sorted()
    rowByName = Dictionary(
      uniqueKeysWithValues: _names.enumerated().map { ($0.element, UInt32($0.offset)) })
  }

  private static func spelled(_ costs: some Sequence<(String, Cost)>) -> [String: Cost] {
    costs.reduce(into: [:]) { sums, entry in
      sums[Names.sourceSpelling(of: entry.0), default: .zero] += entry.1
    }
  }

  func columns(strings: inout StringPool) -> [ViewerColumn] {
    var name = ViewerColumn("report.name", .u32)
    var flags = ViewerColumn("report.flags", .bytes)
    var count = ViewerColumn("report.count", .u32)
    var bytes = ViewerColumn("report.bytes", .u53)
    for type in _names {
      name.append(strings.row(of: type))
      flags.append(byte: _isOwn.contains(type) ? 1 : 0)
      for costs in _live {
        let cost = costs[type] ?? .zero
        count.append(cost.count)
        bytes.append(cost.bytes.rawValue)
      }
    }
    var columns = [name, flags, count, bytes]
    for (word, costs) in _changes {
      var count = ViewerColumn("report.\(word)Count", .u32)
      var bytes = ViewerColumn("report.\(word)Bytes", .u53)
      for type in _names {
        count.append(costs[type]?.count ?? 0)
        bytes.append(costs[type]?.bytes.rawValue ?? 0)
      }
      columns += [count, bytes]
    }
    return columns
  }
}
