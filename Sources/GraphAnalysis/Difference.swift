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
/// - Complexity: O(*V*), since both are in order of address, or by a table of types and sizes.
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
  let isSampled = first.sampling != nil || last.sampling != nil
  result.survived.reserveCapacity(min(first.nodes.count, last.nodes.count))
  // Columns have as many rows as there are nodes, so rows need no further check.
  first.nodes.address.withUnsafeBufferPointer { leftAddresses in
    last.nodes.address.withUnsafeBufferPointer { rightAddresses in
      last.nodes.generation.withUnsafeBufferPointer { generations in
        let wasAlive = _Liveness(first)
        let isAlive = _Liveness(last)
        var left = 0
        var right = 0
        while left < leftAddresses.count || right < rightAddresses.count {
          let leftAddress = left < leftAddresses.count ? leftAddresses[left] : .max
          let rightAddress = right < rightAddresses.count ? rightAddresses[right] : .max
          let isLeft = leftAddress <= rightAddress && left < leftAddresses.count
          let isRight = rightAddress <= leftAddress && right < rightAddresses.count
          let wasThere = isLeft && wasAlive[left]
          let isThere = isRight && isAlive[right]
          var isSame = false
          if isLeft && isRight {
            let generation = Int(generations[right])
            let knowsFirst = !isSampled || first.knowsBirth(of: NodeIndex(left))
            let knowsLast = !isSampled || last.knowsBirth(of: NodeIndex(right))
            if hasGenerations && !(knowsFirst && knowsLast) {
              isSame =
                knowsFirst == knowsLast && isEqualType(left, right)
                && first.nodes.size[left] == last.nodes.size[right]
              if isSame { result.isExact = false }
            } else if hasGenerations && generation <= firstEnd.generation {
              isSame = true
            } else if !hasGenerations
              || (!firstEnd.isAtMark && generation == firstEnd.generation + 1)
            {
              isSame =
                isEqualType(left, right) && first.nodes.size[left] == last.nodes.size[right]
                && first.nodes.generation[left] == last.nodes.generation[right]
              if isSame { result.isExact = false }
            }
          }
          if isSame && wasThere && isThere {
            result.survived.append((NodeIndex(left), NodeIndex(right)))
          } else {
            if wasThere { result.died.append(NodeIndex(left)) }
            if isThere { result.born.append(NodeIndex(right)) }
          }
          if isLeft { left += 1 }
          if isRight { right += 1 }
        }
      }
    }
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

/// Which nodes are alive: neither destroyed nor the runtime's own memory.
private struct _Liveness {
  private let _state: Column<UInt8>
  private let _kind: Column<UInt8>

  init(_ snapshot: Snapshot) {
    _state = snapshot.nodes.state
    _kind = snapshot.nodes.kind
  }

  @inline(__always)
  subscript(_ row: Int) -> Bool {
    _state[row] != NodeState.deinited.rawValue && _kind[row] != NodeKind.runtime.rawValue
  }
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
///
/// - Complexity: O(*V*): a look-up in a table for each node that is not of its predecessor's type and size.
private func _differenceByType(from first: Snapshot, to last: Snapshot) -> SnapshotDifference {
  let match = _TypeMatch(first, last)
  var result = SnapshotDifference(born: [], died: [], survived: [], isExact: false)
  var groups = _Groups()
  var groupByRow = [UInt32](repeating: .max, count: first.nodes.count)
  let wasAlive = _Liveness(first)
  for row in 0..<first.nodes.count where wasAlive[row] {
    let type = match.rowInLast(ofNode: row)
    if type == .max { continue }
    let group = groups.add(type: type, size: first.nodes.size[row])
    groupByRow[row] = UInt32(group)
    groups.counts[group] += 1
  }
  // The rows of each group, in order, and which of them is the next without a partner.
  var next: [Int] = []
  next.reserveCapacity(groups.counts.count)
  var total = 0
  for count in groups.counts {
    next.append(total)
    total += count
  }
  var rows = [UInt32](repeating: 0, count: total)
  var place = next
  for row in 0..<first.nodes.count where groupByRow[row] != .max {
    let group = Int(groupByRow[row])
    rows[place[group]] = UInt32(row)
    place[group] += 1
  }
  let isAlive = _Liveness(last)
  for row in 0..<last.nodes.count where isAlive[row] {
    if let group = groups.find(type: last.nodes.type[row], size: last.nodes.size[row]),
      next[group] < place[group]
    {
      let partner = rows[next[group]]
      next[group] += 1
      groupByRow[Int(partner)] = _Groups.taken
      result.survived.append((NodeIndex(rawValue: partner), NodeIndex(row)))
    } else {
      result.born.append(NodeIndex(row))
    }
  }
  for row in 0..<first.nodes.count where wasAlive[row] && groupByRow[row] != _Groups.taken {
    result.died.append(NodeIndex(row))
  }
  return result
}

/// Numbers for types with sizes.
private struct _Groups {
  /// What no group's number is.
  static let taken = UInt32.max - 1

  private var _numberByKey: [UInt64: Int] = [:]
  private var _lastKey = UInt64.max
  private var _lastNumber: Int?

  /// How many nodes of the first snapshot are in each.
  var counts: [Int] = []

  /// The number of a group, which is added where it is new.
  mutating func add(type: UInt32, size: UInt32) -> Int {
    if let known = find(type: type, size: size) { return known }
    _lastNumber = counts.count
    _numberByKey[_lastKey] = counts.count
    counts.append(0)
    return counts.count - 1
  }

  /// The number of a group; nil for none.
  mutating func find(type: UInt32, size: UInt32) -> Int? {
    // Neighbours are often alike.
    let key = UInt64(type) << 32 | UInt64(size)
    if key != _lastKey || _lastNumber == nil {
      _lastKey = key
      _lastNumber = _numberByKey[key]
    }
    return _lastNumber
  }
}
