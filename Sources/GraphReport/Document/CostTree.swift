// CostTree: lines of text in a tree, each with what it costs, of which the dearest are shown.

internal import GraphPrimitives

/// Lines in a tree, each with a cost that is at least that of each line below it.
struct CostTree {
  /// A line, and the lines below it.
  struct Row {
    var text: Line
    var cost: Cost

    /// How many samples the cost is estimated from.
    var samples = 0

    /// Positions of the lines below, the dearest first.
    var children: [Int] = []
  }

  /// The rows, each after the row that it is below.
  private(set) var rows: [Row] = []

  /// The rows that are below none, the dearest first.
  private(set) var tops: [Int] = []

  /// Adds a row below another, after those that are there already.
  ///
  /// - Parameter parent: nil for a row that is below none.
  @discardableResult
  mutating func append(
    _ text: Line, cost: Cost, samples: Int = 0, below parent: Int? = nil
  ) -> Int {
    rows.append(Row(text: text, cost: cost, samples: samples))
    if let parent {
      rows[parent].children.append(rows.count - 1)
    } else {
      tops.append(rows.count - 1)
    }
    return rows.count - 1
  }

  /// The lines of the tree, depth first; the dearest lines where there is a limit.
  ///
  /// - Parameter keepsRuns: Whether a run of lines in which each has just one below it stays at one
  ///   depth, so that depth means choice.
  /// - Complexity: O(*n* log *n*) for *n* rows.
  func branches(
    limit: Int?, keepsRuns: Bool, cells: (Row) -> [Line]
  ) -> (shown: [Document.Branch], omitted: Int) {
    var isShown = [Bool](repeating: limit == nil, count: rows.count)
    if let limit {
      // A row costs at least what one below it does and stands before it, so no line lacks its own.
      let dearest = rows.indices.sorted {
        let (left, right) = (rows[$0].cost, rows[$1].cost)
        if left.bytes != right.bytes { return left.bytes > right.bytes }
        return left.count != right.count ? left.count > right.count : $0 < $1
      }
      for row in dearest.prefix(limit) { isShown[row] = true }
    }
    var shown: [Document.Branch] = []
    var pending = tops.reversed().map { (row: $0, depth: 0) }
    while let (position, depth) = pending.popLast() {
      guard isShown[position] else { continue }
      let row = rows[position]
      shown.append(Document.Branch(depth: depth, cells: cells(row), text: row.text))
      let deeper = depth + (keepsRuns && row.children.count <= 1 ? 0 : 1)
      pending += row.children.reversed().map { (row: $0, depth: deeper) }
    }
    return (shown, rows.count - shown.count)
  }
}

extension Document {
  /// The lines of a tree and what was left out of them, named by `noun`.
  static func tree(
    _ branches: (shown: [Branch], omitted: Int), _ noun: String
  ) -> [Block] {
    var blocks: [Block] = [.tree(branches.shown)]
    if branches.omitted > 0 {
      blocks.append(
        .paragraph(
          Line("… and \(Units.count(branches.omitted, "more " + noun)) (--limit all)", .faint)))
    }
    return blocks
  }
}
