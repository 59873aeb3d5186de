// MemoryGraph: what a program or a test says to the agent that it links.

internal import CMemoryGraphHooks
internal import HeapCapture
public import SnapshotFormat

/// The agent of this process: marks, snapshots, and what the program tells of itself.
///
/// A program that links the agent and calls nothing is as without it. All functions may be called from
/// any thread, but not in a signal handler.
public enum MemoryGraph {
  /// Starts automatic discovery: from here on every block of the heap is known with its size, the
  /// generation it was born in and the stack that asked for it.
  ///
  /// Does nothing where it was started already, as under `memgraph run`.
  ///
  /// - Throws: ``MemoryGraphError/cannotRecord(reason:)`` where the allocator's functions can't be
  ///   interposed.
  public static func start() throws(MemoryGraphError) {
    try _check(memory_graph_start()) { .file(path: "", errno: $0) }
  }

  /// Ends a generation: objects born before are told apart from those born after.
  ///
  /// Where a folder is set (`MEMORY_GRAPH_OUT`, or `memgraph run`), a snapshot named after the mark is
  /// written there: the calling thread waits for it, the others stop only while the process is copied.
  ///
  /// - Throws: ``MemoryGraphError/file(path:errno:)`` where the snapshot could not be written. The
  ///   generation has ended all the same.
  /// - Complexity: O(1) without a folder. With one, the threads stop for a time that grows with the pages that are
  ///   resident, some 20 ms for each GB; the snapshot is O(*n*) for *n* blocks, in another process.
  public static func mark(_ name: String) throws(MemoryGraphError) {
    try _check(memory_graph_mark(name)) { .file(path: name, errno: $0) }
  }

  /// Writes a snapshot, and opens it. It ends a generation as a mark does.
  ///
  /// - Parameter path: a file of this name is replaced when the new one is whole.
  /// - Returns: The snapshot, mapped from the file, not copied.
  /// - Throws: ``MemoryGraphError`` where the snapshot could not be written, or not be read.
  /// - Complexity: As of ``mark(_:)`` with a folder.
  @discardableResult
  public static func snapshot(to path: String) throws(MemoryGraphError) -> Snapshot {
    try _check(memory_graph_snapshot(path)) { .file(path: path, errno: $0) }
    // The caller may be a thread with a small stack.
    let read = onLargeStack { () -> Result<Snapshot, SnapshotError> in
      do throws(SnapshotError) {
        return .success(try Snapshot(contentsOf: path))
      } catch {
        return .failure(error)
      }
    }
    switch read {
    case .success(let snapshot): return snapshot
    case .failure(let error): throw .unreadable(error)
    }
  }

  // MARK: What the program tells of itself

  /// Something outside the Swift heap that was registered: a C handle, a texture, a file.
  public struct Resource: Hashable, Sendable {
    /// The address that it was registered with.
    public let address: UInt

    fileprivate var _pointer: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: address) }
  }

  /// Gives an object a name of its own, or makes one known that automatic discovery can't see.
  ///
  /// The registration ends with the object, and never keeps it alive.
  public static func register(_ object: AnyObject, as name: String) {
    _ = memory_graph_register(_address(object), name)
  }

  /// Makes something outside the Swift heap a node.
  ///
  /// It stays until it is unregistered or, where the pointer is a block of the heap, until that is
  /// freed.
  ///
  /// - Parameters:
  ///   - pointer: what identifies it.
  ///   - type: a name for its kind.
  ///   - bytes: what it costs, in bytes; a block of the heap costs its own size at least, and less than 0 is 0.
  /// - Returns: What names it for edges and for its end. It can be thrown away.
  /// - Complexity: O(1) on average, as all calls of the registry.
  @discardableResult
  public static func registerResource(
    _ pointer: UnsafeRawPointer, type: String, bytes: Int
  ) -> Resource {
    _ = memory_graph_register_resource(pointer, type, max(bytes, 0))
    return Resource(address: UInt(bitPattern: pointer))
  }

  /// Makes something that C hands out as an opaque pointer a node.
  @discardableResult
  public static func registerResource(
    _ pointer: OpaquePointer, type: String, bytes: Int
  ) -> Resource {
    registerResource(UnsafeRawPointer(pointer), type: type, bytes: bytes)
  }

  /// Ends a registration and removes the declared edges from and to it.
  public static func unregister(_ resource: Resource) {
    guard let pointer = resource._pointer else { return }
    _ = memory_graph_unregister(pointer)
  }

  /// Ends a registration and removes the declared edges from and to it.
  public static func unregister(_ object: AnyObject) {
    _ = memory_graph_unregister(_address(object))
  }

  /// Declares that an object holds a resource.
  ///
  /// The same edge can be added more than once; each has to be removed. An end that is freed takes its
  /// edges with it.
  public static func addStrongEdge(from: AnyObject, to: Resource, label: String) {
    _addStrongEdge(from: _address(from), to: to._pointer, label: label)
  }

  /// Declares that an object holds another in a way that automatic discovery can't see.
  public static func addStrongEdge(from: AnyObject, to: AnyObject, label: String) {
    _addStrongEdge(from: _address(from), to: _address(to), label: label)
  }

  /// Declares that a resource holds an object.
  public static func addStrongEdge(from: Resource, to: AnyObject, label: String) {
    _addStrongEdge(from: from._pointer, to: _address(to), label: label)
  }

  /// Declares that a resource holds another.
  public static func addStrongEdge(from: Resource, to: Resource, label: String) {
    _addStrongEdge(from: from._pointer, to: to._pointer, label: label)
  }

  /// Removes an edge that was declared; does nothing where there is none such.
  public static func removeStrongEdge(from: AnyObject, to: Resource, label: String) {
    _removeStrongEdge(from: _address(from), to: to._pointer, label: label)
  }

  /// Removes an edge that was declared; does nothing where there is none such.
  public static func removeStrongEdge(from: AnyObject, to: AnyObject, label: String) {
    _removeStrongEdge(from: _address(from), to: _address(to), label: label)
  }

  /// Removes an edge that was declared; does nothing where there is none such.
  public static func removeStrongEdge(from: Resource, to: AnyObject, label: String) {
    _removeStrongEdge(from: from._pointer, to: _address(to), label: label)
  }

  /// Removes an edge that was declared; does nothing where there is none such.
  public static func removeStrongEdge(from: Resource, to: Resource, label: String) {
    _removeStrongEdge(from: from._pointer, to: to._pointer, label: label)
  }

  // MARK: -

  private static func _address(_ object: AnyObject) -> UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
  }

  private static func _addStrongEdge(
    from: UnsafeRawPointer?, to: UnsafeRawPointer?, label: String
  ) {
    guard let from, let to else { return }
    _ = memory_graph_add_strong_edge(from, to, label)
  }

  private static func _removeStrongEdge(
    from: UnsafeRawPointer?, to: UnsafeRawPointer?, label: String
  ) {
    guard let from, let to else { return }
    _ = memory_graph_remove_strong_edge(from, to, label)
  }

  private static func _check(
    _ errno: Int32, orElse other: (Int32) -> MemoryGraphError
  ) throws(MemoryGraphError) {
    guard errno != 0 else { return }
    if let problem = memory_graph_problem() {
      throw .cannotRecord(reason: String(cString: problem))
    }
    throw other(errno)
  }
}
