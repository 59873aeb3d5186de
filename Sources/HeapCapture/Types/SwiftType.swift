// SwiftType: what the first word of an object says it is.

internal import GraphPrimitives
package import SnapshotFormat

/// What an object is, as its metadata has it.
package final class SwiftType {
  /// Counted from zero in the order in which the catalog met them.
  package let id: Int

  /// Module-qualified and readable: `main.Promise<Swift.Int>`.
  package let name: String

  /// The module that defines the type; empty for closures, boxes and what the runtime makes.
  package let module: String

  /// What a node of this type is.
  ///
  /// A context and a box have the same metadata when one value is captured: such a type is a
  /// `.box`, and an edge from a function value says that a target is a context.
  package let kind: NodeKind

  /// Whether the word after the metadata is a Swift reference count.
  package let isCounted: Bool

  /// How an instance's references are found.
  let shape: Shape

  /// Whether instances are as large as their class says: no library of the toolchain defines it, which may give
  /// instances a tail.
  let hasNoTail: Bool

  /// The address that instances have as their first word.
  let metadata: UInt64

  enum Shape {
    /// Nothing but what the program says, and a tail of unknown words behind `size`.
    case fixed(program: Int, size: Int)

    /// A tail of elements that the count at byte 16 counts.
    case array(element: Int)

    /// The slots of a deque, which begin at an offset.
    case ring(element: Int, start: Int)

    case dictionary(key: Int, value: Int)
    case set(element: Int)
    case string

    /// A header by `program`, then elements whose number nobody knows; nil where they hold no
    /// reference whatever their number is.
    case managedBuffer(program: Int, size: Int, hasTail: Bool)

    /// A closure's captures or a captured variable, by the capture descriptor at an address; nil where
    /// it doesn't tell where they lie.
    case captures(descriptor: UInt64?, firstCapture: Int)

    /// One value at an offset.
    case box(program: Int, offset: Int)

    /// One value whose type stands in the box.
    case errorBox

    /// What a `CheckedContinuation` holds: the continuation and the function's name, in a tail.
    case continuationCanary

    /// A task, whose words `TaskLayout` tells apart.
    case task

    /// Frames and other allocations of a task, as far as they are in use.
    case taskSlab

    /// A block's captured words, behind its invoke function.
    case block

    /// Nothing is known of the bytes from an offset on.
    case words(from: Int)
  }

  init(
    id: Int, name: String, module: String, kind: NodeKind, isCounted: Bool, shape: Shape,
    metadata: UInt64
  ) {
    self.id = id
    self.name = name
    self.module = module
    self.kind = kind
    self.isCounted = isCounted
    self.shape = shape
    hasNoTail = kind == .object && !module.isEmpty && !ToolchainModules.names.contains(module)
    self.metadata = metadata
  }
}
