// LibraryTables: the C memory in which a library that comes with Swift keeps what it has registered.

internal import GraphPrimitives
internal import HeapGraph
internal import SnapshotFormat

/// Where in its own tables a library has something changes from time to time and says nothing: libdispatch's
/// timers lie in a heap of several pieces, or in one of the variables beside it, by when they are due. All of a
/// table is one place.
extension HeapGraph {
  /// Whether a root is a variable of a library that comes with Swift.
  ///
  /// - Complexity: O(modules).
  func isOfLibrary(_ root: RootIndex) -> Bool {
    guard kind(of: root) == .global,
      let module = snapshot.module(at: snapshot.roots.address[root.position])
    else { return false }
    return ToolchainModules.isLibrary(path: module.path)
  }

  /// Whether a node can be a piece of a table: C memory of which nothing is known.
  func isTable(_ node: NodeIndex) -> Bool { kind(of: node) == .block && module(of: node).isEmpty }

  /// Whether a node is a timer of libdispatch, which is linked into the program where Swift's libraries are.
  func isTimer(_ node: NodeIndex) -> Bool {
    kind(of: node) == .block && module(of: node) == "Dispatch"
      && typeName(of: node) == "dispatch timer"
  }

  /// Whether a node is a continuation of libdispatch: what a queue or a source has of a block that it will call. Used
  /// ones are kept in a list for the next time, and old links of that list stay in them.
  func isContinuation(_ node: NodeIndex) -> Bool {
    kind(of: node) == .cStorage && typeName(of: node) == "dispatch continuation"
  }

  /// How many steps of a way lie in a library's tables, before what it keeps there; nil for other ways.
  ///
  /// - Complexity: O(steps in tables + modules).
  func stepsInTables(of path: RetainPath) -> Int? {
    guard kind(of: path.root) == .global else { return nil }
    let count = path.steps.prefix { isTable($0.node) }.count
    let first = count < path.steps.count ? path.steps[count].node : path.target
    return isTimer(first) || count > 0 && isOfLibrary(path.root) ? count : nil
  }
}
