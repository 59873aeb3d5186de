// Vocabulary: which bytes a column of kinds may hold, and what an unknown one of a newer version becomes.

/// The values that a column of bytes may hold.
internal struct Vocabulary {
  /// What a value is called in an error.
  let noun: String

  /// What a byte is read as; nil for a byte that this version doesn't know.
  private let _isKnown: [Bool]

  /// What each byte is read as in a file of a newer minor version.
  private let _substitute: [UInt8]

  private init(_ noun: String, isKnown: (UInt8) -> Bool, substitute: (UInt8) -> UInt8) {
    self.noun = noun
    _isKnown = (UInt8.min...UInt8.max).map(isKnown)
    _substitute = (UInt8.min...UInt8.max).map { isKnown($0) ? $0 : substitute($0) }
  }

  static let kind = Vocabulary(
    "kind of node", isKnown: { NodeKind(rawValue: $0) != nil },
    substitute: { _ in NodeKind.block.rawValue })

  static let state = Vocabulary(
    "state of a node", isKnown: { NodeState(rawValue: $0) != nil },
    substitute: { _ in NodeState.live.rawValue })

  static let root = Vocabulary(
    "kind of root", isKnown: { RootKind(rawValue: $0) != nil },
    substitute: { _ in RootKind.runtime.rawValue })

  /// Strength and provenance; an unknown strength holds its target, since a false leak is the worst
  /// that a reader can say.
  static let info = Vocabulary(
    "strength and provenance",
    isKnown: {
      EdgeStrength(rawValue: $0 & 15) != nil && EdgeProvenance(rawValue: $0 >> 4) != nil
    },
    substitute: {
      EdgeInfo(
        EdgeStrength(rawValue: $0 & 15) ?? .strong, EdgeProvenance(rawValue: $0 >> 4) ?? .scanned
      ).rawValue
    })

  /// The first row that holds an unknown value.
  ///
  /// - Complexity: O(*n*).
  func firstUnknown(in column: Column<UInt8>) -> Int? {
    _isKnown.withUnsafeBufferPointer { isKnown in
      column.withUnsafeBufferPointer { rows in
        var row = 0
        while row < rows.count, isKnown[Int(rows[row])] { row += 1 }
        return row < rows.count ? row : nil
      }
    }
  }

  /// The column with every unknown value replaced, and how many there were; the column itself if there
  /// were none.
  func substituted(_ column: Column<UInt8>) -> (column: Column<UInt8>, count: Int) {
    guard firstUnknown(in: column) != nil else { return (column, 0) }
    let count = column.count { !_isKnown[Int($0)] }
    let known = Column<UInt8>(count: column.count) { rows in
      for row in column.indices {
        rows.initializeElement(at: row, to: _substitute[Int(column[row])])
      }
    }
    return (known, count)
  }
}
