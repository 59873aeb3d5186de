// EdgeTable: references as capture finds them, typed ones first, then the words that counts allow.

internal import GraphPrimitives
internal import SnapshotFormat

/// References between blocks, in the order in which they were found.
struct EdgeTable {
  var from: [UInt32] = []
  var to: [UInt32] = []
  var label: [LabelIndex] = []
  var info: [EdgeInfo] = []

  mutating func append(from: Int, to: Int, label: LabelIndex, info: EdgeInfo) {
    self.from.append(UInt32(from))
    self.to.append(UInt32(to))
    self.label.append(label)
    self.info.append(info)
  }

  var count: Int { from.count }

  /// The edges that don't lead from and to the same blocks as one of some others.
  ///
  /// What the program declares is often a word of the block as well, found once more by scanning: the
  /// declared reference has the better name.
  ///
  /// - Complexity: O(edges).
  func without(_ others: EdgeTable) -> EdgeTable {
    if others.count == 0 { return self }
    func pair(_ table: EdgeTable, _ edge: Int) -> UInt64 {
      UInt64(table.from[edge]) << 32 | UInt64(table.to[edge])
    }
    let known = Set((0..<others.count).map { pair(others, $0) })
    var rest = EdgeTable()
    for edge in 0..<count where !known.contains(pair(self, edge)) {
      rest.append(from: Int(from[edge]), to: Int(to[edge]), label: label[edge], info: info[edge])
    }
    return rest
  }
}

/// References by the block that they come from, in compressed sparse row form; those of a block in the order in which they
/// were found.
struct EdgeRows {
  /// Where each block's references start; one more than there are blocks.
  private(set) var first: [UInt32]
  private(set) var to: [UInt32]
  private(set) var label: [LabelIndex]
  private(set) var info: [EdgeInfo]

  /// Orders a table, whose columns are given up one by one: as long as they are in order they are taken as they are.
  ///
  /// - Complexity: O(nodes + edges).
  init(_ table: consuming EdgeTable, nodeCount: Int) {
    first = [UInt32](repeating: 0, count: nodeCount + 1)
    var isInOrder = true
    var previous: UInt32 = 0
    for from in table.from {
      isInOrder = isInOrder && from >= previous
      previous = from
      first[Int(from) + 1] += 1
    }
    for node in 0..<nodeCount { first[node + 1] += first[node] }
    to = table.to
    label = table.label
    info = table.info
    if isInOrder { return }

    // Where each edge goes, in place of where it comes from.
    var place = table.from
    table = EdgeTable()
    var next = first
    for edge in place.indices {
      let from = Int(place[edge])
      place[edge] = next[from]
      next[from] += 1
    }
    next = []
    Self._move(&to, to: place)
    Self._move(&label, to: place)
    Self._move(&info, to: place)
  }

  private static func _move<Element>(_ column: inout [Element], to place: [UInt32]) {
    column = [Element](unsafeUninitializedCapacity: column.count) { moved, count in
      for edge in column.indices {
        moved.initializeElement(at: Int(place[edge]), to: column[edge])
      }
      count = column.count
    }
  }

  var count: Int { to.count }

  /// The places of a block's references.
  @inline(__always)
  func edges(of node: Int) -> Range<Int> { Int(first[node])..<Int(first[node + 1]) }

  /// The references of some tables, those of a block in the order of the tables, which are given up column by column.
  ///
  /// - Parameter label: What a label is called in the snapshot.
  /// - Complexity: O(nodes + edges), and memory for one more column than there is in the end.
  static func columns(
    of tables: consuming [EdgeRows], nodeCount: Int, label: (LabelIndex) -> LabelIndex
  ) -> Snapshot.Edges {
    tables.removeAll { $0.count == 0 }
    let count = tables.reduce(0) { $0 + $1.count }
    func column<Source, Element: BitwiseCopyable>(
      _ rows: [[Source]], _ element: (Source) -> Element
    ) -> Column<Element> {
      Column(count: count) { column in
        var place = 0
        for node in 0..<nodeCount {
          for table in tables.indices {
            for edge in tables[table].edges(of: node) {
              column.initializeElement(at: place, to: element(rows[table][edge]))
              place += 1
            }
          }
        }
      }
    }
    let target = column(tables.map(\.to)) { $0 }
    for table in tables.indices { tables[table].to = [] }
    let labels = column(tables.map(\.label)) { label($0).rawValue }
    for table in tables.indices { tables[table].label = [] }
    let info = column(tables.map(\.info), \.rawValue)
    for table in tables.indices { tables[table].info = [] }
    let firstEdge = Column<UInt32>(count: nodeCount + 1) { rows in
      for node in 0...nodeCount {
        rows.initializeElement(at: node, to: tables.reduce(0) { $0 + $1.first[node] })
      }
    }
    return Snapshot.Edges(firstEdge: firstEdge, target: target, label: labels, info: info)
  }
}

/// Ranges of words without a type, by the block that they are in.
struct UntypedRanges {
  var row: [UInt32] = []
  var start: [UInt64] = []
  var end: [UInt64] = []
  var label: [LabelIndex] = []

  mutating func append(row: Int, range: Range<UInt64>, label: LabelIndex) {
    self.row.append(UInt32(row))
    start.append(range.lowerBound)
    end.append(range.upperBound)
    self.label.append(label)
  }

  /// The ranges from a place on.
  func ranges(from first: Int) -> some Sequence<Range<UInt64>> {
    (first..<row.count).lazy.map { start[$0]..<max(start[$0], end[$0]) }
  }

  /// Puts the ranges in ascending order of row, those of a row as they were.
  mutating func sortByRow() {
    let order = row.indices.sorted { row[$0] != row[$1] ? row[$0] < row[$1] : $0 < $1 }
    row = order.map { row[$0] }
    start = order.map { start[$0] }
    end = order.map { end[$0] }
    label = order.map { label[$0] }
  }

  /// Where each row's ranges start, given that they were appended in ascending order of row.
  func firstRange(nodeCount: Int) -> [UInt32] {
    var first = [UInt32](repeating: 0, count: nodeCount + 1)
    for owner in row { first[Int(owner) + 1] += 1 }
    for node in 0..<nodeCount { first[node + 1] += first[node] }
    return first
  }
}
