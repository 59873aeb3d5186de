// TraceTree: where objects were allocated, as the trace tree of a heap snapshot.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat
internal import Symbolication

/// The calls in which objects were allocated, with how much of it is alive, as nested arrays.
struct TraceTree {
  static let functionFields = ["function_id", "name", "script_name", "script_id", "line", "column"]
  static let nodeFields = ["id", "function_info_index", "count", "size", "children"]

  private var _code = CodeTree()
  private var _callByNode: [UInt32] = []
  private var _costs: [Cost] = []
  private var _shown: [UInt32] = []

  /// The functions, the root's among them; 0 where no stack is known.
  var functionCount: Int { _code.callers.count > 1 ? _code.frames.count : 0 }

  /// Takes in where the next node was allocated. Sums of samples would look like those of all objects: there are none.
  mutating func add(_ node: NodeIndex, graph: HeapGraph, names: Names) {
    _callByNode.append(_code.call(of: graph.distinguishingStack(of: node), names: names))
    let call = Int(_callByNode[node.position])
    while _costs.count <= call { _costs.append(.zero) }
    if graph.isAlive(node) { _costs[call] += graph.cost(of: node) }
  }

  /// Ends taking in: functions that only allocate give what they made to their callers.
  mutating func finish() {
    _shown = _code.callsWithoutAllocators()
    var costs = [Cost](repeating: .zero, count: _code.callers.count)
    for (call, cost) in _costs.enumerated() { costs[Int(_shown[call])] += cost }
    _costs = costs
  }

  /// The number of the call in which a node was allocated; 0 where that is unknown.
  func id(of node: NodeIndex) -> UInt32 {
    let call = _callByNode[node.position]
    return call == 0 ? 0 : _shown[Int(call)] + 1
  }

  /// Writes the functions and the tree.
  ///
  /// - Complexity: O(calls).
  func write(to stream: ExportStream, texts: inout Texts) throws {
    stream.put("\"trace_function_infos\":[")
    var scripts: [String: Int] = ["": 0]
    for (row, frame) in _code.frames.prefix(functionCount).enumerated() {
      let file = frame.file ?? ""
      let script = scripts[file] ?? scripts.count
      scripts[file] = script
      let name = row == 0 ? "(root)" : Names.sourceSpelling(of: frame.function)
      stream.put(row == 0 ? "" : ",\n")
      for (place, number) in [
        row, Int(texts.row(of: name)), Int(texts.row(of: file)), script, frame.line ?? 0, 0,
      ].enumerated() {
        if place > 0 { stream.put(byte: UInt8(ascii: ",")) }
        stream.put(decimal: number)
      }
      try stream.checkpoint()
    }
    stream.put("],\n\"trace_tree\":[")
    if functionCount > 0 { try writeTree(to: stream) }
    stream.put("]")
  }

  /// Writes each call and all that it calls. Stacks can be deep, so the way back is kept in an array.
  private func writeTree(to stream: ExportStream) throws {
    let (offsets, callees) = calleesByCall()
    var open: [(call: Int, next: Int)] = []
    func enter(_ call: Int) {
      let cost = _costs[call]
      stream.put("\(call + 1),\(_code.frameByCall[call]),\(cost.count),\(cost.bytes.rawValue),[")
      open.append((call, offsets[call]))
    }
    enter(0)
    while let last = open.last {
      if last.next == offsets[last.call + 1] {
        stream.put("]")
        open.removeLast()
      } else {
        if last.next > offsets[last.call] { stream.put(",\n") }
        open[open.count - 1].next += 1
        enter(Int(callees[last.next]))
      }
      try stream.checkpoint()
    }
  }

  private func calleesByCall() -> (offsets: [Int], callees: [UInt32]) {
    var offsets = [Int](repeating: 0, count: _code.callers.count + 1)
    for caller in _code.callers.dropFirst() { offsets[Int(caller) + 1] += 1 }
    for call in _code.callers.indices { offsets[call + 1] += offsets[call] }
    var next = offsets
    var callees = [UInt32](repeating: 0, count: _code.callers.count - 1)
    for (call, caller) in _code.callers.enumerated().dropFirst() {
      callees[next[Int(caller)]] = UInt32(call)
      next[Int(caller)] += 1
    }
    return (offsets, callees)
  }
}
