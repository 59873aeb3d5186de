// Kinds: the small vocabularies that nodes, edges and roots are described with. Raw values are the
// file format's; they never change, new ones are added at the end and raise the minor version.

/// What a node is.
public enum NodeKind: UInt8, Sendable, CaseIterable {
  /// A block of memory of which nothing but its size is known: C, C++, libdispatch.
  case block = 0

  /// An instance of a Swift class.
  case object = 1

  /// The captured values of a closure.
  case closureContext = 2

  /// A captured variable, an indirect enum payload, a boxed existential or an error.
  case box = 3

  /// The storage of an array, dictionary, set or string; reports fold it into the field that holds it.
  case storage = 4

  /// A Swift concurrency task.
  case task = 5

  /// A slab of a task's own allocator.
  case taskSlab = 6

  /// A weak-reference side table.
  case sideTable = 7

  /// An Objective-C style block of libdispatch or CoreFoundation.
  case cBlock = 8

  /// A CoreFoundation object, counted in its own way.
  case coreFoundation = 9

  /// Something outside the Swift heap that the program registered: a C handle, a buffer, a texture.
  case resource = 10

  /// Memory that the Swift runtime allocated for itself: metadata, caches, conformance tables.
  case runtime = 11

  /// A part of an object of a C library that has no name of its own: a collection of CoreFoundation and
  /// its tables, a work item's continuation in libdispatch. Reports fold it into the field that holds it.
  case cStorage = 12
}

/// How far a node's life has gone.
public enum NodeState: UInt8, Sendable, CaseIterable {
  case live = 0

  /// Its deinitializer is running.
  case deiniting = 1

  /// Destroyed, its memory kept by unowned references: a zombie.
  case deinited = 2
}

/// How strongly an edge holds its target.
public enum EdgeStrength: UInt8, Sendable, CaseIterable {
  case strong = 0
  case weak = 1
  case unowned = 2

  /// `unowned(unsafe)` or `Unmanaged`: an address without a count.
  case unmanaged = 3
}

/// Where an edge comes from, and so how far it can be trusted.
public enum EdgeProvenance: UInt8, Sendable, CaseIterable {
  /// The program registered it.
  case declared = 0

  /// The type's metadata says that there is a reference at this place.
  case reflected = 1

  /// A word that looks like a pointer; for counted objects only where a count was left unexplained.
  case scanned = 2
}

/// What keeps a node from outside the heap.
public enum RootKind: UInt8, Sendable, CaseIterable {
  /// A global or static variable, or another word of a module's data.
  case global = 0

  /// A word of a thread's stack.
  case stack = 1

  /// A thread's register.
  case register = 2

  /// Thread-local or thread-specific data.
  case threadLocal = 3

  /// A task that is running or that something outside the heap will resume.
  case task = 4

  /// The program registered it as a root.
  case declared = 5

  /// An immortal object, or one that the runtime keeps for itself.
  case runtime = 6

  /// A word of memory that the program mapped itself.
  case mapped = 7
}
