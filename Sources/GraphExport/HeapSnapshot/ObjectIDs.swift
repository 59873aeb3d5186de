// ObjectIDs: 32 bits by which an object is known in every heap snapshot of its run.

internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Numbers of 32 bits that an object has in each snapshot of its run, and that no two objects of a snapshot share.
///
/// An object is known by its address and the generation of its birth, 63 bits. Blocks of the heap are at least 32 bytes
/// apart, so a 32nd of the address is a number of its own within 128 GB. Each generation is moved by the golden section
/// of that ring: multiples of it keep the farthest apart (Knuth, TAOCP 3, 6.4), so that an address that is used again gets
/// another number, which no neighbour has. Where two numbers meet all the same, the younger object gets another one, in
/// an order that its elders alone decide.
struct ObjectIDs {
  /// Numbers up to this one are for what is no object.
  static let reserved: UInt32 = 255

  /// The number of each node.
  let idByNode: [UInt32]

  /// How many nodes had to take another number than their own. Those may differ between snapshots.
  let movedCount: Int

  private static let goldenSection: UInt32 = 0x9E37_79B1

  /// - Complexity: O(*V* log *V*).
  init(_ graph: HeapGraph) {
    let nodes = graph.snapshot.nodes
    var ids = [UInt32](repeating: 0, count: nodes.count)
    for node in 0..<nodes.count {
      ids[node] = Self.id(address: nodes.address[node], generation: nodes.generation[node])
    }
    let sorted = ids.sorted()
    var met: Set<UInt32> = []
    for place in sorted.indices.dropFirst() where sorted[place] == sorted[place - 1] {
      met.insert(sorted[place])
    }
    let reserved = Self.reserved
    let isCrowded = { (id: UInt32) in id <= reserved || met.contains(id) }
    let crowded = ids.indices.filter { isCrowded(ids[$0]) }
    guard !crowded.isEmpty else {
      idByNode = ids
      movedCount = 0
      return
    }
    // Nodes are in order of address already.
    let order = crowded.sorted {
      let (a, b) = (nodes.generation[$0], nodes.generation[$1])
      return a != b ? a < b : $0 < $1
    }
    var given: Set<UInt32> = []
    var moved = 0
    for node in order {
      let own = ids[node]
      if own > reserved, given.insert(own).inserted { continue }
      moved += 1
      var next = own
      repeat {
        next = next &* 1_664_525 &+ 1_013_904_223
      } while next <= reserved
        || Self.contains(next, in: sorted) || !given.insert(next).inserted
      ids[node] = next
    }
    idByNode = ids
    movedCount = moved
  }

  /// The number that an object has unless another was there first.
  static func id(address: UInt64, generation: UInt16) -> UInt32 {
    UInt32(truncatingIfNeeded: address >> 5) &+ UInt32(generation) &* goldenSection
  }

  private static func contains(_ id: UInt32, in sorted: [UInt32]) -> Bool {
    var low = 0
    var high = sorted.count
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < id { low = middle + 1 } else { high = middle }
    }
    return low < sorted.count && sorted[low] == id
  }
}
