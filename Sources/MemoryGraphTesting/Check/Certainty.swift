// Certainty: what is held by something that is known to be a reference, and what by a word that may be left over.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

extension HeapGraph {
  /// Whether each node is held for sure: without the words of threads' stacks and registers, of memory that is mapped or
  /// belongs to a thread, and of blocks that nothing describes, which may be left over from something else.
  ///
  /// What is in a task's memory counts as sure: there is no other way to know what a frame holds.
  ///
  /// - Complexity: O(*V* + *E*).
  func heldForSure() -> [Bool] {
    var isHeld = [Bool](repeating: false, count: nodeCount + 1)
    var pending = [outside] + heldWithoutRoot.map(\.rawValue)
    for node in pending { isHeld[Int(node)] = true }
    while let node = pending.popLast() {
      let mayBeLeftOver = node != outside && !_isOfTask(NodeIndex(rawValue: node))
      for slot in strong.edges(from: node) {
        let target = Int(strong.targets[slot])
        if isHeld[target] || !_isSure(slot, scannedMayBeLeftOver: mayBeLeftOver) { continue }
        isHeld[target] = true
        pending.append(strong.targets[slot])
      }
    }
    return isHeld
  }

  private func _isOfTask(_ node: NodeIndex) -> Bool {
    let kind = kind(of: node)
    return kind == .task || kind == .taskSlab
  }

  private func _isSure(_ slot: Int, scannedMayBeLeftOver: Bool) -> Bool {
    let row = Int(rowBySlot[slot])
    if slot < firstRootSlot {
      return !scannedMayBeLeftOver
        || EdgeInfo(rawValue: snapshot.edges.info[row]).provenance != .scanned
    }
    switch RootKind(rawValue: snapshot.roots.kind[row]) {
    case .stack, .register, .threadLocal, .mapped:
      return EdgeInfo(rawValue: snapshot.roots.info[row]).provenance != .scanned
    case .global, .task, .declared, .runtime, nil: return true
    }
  }
}
