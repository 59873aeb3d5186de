// Cost: how much memory something takes, as bytes and as a number of objects.

/// A number of bytes.
public struct ByteCount: Hashable, Comparable, Sendable, BitwiseCopyable, AdditiveArithmetic {
  /// The number of bytes; negative in a difference.
  public var rawValue: Int64

  /// Creates a count from a number of bytes.
  @inlinable
  public init(_ rawValue: Int64) { self.rawValue = rawValue }

  /// Creates a count from a number of bytes.
  @inlinable
  public init(_ rawValue: Int) { self.rawValue = Int64(rawValue) }

  public static let zero = ByteCount(Int64(0))

  @inlinable
  public static func < (left: ByteCount, right: ByteCount) -> Bool {
    left.rawValue < right.rawValue
  }

  @inlinable
  public static func + (left: ByteCount, right: ByteCount) -> ByteCount {
    ByteCount(left.rawValue + right.rawValue)
  }

  @inlinable
  public static func - (left: ByteCount, right: ByteCount) -> ByteCount {
    ByteCount(left.rawValue - right.rawValue)
  }
}

/// What a set of objects costs: how many they are and how many bytes they take.
///
/// Costs form a commutative group, so totals, differences and growth are the same code.
public struct Cost: Hashable, Sendable, BitwiseCopyable, AdditiveArithmetic {
  /// The number of objects; negative in a difference.
  public var count: Int

  /// The bytes that the objects take, as they were asked for from the allocator.
  public var bytes: ByteCount

  /// Creates a cost.
  @inlinable
  public init(count: Int, bytes: ByteCount) {
    self.count = count
    self.bytes = bytes
  }

  public static let zero = Cost(count: 0, bytes: .zero)

  @inlinable
  public static func + (left: Cost, right: Cost) -> Cost {
    Cost(count: left.count + right.count, bytes: left.bytes + right.bytes)
  }

  @inlinable
  public static func - (left: Cost, right: Cost) -> Cost {
    Cost(count: left.count - right.count, bytes: left.bytes - right.bytes)
  }
}
