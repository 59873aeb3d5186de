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

  /// Rows of tables that others speak of come after those that speak of them.
  private static let order = ExportTable.allCases

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
    // Indices are sorted within it: with less than half a million references nothing goes through a temporary file.
    try database.run("PRAGMA cache_size = -262144")
    try database.run("PRAGMA user_version = \(version)")
    try database.run("BEGIN")
    var rows = TableRows(snapshots)
    for table in order {
      try database.run(definition(of: table))
      var taker = try StatementRows(database, insertion(into: table))
      try rows.write(table, to: &taker)
      taker.finish()
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

  private static func insertion(into table: ExportTable) -> String {
    let marks = table.columns.filter(\.kind.isStored).map { _ in "?" }.joined(separator: ", ")
    return "INSERT INTO \(table.rawValue) VALUES (\(marks))"
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

/// Puts rows into a table.
private struct StatementRows: RowTaker {
  private let _database: Database
  private let _statement: OpaquePointer
  private var _place: Int32 = 0

  /// Tells SQLite to copy a text before the call returns.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  init(_ database: Database, _ insertion: String) throws {
    _database = database
    _statement = try database.prepare(insertion)
  }

  mutating func integer(_ value: Int64) {
    _place += 1
    sqlite3_bind_int64(_statement, _place, value)
  }

  mutating func text(_ value: String) {
    _place += 1
    var value = value
    let place = _place
    // A text that can't be bound stays NULL; the step that follows fails for want of memory, too. SQLite takes a text
    // without an address, as an empty one has, for NULL.
    value.withUTF8 { bytes in
      withUnsafePointer(to: CChar(0)) { nothing in
        _ = bytes.withMemoryRebound(to: CChar.self) {
          sqlite3_bind_text64(
            _statement, place, $0.baseAddress ?? nothing, UInt64($0.count), Self.copied,
            UInt8(SQLITE_UTF8))
        }
      }
    }
  }

  mutating func null() {
    _place += 1
    sqlite3_bind_null(_statement, _place)
  }

  mutating func word(_ value: UInt64) { integer(Int64(bitPattern: value)) }
  mutating func name(_ value: @autoclosure () -> String) {}
  mutating func named(_ value: Int64) {}
  mutating func named(word: UInt64) {}

  mutating func endRow() throws {
    guard sqlite3_step(_statement) == SQLITE_DONE else { throw _database.failure() }
    sqlite3_reset(_statement)
    _place = 0
  }

  /// Lets the statement go; nothing can be put in afterwards.
  func finish() { sqlite3_finalize(_statement) }
}
