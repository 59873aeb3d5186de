// Difference: what was born and what died between two snapshots.

internal import GraphPrimitives
public import SnapshotFormat

/// Compares two snapshots by identity.
///
/// Addresses are used again, so an address alone identifies nothing; with the generation of birth it
/// does. An object that the later snapshot has at an address, born in a generation that the earlier one's
/// mark had ended, is the one that lived there then. This is exact between any two marks of one run.
///
/// Where a snapshot was taken without a mark, objects of the generation that was open then may be older
/// or younger: they count as the same where type and size agree, and the result is not called exact if
/// there are any. Without generations (no agent) that holds for all. Snapshots of different runs
/// have no identities in common; objects of equal type and size are paired, so what is left over is the
/// difference in numbers.
///
/// Where allocations were sampled, a sample is told apart as above. What is no sample has no generation: such objects
/// count as the same where type and size agree, and never as one that is a sample.
///
/// Destroyed objects and the runtime's own memory are not alive on either side.
///
/// - Complexity: O(*V*) for snapshots of one run, since both are in order of address.
public func difference(from first: Snapshot, to last: Snapshot) -> SnapshotDifference {
  guard first.process.runIdentity == last.process.runIdentity else {
    return _differenceByType(from: first, to: last)
  }
  let firstEnd = _endedGeneration(of: first)
  let lastEnd = _endedGeneration(of: last)
  if lastEnd.generation < firstEnd.generation {
    let reverse = difference(from: last, to: first)
    return SnapshotDifference(
      born: reverse.died, died: reverse.born, survived: reverse.survived.map { ($1, $0) },
      isExact: reverse.isExact)
  }

  var result = SnapshotDifference(born: [], died: [], survived: [], isExact: true)
  let hasGenerations = first.process.hasAgent && last.process.hasAgent
  if !hasGenerations { result.isExact = false }
  let isEqualType = _TypeMatch(first, last)
  var left = 0
  var right = 0
  while left < first.nodes.count || right < last.nodes.count {
    let leftAddress = left < first.nodes.count ? first.nodes.address[left] : .max
    let rightAddress = right < last.nodes.count ? last.nodes.address[right] : .max
    let isLeft = leftAddress <= rightAddress && left < first.nodes.count
    let isRight = rightAddress <= leftAddress && right < last.nodes.count
    let wasAlive = isLeft && _isAlive(first, left)
    let isAlive = isRight && _isAlive(last, right)
    var isSame = false
    if isLeft && isRight {
      let generation = Int(last.nodes.generation[right])
      let knowsFirst = first.knowsBirth(of: NodeIndex(left))
      let knowsLast = last.knowsBirth(of: NodeIndex(right))
      if hasGenerations && !(knowsFirst && knowsLast) {
        isSame =
          knowsFirst == knowsLast && isEqualType(left, right)
          && first.nodes.size[left] == last.nodes.size[right]
        if isSame { result.isExact = false }
      } else if hasGenerations && generation <= firstEnd.generation {
        isSame = true
      } else if !hasGenerations || (!firstEnd.isAtMark && generation == firstEnd.generation + 1) {
        isSame =
          isEqualType(left, right) && first.nodes.size[left] == last.nodes.size[right]
          && first.nodes.generation[left] == last.nodes.generation[right]
        if isSame { result.isExact = false }
      }
    }
    switch (wasAlive, isAlive) {
    case (true, true) where isSame:
      result.survived.append((NodeIndex(left), NodeIndex(right)))
    case (let wasAlive, let isAlive):
      if wasAlive { result.died.append(NodeIndex(left)) }
      if isAlive { result.born.append(NodeIndex(right)) }
    }
    if isLeft { left += 1 }
    if isRight { right += 1 }
  }
  return result
}

/// The last generation that had ended when a snapshot was taken, -1 for none, and whether the snapshot
/// was taken at the very mark that ended it.
private func _endedGeneration(of snapshot: Snapshot) -> (generation: Int, isAtMark: Bool) {
  guard let last = snapshot.marks.last else { return (-1, false) }
  return (
    Int(last.generation), !snapshot.process.mark.isEmpty && last.name == snapshot.process.mark
  )
}

private func _isAlive(_ snapshot: Snapshot, _ row: Int) -> Bool {
  snapshot.nodes.state[row] != NodeState.deinited.rawValue
    && snapshot.nodes.kind[row] != NodeKind.runtime.rawValue
}

/// Compares the types of rows of two snapshots, whose type tables may number them differently.
private struct _TypeMatch {
  private let _first: Column<UInt32>
  private let _last: Column<UInt32>

  /// For each type of the first snapshot its row in the last; `UInt32.max` for none.
  private let _rowInLast: [UInt32]

  init(_ first: Snapshot, _ last: Snapshot) {
    _first = first.nodes.type
    _last = last.nodes.type
    var rowByName: [String: UInt32] = [:]
    for row in 0..<last.types.count {
      rowByName[last.strings[last.types.name[row]]] = UInt32(row)
    }
    _rowInLast = (0..<first.types.count).map {
      rowByName[first.strings[first.types.name[$0]]] ?? UInt32.max
    }
  }

  /// The row in the last snapshot of the type of a node of the first.
  func rowInLast(ofNode left: Int) -> UInt32 { _rowInLast[Int(_first[left])] }

  func callAsFunction(_ left: Int, _ right: Int) -> Bool { rowInLast(ofNode: left) == _last[right] }
}

/// Pairs nodes of equal type and size, in order of address.
private func _differenceByType(from first: Snapshot, to last: Snapshot) -> SnapshotDifference {
  struct Key: Hashable {
    var type: UInt32
    var size: UInt32
  }
  let match = _TypeMatch(first, last)
  var result = SnapshotDifference(born: [], died: [], survived: [], isExact: false)
  var waiting: [Key: [Int]] = [:]
  for row in (0..<first.nodes.count).reversed() where _isAlive(first, row) {
    let type = match.rowInLast(ofNode: row)
    if type == .max {
      result.died.append(NodeIndex(row))
    } else {
      waiting[Key(type: type, size: first.nodes.size[row]), default: []].append(row)
    }
  }
  for row in 0..<last.nodes.count where _isAlive(last, row) {
    let key = Key(type: last.nodes.type[row], size: last.nodes.size[row])
    if let partner = waiting[key]?.popLast() {
      result.survived.append((NodeIndex(partner), NodeIndex(row)))
    } else {
      result.born.append(NodeIndex(row))
    }
  }
  for rows in waiting.values { result.died.append(contentsOf: rows.map { NodeIndex($0) }) }
  result.died.sort()
  return result
}
