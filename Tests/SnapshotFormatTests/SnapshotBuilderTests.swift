// Tests of SnapshotBuilder: what it interns, and that the order of adding does not show.

import GraphPrimitives
import SnapshotDSL
import SnapshotFormat
import Testing

@Suite struct SnapshotBuilderTests {
  @Test("Texts, types and labels are kept once")
  func interning() {
    var builder = SnapshotBuilder()
    #expect(builder.string("") == .empty)
    #expect(builder.string("a") == builder.string("a"))
    #expect(builder.string("a") != builder.string("b"))
    #expect(builder.type("T", module: "M") == builder.type("T", module: "M"))
    #expect(builder.type("T", module: "M") != builder.type("T"))
    #expect(builder.label() == .none)
    #expect(builder.label("x") == builder.label("x"))
    #expect(builder.label("x") == builder.label(builder.string("x")))
    let labels = [
      builder.label("x"), builder.label("x", index: 0), builder.label("x", function: 1),
      builder.label("y"),
    ]
    #expect(Set(labels).count == 4)
    builder.note("lost", count: 2)
    builder.note("lost")
    #expect(builder.finish().diagnostics == [Snapshot.Diagnostic(text: "lost", count: 3)])
  }

  @Test("An empty builder makes a valid snapshot")
  func empty() throws {
    let snapshot = SnapshotBuilder().finish()
    try snapshot.validate()
    #expect(snapshot.nodes.count == 0)
    #expect(Array(snapshot.edges.firstEdge) == [0])
  }

  @Test(
    "A shuffled builder and one in ascending order make the same snapshot",
    arguments: 0..<50 as Range<UInt64>)
  func order(seed: UInt64) {
    let shuffled = randomBuilder(seed: seed)
    var ascending = shuffled
    let order = shuffled.nodes.indices.sorted {
      shuffled.nodes[$0].address < shuffled.nodes[$1].address
    }
    var row = [UInt32](repeating: 0, count: order.count)
    for (new, old) in order.enumerated() { row[old] = UInt32(new) }
    ascending.nodes = order.map { shuffled.nodes[$0] }
    ascending.edges = shuffled.edges.map { edge in
      var edge = edge
      edge.from = row[Int(edge.from)]
      edge.to = row[Int(edge.to)]
      return edge
    }
    // By hand as well, so that neither order of edges is taken for granted: a stable sort by source.
    let sorted = ascending.edges.enumerated().sorted {
      ($0.element.from, $0.offset) < ($1.element.from, $1.offset)
    }
    ascending.roots = shuffled.roots.map { root in
      var root = root
      root.target = row[Int(root.target)]
      return root
    }
    ascending.tasks = shuffled.tasks.map { task in
      var task = task
      task.node = row[Int(task.node)]
      return task
    }
    ascending.storage = shuffled.storage.map { storage in
      var storage = storage
      storage.node = row[Int(storage.node)]
      return storage
    }
    ascending.nodeNames = [:]
    for (old, name) in shuffled.nodeNames { ascending.nodeNames[row[Int(old)]] = name }
    let expected = shuffled.finish().serialized()
    #expect(ascending.finish().serialized() == expected)
    ascending.edges = sorted.map(\.element)
    #expect(ascending.finish().serialized() == expected)
  }

  @Test("Counts that do not fit are the greatest that do")
  func saturation() {
    var builder = SnapshotBuilder()
    builder.add(
      SnapshotBuilder.Node(
        address: 1, size: 1 << 40, type: builder.type("T"), unownedCount: 65_536, weakCount: .max))
    let nodes = builder.finish().nodes
    #expect(nodes.size[0] == .max)
    #expect(nodes.bytes(0) == 1 << 40)
    #expect(nodes.unownedCount[0] == .max)
    #expect(nodes.weakCount[0] == .max)
  }

  @Test("Two nodes at one address are a mistake of the caller")
  func sameAddress() async {
    await #expect(processExitsWith: .failure) {
      var builder = SnapshotBuilder()
      let type = builder.type("T")
      for address in [2, 1, 2] as [UInt64] {
        builder.add(SnapshotBuilder.Node(address: address, size: 1, type: type))
      }
      _ = builder.finish()
    }
  }
}
