// Indices: one wrapper for each kind of number that points into a table.

/// A position in one of a snapshot's or a graph's tables.
///
/// Each table has an index type of its own so that a node can't be used where a type is meant. They
/// cost nothing: each is a `UInt32` in memory.
public protocol TableIndex: Hashable, Comparable, Sendable, BitwiseCopyable {
  /// The position, counted from zero.
  var rawValue: UInt32 { get }

  /// Creates an index from a position.
  init(rawValue: UInt32)
}

extension TableIndex {
  /// Creates an index from a position.
  @inlinable
  public init(_ position: Int) {
    self.init(rawValue: UInt32(truncatingIfNeeded: position))
  }

  /// The position as an `Int`, for subscripts.
  @inlinable
  public var position: Int { Int(rawValue) }

  @inlinable
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The position of a node: an object, a block of memory or a registered resource.
public struct NodeIndex: TableIndex {
  public let rawValue: UInt32
  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// The position of an edge: one reference from one node to another.
public struct EdgeIndex: TableIndex {
  public let rawValue: UInt32
  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// The position of a root: one reference from outside the heap to a node.
public struct RootIndex: TableIndex {
  public let rawValue: UInt32
  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// The position of a type.
public struct TypeIndex: TableIndex {
  public let rawValue: UInt32
  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// The position of a string.
public struct StringIndex: TableIndex {
  public let rawValue: UInt32
  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The empty string, which every snapshot has first.
  public static let empty = StringIndex(rawValue: 0)
}

/// The position of an edge's label.
public struct LabelIndex: TableIndex {
  public let rawValue: UInt32
  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The label of an edge of which nothing is known; every snapshot has it first.
  public static let none = LabelIndex(rawValue: 0)
}

/// The position of a stack: a node of the trie in which stacks share their outer frames.
public struct StackIndex: TableIndex {
  public let rawValue: UInt32
  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// No stack was recorded; the trie's root, which every snapshot has first.
  public static let none = StackIndex(rawValue: 0)
}

/// The number of marks that had been taken when an object was allocated.
public struct Generation: TableIndex {
  public let rawValue: UInt32
  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
}
