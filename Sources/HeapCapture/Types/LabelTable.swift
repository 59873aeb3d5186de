// LabelTable: the labels of references while a capture collects them.

package import GraphPrimitives
package import SnapshotFormat

/// The labels of references: each triple of name, index and function once, in the order in which they
/// were first asked for. Row 0 has no name.
///
/// Layouts refer to names by number, so that giving an array's element its label is a look-up in a
/// column and no text is made. Not thread-safe.
package final class LabelTable {
  /// A name's number. 0 is the empty name.
  struct Name: Hashable, BitwiseCopyable {
    let rawValue: UInt32
    static let empty = Name(rawValue: 0)
  }

  private struct Row: Hashable {
    var name: Name
    var index: UInt32
    var function: UInt64
  }

  private struct Pair: Hashable {
    var first: Name
    var second: Name
  }

  /// Elements from this index on are labelled `[_]`, as a dictionary's are: nobody reads the position
  /// of an object among so many, and each position is a row of the snapshot.
  static let firstUnnamedIndex: UInt32 = 1 << 16

  @exclusivity(unchecked) private var _texts: [String] = [""]
  private var _nameByText: [String: Name] = ["": .empty]
  @exclusivity(unchecked) private var _rows = [
    Row(name: .empty, index: Snapshot.Labels.noIndex, function: 0)
  ]
  @exclusivity(unchecked) private var _labelByRow: [Row: LabelIndex] = [
    Row(name: .empty, index: Snapshot.Labels.noIndex, function: 0): .none
  ]
  @exclusivity(unchecked) private var _joined: [Pair: Name] = [:]

  /// For each name the labels of its first indices, `LabelIndex.none` where not made yet.
  @exclusivity(unchecked) private var _labelsByIndex: [[LabelIndex]] = [[]]

  /// For each word near the beginning of a block its label, `LabelIndex.none` where not made yet.
  @exclusivity(unchecked) private var _labelsByWord: [LabelIndex] = []

  package init() {}

  /// The number of labels.
  package var count: Int { _rows.count }

  /// The row of a label, which is added where it is new.
  package func label(
    _ name: String, index: UInt32 = Snapshot.Labels.noIndex, function: UInt64 = 0
  ) -> LabelIndex {
    label(self.name(name), index: index, function: function)
  }

  /// What a row says.
  package func row(_ label: LabelIndex) -> (name: String, index: UInt32, function: UInt64) {
    let row = _rows[label.position]
    return (_texts[Int(row.name.rawValue)], row.index, row.function)
  }

  /// Adds all labels to a snapshot and says which row there each of them has.
  ///
  /// - Complexity: O(*n*) for *n* labels.
  package func copy(into builder: inout SnapshotBuilder) -> [LabelIndex] {
    let names = _texts.map { builder.string($0) }
    return _rows.map {
      builder.label(names[Int($0.name.rawValue)], index: $0.index, function: $0.function)
    }
  }

  func name(_ text: String) -> Name {
    if let name = _nameByText[text] { return name }
    let name = Name(rawValue: UInt32(_texts.count))
    _texts.append(text)
    _labelsByIndex.append([])
    _nameByText[text] = name
    return name
  }

  func text(of name: Name) -> String { _texts[Int(name.rawValue)] }

  /// The name of a path that goes on with another.
  func join(_ first: Name, _ second: Name) -> Name {
    if first == .empty { return second }
    if second == .empty { return first }
    let pair = Pair(first: first, second: second)
    if let name = _joined[pair] { return name }
    let name = name(joinPath(text(of: first), text(of: second)))
    _joined[pair] = name
    return name
  }

  func label(
    _ name: Name, index: UInt32 = Snapshot.Labels.noIndex, function: UInt64 = 0
  ) -> LabelIndex {
    let row = Row(name: name, index: index, function: function)
    if let label = _labelByRow[row] { return label }
    let label = LabelIndex(_rows.count)
    _rows.append(row)
    _labelByRow[row] = label
    return label
  }

  /// The label of a word that has no other name than its place in its block: `+24`.
  func place(_ place: UInt64) -> LabelIndex {
    // No text is made for what each word is asked for.
    guard place % 8 == 0, place < 1 << 16 else { return label("+\(place)") }
    let word = Int(place / 8)
    if word < _labelsByWord.count {
      if _labelsByWord[word] != .none { return _labelsByWord[word] }
    } else {
      _labelsByWord.append(
        contentsOf: repeatElement(.none, count: word + 1 - _labelsByWord.count))
    }
    let made = label("+\(place)")
    _labelsByWord[word] = made
    return made
  }

  /// The label of an element of an array.
  func element(_ name: Name, at index: Int) -> LabelIndex {
    if index >= Int(Self.firstUnnamedIndex) { return label(name, index: Snapshot.Labels.anyIndex) }
    let position = Int(name.rawValue)
    if index < _labelsByIndex[position].count {
      let label = _labelsByIndex[position][index]
      if label != .none { return label }
    } else {
      let missing = index + 1 - _labelsByIndex[position].count
      _labelsByIndex[position].append(contentsOf: repeatElement(.none, count: missing))
    }
    let label = label(name, index: UInt32(index))
    _labelsByIndex[position][index] = label
    return label
  }
}

/// A path of fields that goes on with another.
func joinPath(_ first: String, _ second: String) -> String {
  if first.isEmpty { return second }
  return second.isEmpty ? first : first + "." + second
}
