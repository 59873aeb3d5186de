// GraphPayload: the graph as columns for the viewer. docs/viewer-format.md says what each one holds.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// The columns of a viewer file, and where the snapshot's rows went.
struct GraphPayload {
  /// With more nodes than this the file has the dominators, so that a page need not find them.
  static let mostNodesWithoutDominators = 2_000_000

  private(set) var columns: [ViewerColumn] = []

  /// How many nodes and edges the file has.
  private(set) var nodeCount = 0
  private(set) var edgeCount = 0

  /// The rows of the snapshot's nodes and edges where only a part is written; empty where all is.
  private var _rowByNode: [UInt32] = []
  private var _rowByEdge: [UInt32: Int] = [:]
  private var _rowByRoot: [UInt32: Int] = [:]
  private let _isPart: Bool

  private static let absent = UInt32.max

  /// - Complexity: O(*V* + *E*).
  init(_ input: ViewerInput) {
    let graph = input.graph
    _isPart = input.part != nil
    let nodes = input.part ?? Array(graph.nodes)
    if _isPart {
      _rowByNode = [UInt32](repeating: Self.absent, count: graph.nodeCount)
      for (row, node) in nodes.enumerated() { _rowByNode[node.position] = UInt32(row) }
    }
    nodeCount = nodes.count

    var strings = StringPool()
    let reported = ReportedTypes(input)
    var types = TypeTable(graph, names: input.names, reportByName: reported.rowByName)
    var labels = LabelTable(graph.snapshot)
    var code = CodeTable()
    var tables = nodeColumns(
      nodes, of: input, types: &types, code: &code, strings: &strings)
    tables += edgeColumns(nodes, of: input, labels: &labels, strings: &strings)
    tables += rootColumns(of: input, strings: &strings)
    tables += taskColumns(of: input, code: &code, strings: &strings)
    tables += dominatorColumns(nodes, of: input)
    tables += reported.columns(strings: &strings)
    columns =
      strings.columns + types.columns + labels.columns + code.columns + tables
  }

  /// The row of a node in the file; nil where it was left out.
  func row(of node: NodeIndex) -> Int? {
    if !_isPart { return node.position }
    let row = _rowByNode[node.position]
    return row == Self.absent ? nil : Int(row)
  }

  /// The row of an edge in the file; nil where it was left out.
  func row(of edge: EdgeIndex) -> Int? { _isPart ? _rowByEdge[edge.rawValue] : edge.position }

  /// The row of a root in the file; nil where it was left out.
  func row(of root: RootIndex) -> Int? { _isPart ? _rowByRoot[root.rawValue] : root.position }

  // MARK: - Nodes

  private func nodeColumns(
    _ nodes: [NodeIndex], of input: ViewerInput, types: inout TypeTable, code: inout CodeTable,
    strings: inout StringPool
  ) -> [ViewerColumn] {
    let snapshot = input.graph.snapshot
    let flags = NodeFlags(input)
    var type = ViewerColumn("node.type", .u32)
    var bytes = ViewerColumn("node.bytes", .u53)
    var gap = ViewerColumn("node.gap", .z53)
    var kind = ViewerColumn("node.kind", .bytes)
    var flag = ViewerColumn("node.flags", .bytes)
    var generation = ViewerColumn("node.generation", .u32)
    var stack = ViewerColumn("node.stack", .u32)
    var strong = ViewerColumn("node.strong", .u32)
    var unowned = ViewerColumn("node.unowned", .u32)
    var weak = ViewerColumn("node.weak", .u32)
    var end: UInt64 = 0
    for node in nodes {
      let row = node.position
      let size = min(snapshot.nodes.bytes(row), ViewerColumn.largest)
      type.append(types.row(of: node, strings: &strings))
      bytes.append(size)
      gap.append(signed: Int64(bitPattern: snapshot.nodes.address[row] &- end))
      end = snapshot.nodes.address[row] &+ size
      kind.append(byte: snapshot.nodes.kind[row])
      flag.append(byte: flags.byRow[row])
      // One more than there can be stands for unknown.
      generation.append(
        snapshot.sampling == nil || snapshot.knowsBirth(of: node)
          ? UInt32(snapshot.nodes.generation[row]) : 1 << 16)
      stack.append(
        code.row(
          of: StackIndex(rawValue: snapshot.nodes.stack[row]), names: input.names,
          strings: &strings))
      // Uncounted is the largest number there is, so one more is 0.
      strong.append(snapshot.nodes.strongCount[row] &+ 1)
      unowned.append(UInt32(snapshot.nodes.unownedCount[row]))
      weak.append(UInt32(snapshot.nodes.weakCount[row]))
    }
    return [type, bytes, gap, kind, flag, generation, stack, strong, unowned, weak]
  }

  // MARK: - Edges and roots

  private mutating func edgeColumns(
    _ nodes: [NodeIndex], of input: ViewerInput, labels: inout LabelTable,
    strings: inout StringPool
  ) -> [ViewerColumn] {
    let graph = input.graph
    let edges = graph.snapshot.edges
    var degree = ViewerColumn("edge.degree", .u32)
    var target = ViewerColumn("edge.target", .z32)
    var label = ViewerColumn("edge.label", .u32)
    var info = ViewerColumn("edge.info", .bytes)
    for (row, node) in nodes.enumerated() {
      var previous = row
      var count = 0
      for edge in graph.edges(of: node) {
        guard let next = self.row(of: NodeIndex(rawValue: edges.target[edge])) else { continue }
        if _isPart { _rowByEdge[UInt32(edge)] = edgeCount }
        target.append(signed: Int64(next - previous))
        previous = next
        label.append(
          labels.row(of: EdgeIndex(edge), from: node, names: input.names, strings: &strings))
        info.append(byte: edges.info[edge])
        count += 1
        edgeCount += 1
      }
      degree.append(count)
    }
    return [degree, target, label, info]
  }

  private mutating func rootColumns(
    of input: ViewerInput, strings: inout StringPool
  ) -> [ViewerColumn] {
    let roots = input.graph.snapshot.roots
    var kind = ViewerColumn("root.kind", .bytes)
    var target = ViewerColumn("root.target", .u32)
    var info = ViewerColumn("root.info", .bytes)
    var name = ViewerColumn("root.name", .u32)
    for root in 0..<roots.count {
      guard let node = row(of: NodeIndex(rawValue: roots.target[root])) else { continue }
      if _isPart { _rowByRoot[UInt32(root)] = target.count }
      kind.append(byte: roots.kind[root])
      target.append(node)
      info.append(byte: roots.info[root])
      name.append(strings.row(of: input.names.root(RootIndex(root)).name))
    }
    var entry = ViewerColumn("entry.node", .u32)
    for node in input.sizes.unreachableEntries {
      if let row = row(of: node) { entry.append(row) }
    }
    return [kind, target, info, name, entry]
  }

  // MARK: - Tasks

  private func taskColumns(
    of input: ViewerInput, code: inout CodeTable, strings: inout StringPool
  ) -> [ViewerColumn] {
    let tasks = input.graph.snapshot.tasks
    var node = ViewerColumn("task.node", .u32)
    var id = ViewerColumn("task.id", .u53)
    var info = ViewerColumn("task.info", .u32)
    var parent = ViewerColumn("task.parent", .u32)
    var stack = ViewerColumn("task.stack", .u32)
    let rowByTask = rowByTask(of: input)
    for task in 0..<tasks.count {
      guard rowByTask[task] != nil, let row = row(of: NodeIndex(rawValue: tasks.node[task])) else {
        continue
      }
      node.append(row)
      id.append(tasks.id[task])
      info.append(tasks.info[task])
      let above = tasks.parent[task]
      parent.append(
        above == Snapshot.Tasks.noParent ? 0 : rowByTask[Int(above)].map { $0 + 1 } ?? 0)
      stack.append(
        code.row(
          of: StackIndex(rawValue: tasks.suspendedAt[task]), names: input.names, strings: &strings))
    }
    return [node, id, info, parent, stack]
  }

  /// The rows of the tasks that are in the file.
  func rowByTask(of input: ViewerInput) -> [Int: Int] {
    let tasks = input.graph.snapshot.tasks
    var rows: [Int: Int] = [:]
    for task in 0..<tasks.count where row(of: NodeIndex(rawValue: tasks.node[task])) != nil {
      rows[task] = rows.count
    }
    return rows
  }

  // MARK: - Dominators

  private func dominatorColumns(_ nodes: [NodeIndex], of input: ViewerInput) -> [ViewerColumn] {
    guard _isPart || nodes.count > Self.mostNodesWithoutDominators else { return [] }
    var dominator = ViewerColumn("node.dominator", .z32)
    var retainedBytes = ViewerColumn("node.retainedBytes", .u53)
    var retainedCount = ViewerColumn("node.retainedCount", .u32)
    for (row, node) in nodes.enumerated() {
      var above = input.sizes.dominator(of: node)
      while let next = above, self.row(of: next) == nil { above = input.sizes.dominator(of: next) }
      let place = above.flatMap { self.row(of: $0) } ?? row
      dominator.append(signed: Int64(row - place))
      let retained = input.sizes.retained(by: node)
      retainedBytes.append(UInt64(retained.bytes.rawValue))
      retainedCount.append(retained.count)
    }
    return _isPart ? [dominator, retainedBytes, retainedCount] : [dominator]
  }
}
