// Column: one property of every row of a table, in an array or straight from a mapped file.

/// One property of every row of a table: all addresses, all sizes, all types.
///
/// A column either owns an array or views a part of a mapped file, which it keeps mapped. Reading is
/// the same for both. Columns never change, so any number of threads may read one.
///
/// - Complexity: subscripts are O(1) and checked; `withUnsafeBufferPointer` is for loops that
///   `Snapshot.validate()` has proved safe.
public struct Column<Element: BitwiseCopyable & Sendable>: @unchecked Sendable, RandomAccessCollection {
  /// The rows; valid as long as `_owner` lives.
  private let _rows: UnsafeBufferPointer<Element>

  /// What keeps the rows in memory: an array's copy or a mapping.
  private let _owner: AnyObject?

  /// Creates a column that owns a copy of an array.
  public init(_ rows: [Element]) {
    let storage = _ColumnStorage(copying: rows)
    _rows = UnsafeBufferPointer(storage.rows)
    _owner = storage
  }

  /// Creates a column over memory that `owner` keeps valid and unchanged.
  package init(_ rows: UnsafeBufferPointer<Element>, owner: AnyObject) {
    _rows = rows
    _owner = owner
  }

  /// Creates a column without rows.
  public init() { self.init([]) }

  public var startIndex: Int { 0 }
  public var endIndex: Int { _rows.count }

  public subscript(row: Int) -> Element {
    precondition(row >= 0 && row < _rows.count, "a row outside its column")
    return _rows[row]
  }

  /// Calls `body` with all rows.
  @inlinable
  public func withUnsafeBufferPointer<R>(_ body: (UnsafeBufferPointer<Element>) throws -> R) rethrows -> R {
    try body(_buffer)
  }

  @usableFromInline
  internal var _buffer: UnsafeBufferPointer<Element> { _rows }
}

/// The memory of a column that was made from an array.
private final class _ColumnStorage<Element: BitwiseCopyable> {
  let rows: UnsafeMutableBufferPointer<Element>

  init(copying elements: [Element]) {
    rows = .allocate(capacity: elements.count)
    _ = rows.initialize(from: elements)
  }

  deinit { rows.deallocate() }
}
