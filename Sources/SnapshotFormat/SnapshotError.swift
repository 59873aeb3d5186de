// SnapshotError: why a file could not be read as a snapshot, or written.

/// Why a file could not be read as a snapshot, or could not be written.
///
/// Each says what was found where, and its `description` ends with what to do about it.
public enum SnapshotError: Error, Equatable, Sendable {
  /// The file can't be opened, mapped or written; `errno` says why.
  case file(path: String, operation: String, errno: Int32)

  /// The first bytes are not a snapshot's.
  case notASnapshot(path: String)

  /// A newer version of the format than this tool reads.
  case newerVersion(path: String, major: Int, minor: Int)

  /// The file ends before a section does.
  case truncated(path: String, section: String, offset: UInt64, expected: UInt64, found: UInt64)

  /// The bytes of a section are not those that were written.
  case checksum(path: String, section: String, offset: UInt64)

  /// A section that the format demands is not there.
  case missingSection(path: String, section: String)

  /// A value that no snapshot has: a row outside its table, a descending offset.
  case malformed(path: String, section: String, offset: UInt64, reason: String)
}
