// Tests of a snapshot of a million objects: that it can be built, written and read, and how long a file it makes.

import GraphPrimitives
import SnapshotFormat
import Testing

@Suite struct LargeSnapshotTests {
  @Test("A million objects with three references each go to a file and come back")
  func million() throws {
    let count = 1_000_000
    var builder = SnapshotBuilder()
    builder.nodes.reserveCapacity(count)
    builder.edges.reserveCapacity(3 * count)
    let types = (0..<100).map { builder.type("App.T\($0)", module: "App") }
    let labels = (0..<3).map { builder.label("field\($0)") }
    var node = 0
    while node < count {
      builder.add(
        SnapshotBuilder.Node(
          address: 0x1000 + UInt64(node) * 48, size: 48, type: types[node % 100], strongCount: 3))
      var field = 0
      while field < 3 {
        builder.addEdge(
          from: UInt32(node), to: UInt32((node * 7 + field * 31) % count), label: labels[field])
        field += 1
      }
      node += 1
    }
    builder.addRoot(.global, to: 0, address: 0x10)
    let snapshot = builder.finish()
    try withScratchFolder { folder in
      let path = folder + "/a.mgraph"
      try snapshot.write(to: path)
      let read = try Snapshot(contentsOf: path)
      #expect(read.nodes.count == count)
      #expect(read.edges.count == 3 * count)
      for row in [0, 1, 499_999, count - 1] {
        #expect(read.nodes.address[row] == 0x1000 + UInt64(row) * 48)
        #expect(Int(read.nodes.type[row]) == row % 100)
        #expect(Int(read.edges.firstEdge[row]) == row * 3)
        #expect(Int(read.edges.target[row * 3 + 2]) == (row * 7 + 62) % count)
      }
      // 32 bytes of columns a node and 4 for its first edge, 9 an edge; the rest is small.
      let bytes = snapshot.serialized().count
      #expect(bytes >= count * (36 + 3 * 9) && bytes < count * (36 + 3 * 9) + 16_384)
    }
  }
}
