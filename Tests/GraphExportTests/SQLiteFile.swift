// SQLiteFile: a database that was exported, to be asked.

import CSQLite
import Foundation
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphExport

/// A snapshot without nodes.
enum EmptySnapshot {
  static func make() -> Snapshot { SnapshotDSL().snapshot() }
}

/// An exported database in a file that goes with it.
final class SQLiteFile {
  let path: String
  private var _handle: OpaquePointer?

  init(_ snapshots: [ExportedSnapshot]) throws {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("export-\(UUID().uuidString).sqlite").path
    try SQLiteExport.write(snapshots, to: path)
  }

  deinit {
    sqlite3_close(_handle)
    try? FileManager.default.removeItem(atPath: path)
  }

  var bytes: [UInt8] { get throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) } }

  /// The rows of a query as text; `nil` stands as the text NULL.
  func rows(_ query: String) throws -> [[String]] {
    if _handle == nil { try #require(sqlite3_open(path, &_handle) == SQLITE_OK) }
    var statement: OpaquePointer?
    try #require(
      sqlite3_prepare_v2(_handle, query, -1, &statement, nil) == SQLITE_OK,
      "\(String(cString: sqlite3_errmsg(_handle)))")
    defer { sqlite3_finalize(statement) }
    var rows: [[String]] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      rows.append(
        (0..<sqlite3_column_count(statement)).map { column in
          sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "NULL"
        })
    }
    return rows
  }
}
