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

  /// The strong references of some tables by source, in compressed sparse row form.
  static func strongSuccessors(
    of tables: [EdgeTable], nodeCount: Int
  ) -> (first: [UInt32], target: [UInt32]) {
    var first = [UInt32](repeating: 0, count: nodeCount + 1)
    for table in tables {
      for edge in table.from.indices where table.info[edge].isStrong {
        first[Int(table.from[edge]) + 1] += 1
      }
    }
    for node in 0..<nodeCount { first[node + 1] += first[node] }
    var target = [UInt32](repeating: 0, count: Int(first[nodeCount]))
    var next = first
    for table in tables {
      for edge in table.from.indices where table.info[edge].isStrong {
        let source = Int(table.from[edge])
        target[Int(next[source])] = table.to[edge]
        next[source] += 1
      }
    }
    return (first, target)
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
