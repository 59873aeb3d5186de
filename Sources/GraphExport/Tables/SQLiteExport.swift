// SQLiteExport: the tables as a database of SQLite, with indices and views.

internal import CSQLite
internal import Glibc
internal import GraphReport

/// Writes the tables as a database of SQLite.
///
/// The same snapshots give the same bytes, as long as it is the same version of SQLite that writes.
package enum SQLiteExport {
  /// The version of tables and views, as `PRAGMA user_version` has it. It rises where a query would have to change.
  package static let version = 1

  /// Rows of tables that others speak of come after those that speak of them. References come first: they are most of the work, and
  /// ask for no analysis, which another processor can make meanwhile.
  private static let order = [.edges] + ExportTable.allCases.filter { $0 != .edges }

  /// Writes a database.
  ///
  /// - Parameter path: Where nothing lies yet; what is there after an error is no database.
  /// - Throws: ``ExportError`` where SQLite can't write it.
  /// - Complexity: O(*V* + *E*) rows, and O(*E* log *E*) for the index of what holds an object.
  package static func write(_ snapshots: [ExportedSnapshot], to path: String) throws {
    let database = try Database(path)
    // Nobody reads the file before it is whole, so it needs no journal.
    try database.run("PRAGMA journal_mode = OFF")
    try database.run("PRAGMA synchronous = OFF")
    try database.run("PRAGMA locking_mode = EXCLUSIVE")
    try database.run("PRAGMA page_size = 8192")
    // Indices are sorted in pieces of this size, which stay in a processor's cache, and merged out of temporary files: that takes half
    // of the time of one large piece. Rows are put in at the end of their tables, so a larger cache would not be read again.
    try database.run("PRAGMA cache_size = -2048")
    try database.run("PRAGMA threads = 2")
    try database.run("PRAGMA user_version = \(version)")
    try database.run("BEGIN")
    for snapshot in snapshots { snapshot.analyseAhead() }
    var rows = TableRows(snapshots)
    for table in ExportTable.allCases { try database.run(definition(of: table)) }
    for table in order {
      var taker = try StatementRows(database, table)
      try rows.write(table, to: &taker)
      try taker.finish()
    }
    for index in indices { try database.run("CREATE INDEX " + index) }
    for view in SQLiteViews.all { try database.run("CREATE VIEW " + view) }
    try database.run("COMMIT")
    try database.close()
  }

  /// Indices for what has many rows and is asked for by something else than its number.
  private static let indices = [
    "edges_target ON edges (target_id)",
    "objects_type ON objects (type_id)",
    "roots_object ON roots (object_id)",
    "finding_objects_object ON finding_objects (object_id)",
    "stacks_caller ON stacks (caller_id)",
    "types_name ON types (name)",
  ]

  private static func definition(of table: ExportTable) -> String {
    var parts = table.columns.compactMap { column -> String? in
      let name = "\"\(column.name)\""
      switch column.kind {
      case .integer: return name + " INTEGER" + (column.isKey ? " PRIMARY KEY" : "")
      case .text: return name + " TEXT"
      case .computed(let expression):
        return name + " INTEGER GENERATED ALWAYS AS (\(expression)) VIRTUAL"
      case .name: return nil
      }
    }
    // The edges of an object lie together, so that what it refers to needs no index.
    if table == .edges { parts.append("PRIMARY KEY (source_id, place)") }
    return "CREATE TABLE \(table.rawValue) (\(parts.joined(separator: ", ")))"
      + (table == .edges ? " WITHOUT ROWID" : "")
  }
}

/// A database that is being written. Not thread-safe.
private final class Database {
  private var _handle: OpaquePointer?

  init(_ path: String) throws {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &_handle, flags, nil) == SQLITE_OK else {
      let error = failure()
      sqlite3_close_v2(_handle)
      _handle = nil
      throw error
    }
  }

  deinit { sqlite3_close_v2(_handle) }

  func run(_ statement: String) throws {
    guard sqlite3_exec(_handle, statement, nil, nil, nil) == SQLITE_OK else { throw failure() }
  }

  func prepare(_ statement: String) throws -> OpaquePointer {
    var prepared: OpaquePointer?
    guard sqlite3_prepare_v2(_handle, statement, -1, &prepared, nil) == SQLITE_OK, let prepared
    else { throw failure() }
    return prepared
  }

  /// Closes the database; fails where statements are still open or the last pages can't be written.
  func close() throws {
    guard sqlite3_close(_handle) == SQLITE_OK else { throw failure() }
    _handle = nil
  }

  /// The last error in SQLite's words, with the system's where that has one.
  func failure() -> ExportError {
    let system = sqlite3_system_errno(_handle)
    let text = sqlite3_errmsg(_handle).map { String(cString: $0) } ?? "no memory"
    return ExportError(
      "SQLite", system == 0 ? text : text + " (" + String(cString: strerror(system)) + ")")
  }
}

/// Puts rows into a table, some with each statement: a statement costs as much as several rows.
private struct StatementRows: RowTaker {
  private static let rowsOfStatement = 16

  private enum Cell {
    case integer(Int64)
    case text(String)
    case null
  }

  private let _database: Database
  private let _table: ExportTable
  private let _columnCount: Int
  private let _statement: OpaquePointer
  private var _cells: [Cell] = []

  /// Tells SQLite to copy a text before the call returns.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  init(_ database: Database, _ table: ExportTable) throws {
    _database = database
    _table = table
    _columnCount = table.columns.count { $0.kind.isStored }
    _statement = try database.prepare(Self.insertion(into: table, rows: Self.rowsOfStatement))
    _cells.reserveCapacity(_columnCount * Self.rowsOfStatement)
  }

  private static func insertion(into table: ExportTable, rows: Int) -> String {
    let marks = table.columns.filter(\.kind.isStored).map { _ in "?" }.joined(separator: ", ")
    let row = "(\(marks))"
    return "INSERT INTO \(table.rawValue) VALUES "
      + repeatElement(row, count: rows).joined(separator: ", ")
  }

  mutating func integer(_ value: Int64) { _cells.append(.integer(value)) }
  mutating func text(_ value: String) { _cells.append(.text(value)) }
  mutating func null() { _cells.append(.null) }
  mutating func word(_ value: UInt64) { integer(Int64(bitPattern: value)) }
  mutating func text(
    _ value: @autoclosure () -> String, row: Int, of texts: inout RepeatedTexts
  ) {
    text(value())
  }
  mutating func name(
    _ value: @autoclosure () -> String, row: Int, of texts: inout RepeatedTexts
  ) {}
  mutating func named(_ value: Int64) {}
  mutating func named(word: UInt64) {}

  mutating func endRow() throws {
    if _cells.count == _columnCount * Self.rowsOfStatement { try put(with: _statement) }
  }

  /// Puts in what is left, and lets the statement go; nothing can be put in afterwards.
  mutating func finish() throws {
    defer { sqlite3_finalize(_statement) }
    guard !_cells.isEmpty else { return }
    let rest = try _database.prepare(
      Self.insertion(into: _table, rows: _cells.count / _columnCount))
    defer { sqlite3_finalize(rest) }
    try put(with: rest)
  }

  private mutating func put(with statement: OpaquePointer) throws {
    for (place, cell) in _cells.enumerated() {
      let parameter = Int32(place) + 1
      switch cell {
      case .integer(let value): sqlite3_bind_int64(statement, parameter, value)
      case .text(let value): Self.bind(value, to: parameter, of: statement)
      case .null: sqlite3_bind_null(statement, parameter)
      }
    }
    _cells.removeAll(keepingCapacity: true)
    guard sqlite3_step(statement) == SQLITE_DONE else { throw _database.failure() }
    sqlite3_reset(statement)
  }

  /// A text that can't be bound stays NULL; the step that follows fails for want of memory, too. SQLite takes a text without an
  /// address, as an empty one has, for NULL.
  private static func bind(_ value: String, to parameter: Int32, of statement: OpaquePointer) {
    var value = value
    value.withUTF8 { bytes in
      withUnsafePointer(to: CChar(0)) { nothing in
        _ = bytes.withMemoryRebound(to: CChar.self) {
          sqlite3_bind_text64(
            statement, parameter, $0.baseAddress ?? nothing, UInt64($0.count), copied,
            UInt8(SQLITE_UTF8))
        }
      }
    }
  }
}
