// Certainty: what is held by something that is known to be a reference, and what by a word that may be left over.

internal import GraphKit
internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

extension HeapGraph {
  /// Whether each node is held for sure: without the words of threads' stacks and registers, of memory that is mapped or
  /// belongs to a thread, of blocks that nothing describes and of tasks' frames, which may be left over from something else.
  ///
  /// - Complexity: O(*V* + *E*).
  func heldForSure() -> [Bool] {
    var isHeld = [Bool](repeating: false, count: nodeCount + 1)
    var pending = [outside] + heldWithoutRoot.map(\.rawValue)
    for node in pending { isHeld[Int(node)] = true }
    while let node = pending.popLast() {
      for slot in strong.edges(from: node) {
        let target = Int(strong.targets[slot])
        if isHeld[target] || !_isSure(slot) { continue }
        isHeld[target] = true
        pending.append(strong.targets[slot])
      }
    }
    return isHeld
  }

  private func _isSure(_ slot: Int) -> Bool {
    let row = Int(rowBySlot[slot])
    if slot < firstRootSlot {
      return EdgeInfo(rawValue: snapshot.edges.info[row]).provenance != .scanned
    }
    switch RootKind(rawValue: snapshot.roots.kind[row]) {
    case .stack, .register, .threadLocal, .mapped:
      return EdgeInfo(rawValue: snapshot.roots.info[row]).provenance != .scanned
    case .global, .task, .declared, .runtime, nil: return true
    }
  }
}
