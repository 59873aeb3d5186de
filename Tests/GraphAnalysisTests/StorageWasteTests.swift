// StorageWasteTests: equal strings and room that nothing is in.

import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphAnalysis

@Suite struct StorageWasteTests {
  @Test("Equal strings are told with what holds most of them, the dearest first")
  func equalStrings() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    heap.root(.global, address: 0x1000, to: hub)
    func string(_ text: UInt32, bytes: UInt64 = 80) -> SnapshotDSL.Node {
      let node = heap.storage("Swift.__StringStorage", bytes: bytes)
      heap.fill(node, count: bytes - 40, of: bytes - 33, text: text)
      return node
    }
    for _ in 0..<5 {
      let record = heap.object("App.Record")
      heap.edge(hub, "records", to: record)
      let name = string(1)
      heap.edge(record, "name", to: name)
    }
    let list = heap.storage(bytes: 64)
    heap.edge(hub, "titles", to: list)
    for place in 0..<2 {
      let title = string(2, bytes: 1_000)
      heap.edge(list, "[\(place)]", to: title)
    }
    let single = string(0)
    heap.edge(hub, "title", to: single)

    let graph = try HeapGraph(heap.snapshot())
    let waste = storageWaste(of: liveNodes(of: graph), in: graph)
    #expect(waste.stringCount == 8)
    #expect(waste.equal.map(\.count) == [2, 5])
    #expect(waste.equal.map(\.length) == [960, 40])
    #expect(waste.equal.map(\.unneeded) == [ByteCount(1_000), ByteCount(320)])
    let holders = waste.equal.compactMap { row in
      row.holder.map { graph.typeName(of: $0.node) + "." + graph.foldedField(of: $0) }
    }
    #expect(holders == ["App.Hub.titles[_]", "App.Record.name"])
    #expect(waste.spare.isEmpty)
  }

  @Test("Of what is looked at only, and one string alone is no waste")
  func filtered() throws {
    var heap = SnapshotDSL()
    let strings = (0..<3).map { _ in heap.storage("Swift.__StringStorage", bytes: 80) }
    for string in strings {
      heap.fill(string, count: 40, of: 47, text: 1)
      heap.root(.global, address: 0x1000, to: string)
    }
    let graph = try HeapGraph(heap.snapshot())
    let two = storageWaste(of: [0, 1].map { NodeIndex($0) }, in: graph)
    #expect(two.equal.map(\.count) == [2] && two.equal.first?.holder == nil)
    #expect(storageWaste(of: [NodeIndex(0)], in: graph).equal.isEmpty)
  }

  @Test("Room counts where more is free than used, by the storage's type")
  func spareRoom() throws {
    var heap = SnapshotDSL()
    for (count, capacity) in [(1, 10), (0, 10), (5, 10), (6, 10), (0, 0)] as [(UInt64, UInt64)] {
      heap.fill(
        heap.storage("Swift._ContiguousArrayStorage<App.Frame>", bytes: 132), count: count,
        of: capacity)
    }
    heap.fill(heap.storage("Swift._SetStorage<Swift.Int>", bytes: 4_032), count: 10, of: 40)
    let graph = try HeapGraph(heap.snapshot())
    let waste = storageWaste(of: liveNodes(of: graph), in: graph)
    // 90 of the first array's 100 bytes behind the header, and all of the second's.
    #expect(waste.spare.map(\.count) == [1, 2])
    #expect(waste.spare.map(\.bytes) == [ByteCount(3_000), ByteCount(190)])
    #expect(graph.typeName(of: waste.spare[0].node).hasPrefix("Swift._SetStorage"))
  }
}
