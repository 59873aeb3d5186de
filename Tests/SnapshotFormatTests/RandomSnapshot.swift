// RandomSnapshot: valid snapshots of every shape, for property tests.

import GraphPrimitives
import SnapshotDSL
import SnapshotFormat

/// A builder with up to `maximumNodes` nodes in no order, and everything else that a snapshot can hold.
func randomBuilder(seed: UInt64, maximumNodes: Int = 40) -> SnapshotBuilder {
  var random = SeededGenerator(seed: seed)
  var builder = SnapshotBuilder()
  func text(_ prefix: String) -> String {
    let endings = ["", "é", "\u{0}", " \"quoted\"\n", "👩‍👩‍👧", String(repeating: "x", count: 300)]
    return prefix + String(Int.random(in: 0..<20, using: &random)) + random.pick(endings)
  }
  for _ in 0..<Int.random(in: 0...5, using: &random) {
    builder.stackParents.append(
      UInt32.random(in: 0..<UInt32(builder.stackParents.count), using: &random))
    builder.stackPCs.append(.random(in: 0...UInt64.max, using: &random))
  }
  for _ in 0..<Int.random(in: 0...3, using: &random) {
    let start = UInt64.random(in: 0..<1 << 47, using: &random)
    builder.modules.append(
      Snapshot.Module(
        path: text("/lib/"), buildID: text(""), bias: .random(in: 0...UInt64.max, using: &random),
        start: start, end: start + .random(in: 0..<1 << 30, using: &random)))
    builder.threads.append(
      Snapshot.Thread(
        id: .random(in: 0...UInt32.max, using: &random), name: text("thread"),
        stackPointer: .random(in: 0...UInt64.max, using: &random),
        pc: .random(in: 0...UInt64.max, using: &random)))
    builder.marks.append(
      Snapshot.Mark(
        name: text("call "), generation: .random(in: 0...UInt16.max, using: &random),
        time: .random(in: 0...UInt64.max, using: &random)))
    builder.process.memory[text("figure")] = .random(in: 0...UInt64.max, using: &random)
    builder.note(text("something was not done"), count: .random(in: 1...1_000, using: &random))
  }
  builder.process.pid = .random(in: 0...UInt32.max, using: &random)
  builder.process.executable = text("/app/")
  builder.process.mark = text("mark")
  builder.process.hasAgent = .random(using: &random)
  builder.process.isPartial = .random(using: &random)
  builder.process.runIdentity = .random(in: 0...UInt64.max, using: &random)

  let sizes: [UInt64] = [0, 1, 16, 4_096, UInt64(UInt32.max) - 1, UInt64(UInt32.max), 1 << 33]
  var addresses: Set<UInt64> = []
  let count = Int.random(in: 0...maximumNodes, using: &random)
  while addresses.count < count { addresses.insert(.random(in: 0..<1 << 47, using: &random)) }
  for address in addresses.sorted().shuffled(using: &random) {
    let row = builder.add(
      SnapshotBuilder.Node(
        address: address, size: random.pick(sizes),
        type: builder.type(text("App.T"), module: text("M")),
        kind: random.pick(NodeKind.allCases),
        state: random.pick(NodeState.allCases),
        stack: StackIndex(Int.random(in: 0..<builder.stackParents.count, using: &random)),
        generation: .random(in: 0...UInt16.max, using: &random),
        strongCount: .random(in: 0...UInt32.max, using: &random),
        unownedCount: .random(in: 0...70_000, using: &random),
        weakCount: .random(in: 0...70_000, using: &random)))
    if Int.random(in: 0..<5, using: &random) == 0 {
      builder.nodeNames[row] = builder.string(text("name"))
    }
  }
  for row in builder.nodes.indices where Int.random(in: 0..<6, using: &random) == 0 {
    builder.tasks.append(
      SnapshotBuilder.Task(
        node: UInt32(row), address: builder.nodes[row].address,
        id: .random(in: 0...UInt64.max, using: &random),
        info: TaskInfo(rawValue: .random(in: 0...UInt32.max, using: &random)),
        parent: random.pick([0, builder.nodes[0].address]),
        suspendedAt: StackIndex(Int.random(in: 0..<builder.stackParents.count, using: &random))))
  }
  for row in builder.nodes.indices where Int.random(in: 0..<4, using: &random) == 0 {
    let capacity = UInt64.random(in: 0...1 << 40, using: &random)
    builder.storage.append(
      SnapshotBuilder.Storage(
        node: UInt32(row), count: .random(in: 0...capacity, using: &random), capacity: capacity,
        text: .random(in: 0...UInt32.max, using: &random)))
  }
  for _ in 0..<Int.random(in: 0...4, using: &random) {
    builder.declare(
      random.pick(FieldDeclaration.allCases), of: builder.type(text("Type")),
      name: builder.string(text("field")))
  }
  if count > 0, Bool.random(using: &random) {
    let rows = (0..<UInt32(count)).filter { _ in Bool.random(using: &random) }
    builder.sampling = Snapshot.Sampling(
      interval: .random(in: 1...UInt64.max, using: &random), node: Column(rows),
      bytes: Column(rows.map { _ in .random(in: 0...UInt64.max, using: &random) }))
  }
  if count > 0 {
    func node() -> UInt32 { .random(in: 0..<UInt32(count), using: &random) }
    func label() -> LabelIndex {
      builder.label(
        text("field"),
        index: random.pick([0, 7, Snapshot.Labels.noIndex, Snapshot.Labels.anyIndex]),
        function: random.pick([0, .random(in: 0...UInt64.max, using: &random)]))
    }
    for _ in 0..<Int.random(in: 0...count * 3, using: &random) {
      builder.addEdge(
        from: node(), to: node(), label: label(),
        strength: random.pick(EdgeStrength.allCases),
        provenance: random.pick(EdgeProvenance.allCases))
    }
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      let thread = builder.threads.indices.randomElement(using: &random)
      builder.addRoot(
        random.pick(RootKind.allCases), to: node(),
        address: .random(in: 0...UInt64.max, using: &random),
        pc: .random(in: 0...UInt64.max, using: &random),
        thread: thread.map(UInt32.init) ?? UInt32.max,
        label: label(), strength: random.pick(EdgeStrength.allCases),
        provenance: random.pick(EdgeProvenance.allCases))
    }
  }
  return builder
}
