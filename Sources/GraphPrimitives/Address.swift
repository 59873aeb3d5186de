// Address: a place in the memory of the program under test, which is not this program's memory.

/// A place in the memory of the program that was captured.
///
/// It can't be dereferenced: the memory belongs to another process, or to one that has long ended.
public struct Address: Hashable, Comparable, Sendable, BitwiseCopyable, CustomStringConvertible {
  /// The address as a number.
  public let rawValue: UInt64

  /// Creates an address from a number.
  @inlinable
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Address zero, which no object has.
  public static let null = Address(0)

  @inlinable
  public static func < (left: Address, right: Address) -> Bool { left.rawValue < right.rawValue }

  @inlinable
  public static func + (address: Address, bytes: Int) -> Address {
    Address(address.rawValue &+ UInt64(bitPattern: Int64(bytes)))
  }

  /// The number of bytes from one address to another.
  @inlinable
  public static func - (left: Address, right: Address) -> Int {
    Int(Int64(bitPattern: left.rawValue &- right.rawValue))
  }

  /// The address in hexadecimal: `0x7f3a10002340`.
  public var description: String { "0x" + String(rawValue, radix: 16) }
}
