// Column: one property of every row of a table, in memory of its own or straight from a mapped file.

/// One property of every row of a table: all addresses, all sizes, all types.
///
/// A column either owns its rows or views a part of a mapped file, which it keeps mapped. Reading is
/// the same for both. Columns never change, so any number of threads may read one.
///
/// - Complexity: subscripts are O(1) and checked; `withUnsafeBufferPointer` is for loops that
///   `Snapshot.validate()` has proved safe.
public struct Column<Element: BitwiseCopyable & Sendable>: @unchecked Sendable,
  RandomAccessCollection
{
  /// The rows; valid as long as `_owner` lives.
  @usableFromInline
  internal let _rows: UnsafeBufferPointer<Element>

  /// What keeps the rows in memory: storage of the column's own or a mapping.
  @usableFromInline
  internal let _owner: AnyObject?

  /// Creates a column that owns a copy of an array.
  public init(_ rows: [Element]) {
    self.init(count: rows.count) { _ = $0.initialize(from: rows) }
  }

  /// Creates a column of `count` rows that `fill` initializes, all of them.
  public init(count: Int, filledBy fill: (UnsafeMutableBufferPointer<Element>) -> Void) {
    let storage = ColumnStorage<Element>(count: count)
    fill(storage.rows)
    self.init(storage)
  }

  /// Creates a column of rows that have been initialized and will not be written again.
  internal init(_ storage: ColumnStorage<Element>) {
    _rows = UnsafeBufferPointer(storage.rows)
    _owner = storage
  }

  /// Creates a column over memory that `owner` keeps valid and unchanged.
  package init(_ rows: UnsafeBufferPointer<Element>, owner: AnyObject) {
    _rows = rows
    _owner = owner
  }

  /// Creates a column without rows.
  public init() {
    _rows = UnsafeBufferPointer(start: nil, count: 0)
    _owner = nil
  }

  @inlinable
  public var startIndex: Int { 0 }

  @inlinable
  public var endIndex: Int { _rows.count }

  @inlinable
  public subscript(row: Int) -> Element {
    precondition(row >= 0 && row < _rows.count, "a row outside its column")
    return withExtendedLifetime(_owner) { _rows[row] }
  }

  /// Calls `body` with all rows, which are valid until it returns.
  @inlinable
  public func withUnsafeBufferPointer<R, E: Error>(
    _ body: (UnsafeBufferPointer<Element>) throws(E) -> R
  ) throws(E) -> R {
    defer { withExtendedLifetime(_owner) {} }
    return try body(_rows)
  }

  @inlinable
  public func withContiguousStorageIfAvailable<R>(
    _ body: (UnsafeBufferPointer<Element>) throws -> R
  ) rethrows -> R? {
    defer { withExtendedLifetime(_owner) {} }
    return try body(_rows)
  }
}

/// The memory of a column that is not mapped from a file.
internal final class ColumnStorage<Element: BitwiseCopyable> {
  /// The rows, not yet initialized.
  let rows: UnsafeMutableBufferPointer<Element>

  init(count: Int) { rows = .allocate(capacity: count) }

  deinit { rows.deallocate() }
}
