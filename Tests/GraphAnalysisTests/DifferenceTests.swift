// DifferenceTests: born, died and survived by identity, against a history that is known.

import GraphPrimitives
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct DifferenceTests {
  /// An object in a history of allocations.
  private struct Life {
    var address: UInt64
    var generation: UInt16
    var identity: Int
  }

  /// A snapshot of what is alive when a mark ends a generation; identities by row.
  private static func snapshot(
    of alive: [Life], generation: UInt16
  ) -> (Snapshot, identities: [Int]) {
    var heap = SnapshotDSL()
    let sorted = alive.sorted { $0.address < $1.address }
    for life in sorted {
      heap.object(
        "App.T\(life.identity % 3)", generation: life.generation, strongCount: 1,
        address: life.address)
    }
    for number in 0...generation { heap.mark("mark \(number)", generation: number) }
    return (heap.snapshot(), sorted.map(\.identity))
  }

  @Test(
    "Exact however often addresses are used again", arguments: 0..<200 as Range<UInt64>)
  func addressReuse(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var alive: [Life] = []
    var next = 0
    var snapshots: [(Snapshot, identities: [Int])] = []
    for generation in 0..<4 as Range<UInt16> {
      alive.removeAll { _ in Bool.random(using: &random) }
      for _ in 0..<6 {
        let address = 0x1000 + UInt64.random(in: 0..<12, using: &random) * 64
        if alive.contains(where: { $0.address == address }) { continue }
        alive.append(Life(address: address, generation: generation, identity: next))
        next += 1
      }
      snapshots.append(Self.snapshot(of: alive, generation: generation))
    }
    for (first, before) in snapshots {
      for (last, after) in snapshots {
        let result = difference(from: first, to: last)
        #expect(result.isExact)
        #expect(
          Set(result.born.map { after[$0.position] }) == Set(after).subtracting(before))
        #expect(
          Set(result.died.map { before[$0.position] }) == Set(before).subtracting(after))
        #expect(
          result.survived.allSatisfy { before[$0.0.position] == after[$0.1.position] })
        #expect(
          Set(result.survived.map { before[$0.0.position] })
            == Set(before).intersection(after))
        #expect(result.born == result.born.sorted() && result.died == result.died.sorted())
      }
    }
  }

  @Test("A destroyed object has died, even if its memory is kept")
  func zombie() {
    func heap(_ state: NodeState) -> Snapshot {
      var heap = SnapshotDSL()
      heap.object("App.Slab", strongCount: 1, state: state)
      heap.mark("a", generation: 0)
      if state == .deinited { heap.mark("b", generation: 1) }
      return heap.snapshot()
    }
    let result = difference(from: heap(.live), to: heap(.deinited))
    #expect(result.died == [NodeIndex(0)] && result.born.isEmpty && result.survived.isEmpty)
  }

  @Test("Taken without a mark, what was born since the last one can't be told apart exactly")
  func withoutMark() {
    func heap(_ addresses: [UInt64]) -> Snapshot {
      var heap = SnapshotDSL()
      for address in addresses {
        heap.object("App.T", generation: address < 0x2000 ? 0 : 1, strongCount: 1, address: address)
      }
      heap.mark("a", generation: 0)
      heap.builder.process.mark = ""
      return heap.snapshot()
    }
    let old = difference(from: heap([0x1000]), to: heap([0x1000, 0x2000]))
    #expect(old.isExact && old.survived.count == 1 && old.born.count == 1)
    let young = difference(from: heap([0x1000, 0x2000]), to: heap([0x1000, 0x2000]))
    #expect(!young.isExact && young.survived.count == 2)
  }

  @Test(
    "Where allocations are sampled, a sample is exact, what is none is told by address, type and size"
  )
  func sampled() {
    struct Block {
      var address: UInt64
      var type = "App.A"
      var generation: UInt16?
    }
    func heap(_ blocks: [Block], ending generation: UInt16) -> Snapshot {
      var heap = SnapshotDSL()
      for block in blocks {
        heap.object(
          block.type, generation: block.generation ?? 0, strongCount: 1, address: block.address)
      }
      for past in 0...generation { heap.mark("m\(past)", generation: past) }
      var snapshot = heap.snapshot()
      let rows = blocks.indices.filter { blocks[$0].generation != nil }
      snapshot.sampling = Snapshot.Sampling(
        interval: 512, node: Column(rows.map { UInt32($0) }),
        bytes: Column(rows.map { _ in 32 }))
      return snapshot
    }
    let result = difference(
      from: heap(
        [
          Block(address: 0x1000, generation: 0), Block(address: 0x2000, generation: 0),
          Block(address: 0x3000), Block(address: 0x4000), Block(address: 0x5000),
          Block(address: 0x6000, generation: 0),
        ], ending: 0),
      to: heap(
        [
          // The same; another sample at its address; the same, as far as can be told; another type; a sample where
          // none was; none where a sample was.
          Block(address: 0x1000, generation: 0), Block(address: 0x2000, generation: 1),
          Block(address: 0x3000), Block(address: 0x4000, type: "App.B"),
          Block(address: 0x5000, generation: 1), Block(address: 0x6000),
        ], ending: 1))
    #expect(!result.isExact)
    #expect(result.survived.map(\.1) == [NodeIndex(0), NodeIndex(2)])
    #expect(result.born == [1, 3, 4, 5].map { NodeIndex($0) })
    #expect(result.died == [1, 3, 4, 5].map { NodeIndex($0) })
    let alone = difference(
      from: heap([Block(address: 0x1000, generation: 0)], ending: 0),
      to: heap([Block(address: 0x1000, generation: 0)], ending: 1))
    #expect(alone.isExact && alone.survived.count == 1)
  }

  @Test("Without an agent, address, type and size have to do")
  func withoutAgent() {
    func heap(_ objects: [(UInt64, String)]) -> Snapshot {
      var heap = SnapshotDSL()
      for (address, type) in objects { heap.object(type, strongCount: 1, address: address) }
      heap.builder.process.hasAgent = false
      return heap.snapshot()
    }
    let result = difference(
      from: heap([(0x1000, "App.A"), (0x2000, "App.B")]),
      to: heap([(0x1000, "App.A"), (0x2000, "App.C"), (0x3000, "App.A")]))
    #expect(!result.isExact)
    #expect(result.survived.map(\.0) == [NodeIndex(0)])
    #expect(result.born == [NodeIndex(1), NodeIndex(2)])
    #expect(result.died == [NodeIndex(1)])
  }

  @Test("Of two runs only numbers can be compared")
  func twoRuns() {
    func heap(_ run: UInt64, _ types: [String]) -> Snapshot {
      var heap = SnapshotDSL()
      for type in types { heap.object(type, strongCount: 1, address: nil) }
      heap.builder.process.runIdentity = run
      return heap.snapshot()
    }
    let result = difference(
      from: heap(1, ["App.A", "App.B", "App.B"]), to: heap(2, ["App.B", "App.C", "App.C"]))
    #expect(!result.isExact)
    #expect(result.survived.count == 1)
    #expect(result.born.count == 2 && result.died.count == 2)
  }
}
