// Tests of SnapshotDSL, which the tests of analysis and reports rely on.

import GraphPrimitives
import SnapshotDSL
import SnapshotFormat
import Testing

@Suite struct SnapshotDSLTests {
  @Test("Edges carry their labels, and counts follow from the holders")
  func edgesAndCounts() throws {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub<Swift.Int>", bytes: 64, name: "the hub")
    let list = heap.storage()
    let screen = heap.object("App.Screen", bytes: 480, generation: 2, strongCount: 7)
    let buffer = heap.resource("Encoder")
    heap.edge(hub, "listeners", to: list)
    heap.edge(list, "[3].owner", to: screen)
    heap.edge(list, "[_]", to: hub, strength: .weak)
    heap.edge(screen, "encoder", to: buffer, provenance: .declared)
    heap.root(.global, address: 0x1000, to: hub)
    heap.root(.stack, address: 0x2000, to: hub, thread: heap.thread("main"))
    let snapshot = heap.snapshot()

    #expect(snapshot.nodes.count == 4)
    #expect(heap.index(of: screen).position == 2)
    #expect(Array(snapshot.nodes.strongCount) == [2, 1, 7, Snapshot.Nodes.uncounted])
    #expect(Array(snapshot.edges.firstEdge) == [0, 1, 3, 4, 4])
    #expect(Array(snapshot.edges.target) == [1, 2, 0, 3])
    let names = snapshot.edges.label.map { snapshot.strings[snapshot.labels.name[Int($0)]] }
    #expect(names == ["listeners", "owner", "", "encoder"])
    let indices = snapshot.edges.label.map { snapshot.labels.index[Int($0)] }
    #expect(
      indices == [Snapshot.Labels.noIndex, 3, Snapshot.Labels.anyIndex, Snapshot.Labels.noIndex])
    #expect(snapshot.strings[snapshot.types.module[Int(snapshot.nodes.type[0])]] == "App")
    #expect(snapshot.nodeNames[NodeIndex(0)].map { snapshot.strings[$0] } == "the hub")
  }

  @Test("A given address moves a node to its place")
  func givenAddress() {
    var heap = SnapshotDSL()
    let late = heap.object("App.Late")
    let early = heap.object("App.Early", address: 0x1000)
    heap.edge(late, "early", to: early)
    let snapshot = heap.snapshot()
    #expect(heap.index(of: early).position == 0)
    #expect(heap.index(of: late).position == 1)
    #expect(Array(snapshot.edges.firstEdge) == [0, 0, 1])
    #expect(Array(snapshot.edges.target) == [0])
  }

  @Test(
    "A label's index is written where reports show it",
    arguments: [
      ("x.y", "x.y", Snapshot.Labels.noIndex), ("[3]", "", 3), ("[3].x", "x", 3),
      ("[_]", "", Snapshot.Labels.anyIndex), ("capture[2]", "capture", 2),
      ("capture[2].x", "capture.x", 2), ("[x]", "[x]", Snapshot.Labels.noIndex),
      ("[0].captured", "captured", 0), ("capture", "capture", Snapshot.Labels.noIndex),
      ("[0].cap", "cap", 0),
    ] as [(String, String, UInt32)])
  func labels(text: String, name: String, index: UInt32) {
    var heap = SnapshotDSL()
    let row = heap.label(text, function: 7).position
    let snapshot = heap.snapshot()
    #expect(snapshot.strings[snapshot.labels.name[row]] == name)
    #expect(snapshot.labels.index[row] == index)
    #expect(snapshot.labels.function[row] == 7)
    #expect(snapshot.isCapture(label: row) == text.hasPrefix("capture["))
  }

  @Test("Stacks share their outer frames")
  func stacks() {
    var heap = SnapshotDSL()
    let first = heap.stack(0x30, 0x20, 0x10)
    let second = heap.stack(0x31, 0x20, 0x10)
    #expect(heap.stack(0x30, 0x20, 0x10) == first)
    #expect(first != second)
    #expect(heap.builder.stackParents == [0, 0, 1, 2, 2])
    #expect(heap.builder.stackPCs == [0, 0x10, 0x20, 0x30, 0x31])
  }
}
