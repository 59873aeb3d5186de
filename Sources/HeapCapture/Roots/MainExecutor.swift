// MainExecutor: the retain of the main executor that an asynchronous `main` never gives back.

internal import SnapshotFormat

/// The object that is the executor of the main thread on Linux; nil where the program has none.
///
/// When `main` waits for the first time, the runtime retains this executor and calls its `run()`, which never
/// returns: libdispatch ends the main thread there (`dispatch_main`), and its stack is unwound without giving the
/// retain back. So no word that holds is left. The executor's other holders are variables of the
/// runtime.
///
/// - Complexity: O(*n*) for *n* types, and for *b* blocks where there is such a type.
func mainExecutor(nodes: HeapNodes, types: [SwiftType]) -> Int? {
  guard let type = types.firstIndex(where: { $0.name == "Swift.DispatchMainExecutor" }) else {
    return nil
  }
  return nodes.typeID.firstIndex(of: Int32(type))
}
