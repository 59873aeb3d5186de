// Tests of Snapshot.validate(): each column that could mislead a loop is refused by name and row.

import GraphPrimitives
import SnapshotDSL
import SnapshotFormat
import Testing

@Suite struct SnapshotValidateTests {
  struct Malformed: Sendable, CustomTestStringConvertible {
    var section: String
    var offset: UInt64
    var reason: String
    var break_: @Sendable (inout Snapshot) -> Void
    var testDescription: String { "\(section): \(reason)" }

    init(
      _ section: String, _ offset: UInt64, _ reason: String,
      _ break_: @escaping @Sendable (inout Snapshot) -> Void
    ) {
      self.section = section
      self.offset = offset
      self.reason = reason
      self.break_ = break_
    }
  }

  /// Two nodes, two edges, one root; 4 strings and more, 2 types, 2 labels, 3 stacks, 1 thread.
  static let valid: Snapshot = {
    var heap = SnapshotDSL()
    heap.module("/app/App", addresses: 0x1000..<0x2000)
    let thread = heap.thread("main")
    let stack = heap.stack(0x1010, 0x1020)
    let first = heap.object("App.A", bytes: 32, stack: stack, address: 0x100)
    let second = heap.node(.object, "App.B", bytes: 5 << 32, name: "b", address: 0x200)
    heap.edge(first, "x", to: second)
    heap.edge(second, "x", to: first, strength: .weak)
    heap.root(.stack, address: 0x10, to: first, thread: thread)
    heap.describe(first, id: 1)
    heap.fill(second, count: 3, of: 8)
    heap.declare("App.A", "x", .constant)
    return heap.snapshot()
  }()

  static let malformed = [
    Malformed("strings.offset", 0, "there are 0 rows, at least 2 are needed") {
      $0.strings.offset = Column()
    },
    Malformed("strings.offset", 0, "there are 1 rows, at least 2 are needed") {
      $0.strings.offset = Column([0])
    },
    Malformed("strings.offset", 0, "row 0 is not 0") { $0.strings.offset = Column([1, 1]) },
    Malformed("strings.offset", 4, "string 0 is not empty") {
      $0.strings = StringTable(offset: Column([0, 1]), bytes: Column([65]))
    },
    Malformed("strings.offset", 8, "row 2 is less than the row before it") {
      $0.strings.offset = Column([0, 5, 4])
    },
    Malformed("strings.offset", 8, "the last row is 3 and should be 2, the size of strings.bytes") {
      $0.strings = StringTable(offset: Column([0, 0, 3]), bytes: Column([65, 65]))
    },
    Malformed("types.module", 0, "there are 1 rows and should be 2, the number of types") {
      $0.types.module = Column([0])
    },
    Malformed("types.name", 4, "row 1 names row 6 of strings, which has 6") {
      $0.types.name = Column([0, 6])
    },
    Malformed("types.module", 0, "row 0 names row 4294967295 of strings, which has 6") {
      $0.types.module = Column([UInt32.max, 0])
    },
    Malformed("labels.index", 0, "there are 1 rows and should be 2, the number of labels") {
      $0.labels.index = Column([0])
    },
    Malformed("labels.function", 0, "there are 3 rows and should be 2, the number of labels") {
      $0.labels.function = Column([0, 0, 0])
    },
    Malformed("labels.name", 4, "row 1 names row 6 of strings, which has 6") {
      $0.labels.name = Column([0, 6])
    },
    Malformed("labels.name", 0, "row 0 is missing") {
      $0.labels = Snapshot.Labels(name: Column(), index: Column(), function: Column())
    },
    Malformed("labels.name", 0, "row 0 has a name; it is the label of unnamed edges") {
      $0.labels.name = Column([1, 1])
    },
    Malformed("labels.index", 0, "row 0 has an index; it is the label of unnamed edges") {
      $0.labels.index = Column([0, 0])
    },
    Malformed("labels.function", 0, "row 0 has a function; it is the label of unnamed edges") {
      $0.labels.function = Column([5, 0])
    },
    Malformed("stacks.pc", 0, "there are 2 rows and should be 3, the number of stacks") {
      $0.stacks.pc = Column([0, 0])
    },
    Malformed("stacks.parent", 0, "row 0 is missing") {
      $0.stacks = Snapshot.Stacks(parent: Column(), pc: Column())
    },
    Malformed("stacks.parent", 0, "row 0 has a caller; it is the outermost row") {
      $0.stacks.parent = Column([1, 0, 0])
    },
    Malformed(
      "stacks.parent", 8, "row 2 names row 2 as its caller, which does not come before it"
    ) { $0.stacks.parent = Column([0, 0, 2]) },
    Malformed("nodes.size", 0, "there are 1 rows and should be 2, the number of nodes") {
      $0.nodes.size = Column([0])
    },
    Malformed("nodes.type", 0, "there are 3 rows and should be 2, the number of nodes") {
      $0.nodes.type = Column([0, 0, 0])
    },
    Malformed("nodes.stack", 0, "there are 0 rows and should be 2, the number of nodes") {
      $0.nodes.stack = Column()
    },
    Malformed("nodes.generation", 0, "there are 0 rows and should be 2, the number of nodes") {
      $0.nodes.generation = Column()
    },
    Malformed("nodes.kind", 0, "there are 0 rows and should be 2, the number of nodes") {
      $0.nodes.kind = Column()
    },
    Malformed("nodes.state", 0, "there are 0 rows and should be 2, the number of nodes") {
      $0.nodes.state = Column()
    },
    Malformed("nodes.strongCount", 0, "there are 0 rows and should be 2, the number of nodes") {
      $0.nodes.strongCount = Column()
    },
    Malformed("nodes.unownedCount", 0, "there are 0 rows and should be 2, the number of nodes") {
      $0.nodes.unownedCount = Column()
    },
    Malformed("nodes.weakCount", 0, "there are 0 rows and should be 2, the number of nodes") {
      $0.nodes.weakCount = Column()
    },
    Malformed("nodes.address", 8, "row 1 is not greater than the row before it") {
      $0.nodes.address = Column([0x200, 0x200])
    },
    Malformed("nodes.type", 4, "row 1 names row 2 of types, which has 2") {
      $0.nodes.type = Column([0, 2])
    },
    Malformed("nodes.stack", 0, "row 0 names row 3 of stacks, which has 3") {
      $0.nodes.stack = Column([3, 0])
    },
    Malformed("nodes.kind", 1, "row 1 is 13, which is no kind of node") {
      $0.nodes.kind = Column([0, 13])
    },
    Malformed("nodes.state", 0, "row 0 is 3, which is no state of a node") {
      $0.nodes.state = Column([3, 0])
    },
    Malformed("nodes.size", 0, "node 0 ends past the end of the address space") {
      $0.nodes.address = Column([UInt64.max - 16, UInt64.max - 8])
    },
    Malformed("largeSizes.bytes", 0, "node 1 ends past the end of the address space") {
      $0.nodes.largeBytes = Column([UInt64.max])
    },
    Malformed("largeSizes.bytes", 0, "there are 0 rows and should be 1, the number of largeSizes") {
      $0.nodes.largeBytes = Column()
    },
    Malformed("largeSizes.node", 4, "row 1 is not greater than the row before it") {
      $0.nodes.largeNode = Column([1, 1])
      $0.nodes.largeBytes = Column([1 << 40, 1 << 40])
    },
    Malformed("largeSizes.node", 0, "row 0 names row 2 of nodes, which has 2") {
      $0.nodes.largeNode = Column([2])
    },
    Malformed("largeSizes.node", 0, "row 0 names node 0, whose size is in nodes.size") {
      $0.nodes.largeNode = Column([0])
    },
    Malformed("largeSizes.bytes", 0, "row 0 is 7, which nodes.size could have held") {
      $0.nodes.largeBytes = Column([7])
    },
    Malformed("names.node", 0, "node 2 has string 0 as its name; there are 2 nodes and 6 strings") {
      $0.nodeNames = [NodeIndex(2): .empty]
    },
    Malformed("names.node", 0, "node 0 has string 6 as its name; there are 2 nodes and 6 strings") {
      $0.nodeNames = [NodeIndex(0): StringIndex(6)]
    },
    Malformed(
      "edges.firstEdge", 0, "there are 2 rows and should be 3, the number of nodes, and one more"
    ) { $0.edges.firstEdge = Column([0, 2]) },
    Malformed("edges.label", 0, "there are 0 rows and should be 2, the number of edges") {
      $0.edges.label = Column()
    },
    Malformed("edges.info", 0, "there are 1 rows and should be 2, the number of edges") {
      $0.edges.info = Column([0])
    },
    Malformed("edges.firstEdge", 0, "row 0 is not 0") { $0.edges.firstEdge = Column([1, 1, 2]) },
    Malformed("edges.firstEdge", 8, "row 2 is less than the row before it") {
      $0.edges.firstEdge = Column([0, 3, 2])
    },
    Malformed("edges.firstEdge", 8, "the last row is 1 and should be 2, the size of edges") {
      $0.edges.firstEdge = Column([0, 1, 1])
    },
    Malformed("edges.target", 4, "row 1 names row 2 of nodes, which has 2") {
      $0.edges.target = Column([1, 2])
    },
    Malformed("edges.label", 0, "row 0 names row 2 of labels, which has 2") {
      $0.edges.label = Column([2, 1])
    },
    Malformed("edges.info", 1, "row 1 is 4, which is no strength and provenance") {
      $0.edges.info = Column([0, 4])
    },
    Malformed("edges.info", 0, "row 0 is 48, which is no strength and provenance") {
      $0.edges.info = Column([0x30, 0])
    },
    Malformed("roots.kind", 0, "there are 2 rows and should be 1, the number of roots") {
      $0.roots.kind = Column([0, 0])
    },
    Malformed("roots.info", 0, "there are 0 rows and should be 1, the number of roots") {
      $0.roots.info = Column()
    },
    Malformed("roots.address", 0, "there are 0 rows and should be 1, the number of roots") {
      $0.roots.address = Column()
    },
    Malformed("roots.pc", 0, "there are 0 rows and should be 1, the number of roots") {
      $0.roots.pc = Column()
    },
    Malformed("roots.thread", 0, "there are 0 rows and should be 1, the number of roots") {
      $0.roots.thread = Column()
    },
    Malformed("roots.label", 0, "there are 0 rows and should be 1, the number of roots") {
      $0.roots.label = Column()
    },
    Malformed("roots.kind", 0, "row 0 is 8, which is no kind of root") {
      $0.roots.kind = Column([8])
    },
    Malformed("roots.target", 0, "row 0 names row 2 of nodes, which has 2") {
      $0.roots.target = Column([2])
    },
    Malformed("roots.info", 0, "row 0 is 255, which is no strength and provenance") {
      $0.roots.info = Column([255])
    },
    Malformed("roots.label", 0, "row 0 names row 2 of labels, which has 2") {
      $0.roots.label = Column([2])
    },
    Malformed("roots.thread", 0, "row 0 names row 1 of threads, which has 1") {
      $0.roots.thread = Column([1])
    },
    Malformed("tasks.node", 0, "there are 0 rows and should be 1, the number of tasks") {
      $0.tasks.node = Column()
    },
    Malformed("tasks.id", 0, "there are 2 rows and should be 1, the number of tasks") {
      $0.tasks.id = Column([1, 2])
    },
    Malformed("tasks.info", 0, "there are 0 rows and should be 1, the number of tasks") {
      $0.tasks.info = Column()
    },
    Malformed("tasks.parent", 0, "there are 0 rows and should be 1, the number of tasks") {
      $0.tasks.parent = Column()
    },
    Malformed("tasks.suspendedAt", 0, "there are 0 rows and should be 1, the number of tasks") {
      $0.tasks.suspendedAt = Column()
    },
    Malformed("tasks.node", 0, "row 0 names row 2 of nodes, which has 2") {
      $0.tasks.node = Column([2])
    },
    Malformed("tasks.parent", 0, "row 0 names row 1 of tasks, which has 1") {
      $0.tasks.parent = Column([1])
    },
    Malformed("tasks.suspendedAt", 0, "row 0 names row 3 of stacks, which has 3") {
      $0.tasks.suspendedAt = Column([3])
    },
    Malformed("tasks.address", 8, "row 1 is not greater than the row before it") {
      $0.tasks = Snapshot.Tasks(
        node: Column([0, 0]), address: Column([0x100, 0x100]), id: Column([1, 2]),
        info: Column([0, 0]), parent: Column([UInt32.max, UInt32.max]),
        suspendedAt: Column([0, 0]))
    },
    Malformed("storage.count", 0, "there are 0 rows and should be 1, the number of storages") {
      $0.storage.count = Column()
    },
    Malformed("storage.capacity", 0, "there are 2 rows and should be 1, the number of storages") {
      $0.storage.capacity = Column([8, 8])
    },
    Malformed("storage.text", 0, "there are 0 rows and should be 1, the number of storages") {
      $0.storage.text = Column()
    },
    Malformed("storage.node", 0, "row 0 names row 2 of nodes, which has 2") {
      $0.storage.node = Column([2])
    },
    Malformed("storage.count", 0, "row 0 is 9, more than its capacity 8") {
      $0.storage.count = Column([9])
    },
    Malformed("storage.node", 4, "row 1 is not greater than the row before it") {
      $0.storage = Snapshot.Storage(
        node: Column([1, 1]), count: Column([0, 0]), capacity: Column([0, 0]), text: Column([0, 0]))
    },
    Malformed("fields.name", 0, "there are 0 rows and should be 1, the number of fields") {
      $0.fields.name = Column()
    },
    Malformed("fields.declaration", 0, "there are 2 rows and should be 1, the number of fields") {
      $0.fields.declaration = Column([1, 1])
    },
    Malformed("fields.type", 0, "row 0 names row 2 of types, which has 2") {
      $0.fields.type = Column([2])
    },
    Malformed("fields.name", 0, "row 0 names row 6 of strings, which has 6") {
      $0.fields.name = Column([6])
    },
    Malformed("fields.name", 4, "row 1 is not greater than the row before it") {
      $0.fields = Snapshot.Fields(
        type: Column([1, 1]), name: Column([2, 2]), declaration: Column([1, 1]))
    },
    Malformed("modules", 0, "module 0 ends before it starts") { $0.modules[0].end = 0xFFF },
  ]

  @Test("The snapshot that the cases start from is valid")
  func isValid() throws {
    try Self.valid.validate()
    #expect(Self.valid.strings.count == 6)
  }

  @Test("A malformed column is refused by name and row", arguments: malformed)
  func refuses(_ malformed: Malformed) {
    var snapshot = Self.valid
    malformed.break_(&snapshot)
    #expect(
      throws: SnapshotError.malformed(
        path: "", section: malformed.section, offset: malformed.offset, reason: malformed.reason)
    ) { try snapshot.validate() }
  }

  @Test("A malformed snapshot is neither written nor read", arguments: malformed)
  func refusesFile(_ malformed: Malformed) throws {
    var snapshot = Self.valid
    malformed.break_(&snapshot)
    try withScratchFolder { folder in
      let path = folder + "/a.mgraph"
      #expect(
        throws: SnapshotError.malformed(
          path: path, section: malformed.section, offset: malformed.offset, reason: malformed.reason
        )
      ) { try snapshot.write(to: path) }
      let left = try contents(of: folder)
      #expect(left == [])
    }
    let bytes = snapshot.serialized()
    let file = RawFile(parsing: bytes)
    // A section without rows that is not required is left out; errors about it have no place.
    let start =
      file.index(of: malformed.section).map { RawFile.number(bytes, 64 + $0 * 48 + 24) }
      ?? UInt64(0)
    #expect(
      throws: SnapshotError.malformed(
        path: "b", section: malformed.section, offset: start + malformed.offset,
        reason: malformed.reason)
    ) { try Snapshot(bytes: bytes, path: "b") }
  }

  @Test("Sizes of 4 GiB and more are kept exactly; one that is not listed is at least that")
  func largeSizes() throws {
    var snapshot = Self.valid
    #expect(snapshot.nodes.bytes(0) == 32)
    #expect(snapshot.nodes.bytes(1) == 5 << 32)
    #expect(snapshot.nodes.bytes(NodeIndex(1)) == 5 << 32)
    snapshot.nodes.largeNode = Column()
    snapshot.nodes.largeBytes = Column()
    try snapshot.validate()
    #expect(snapshot.nodes.bytes(1) == UInt64(UInt32.max))
  }
}
