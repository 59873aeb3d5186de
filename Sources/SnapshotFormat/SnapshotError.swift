// SnapshotError: why a file could not be read as a snapshot, or written, in words that say what to do.

internal import Glibc

/// Why a file could not be read as a snapshot, or could not be written.
///
/// Each says what was found where, and its `description` ends with what to do about it. A `path` is
/// empty for a snapshot that is not in a file.
public enum SnapshotError: Error, Equatable, Sendable {
  /// The file can't be opened, mapped or written; `errno` says why. `operation` is a verb: `open`,
  /// `map`, `create`, `write`, `rename`.
  case file(path: String, operation: String, errno: Int32)

  /// The first bytes are not a snapshot's; `found` says what they are: `the file starts with "%PDF"`.
  case notASnapshot(path: String, found: String)

  /// A newer version of the format than this tool reads.
  case newerVersion(path: String, major: Int, minor: Int)

  /// The file ends before a section does: of the `expected` bytes from `offset` only `found` are there.
  case truncated(path: String, section: String, offset: UInt64, expected: UInt64, found: UInt64)

  /// The bytes of a section are not those that were written.
  case checksum(path: String, section: String, offset: UInt64)

  /// A section that the format demands is not there.
  case missingSection(path: String, section: String)

  /// A section that says of itself that nobody may read the file without knowing it.
  case unknownSection(path: String, section: String, offset: UInt64)

  /// A value that no snapshot has: a row outside its table, a descending offset. `offset` is counted
  /// from the start of the file, or of the column for a snapshot that is not in a file.
  case malformed(path: String, section: String, offset: UInt64, reason: String)
}

extension SnapshotError: CustomStringConvertible {
  /// `PATH: WHAT: DETAILS; WHAT TO DO`, without a full stop.
  public var description: String {
    switch self {
    case .file(let path, let operation, let errno):
      let reason = String(cString: strerror(errno))
      return "\(Self._subject(path))can't \(operation): \(reason)\(Self._remedy(operation, errno))"
    case .notASnapshot(let path, let found):
      return "\(Self._subject(path))not a memory-graph snapshot: \(found); "
        + "give a file that ends in .mgraph as memgraph run writes it"
    case .newerVersion(let path, let major, let minor):
      let version = SnapshotVersion(major: major, minor: minor)
      return
        "\(Self._subject(path))a snapshot of format \(version), newer than \(SnapshotVersion.current), "
        + "the newest that this version reads; use the memgraph that wrote it, or a later one"
    case .truncated(let path, let section, let offset, let expected, let found):
      return
        "\(Self._subject(path))cut short: \(section) at offset \(Self._hexadecimal(offset)) has "
        + "\(expected) bytes, the file only \(found) of them; copy the whole file again, or take a "
        + "new snapshot"
    case .checksum(let path, let section, let offset):
      return "\(Self._subject(path))damaged: the checksum of \(section) at offset "
        + "\(Self._hexadecimal(offset)) does not match its bytes; copy the file again, or take a new "
        + "snapshot"
    case .missingSection(let path, let section):
      return
        "\(Self._subject(path))incomplete: there is no section \(section), which every snapshot "
        + "has; take a new snapshot"
    case .unknownSection(let path, let section, let offset):
      return "\(Self._subject(path))from a newer version: section \(section) at offset "
        + "\(Self._hexadecimal(offset)) must be understood to read the file; use the memgraph that "
        + "wrote it, or a later one"
    case .malformed(let path, let section, let offset, let reason):
      return "\(Self._subject(path))damaged: \(section) at offset \(Self._hexadecimal(offset)): "
        + "\(reason); copy the file again, or take a new snapshot"
    }
  }

  /// What a sentence begins with: the path, if there is one.
  private static func _subject(_ path: String) -> String { path.isEmpty ? "" : path + ": " }

  private static func _hexadecimal(_ number: UInt64) -> String { "0x" + String(number, radix: 16) }

  /// What to do about a system call that failed, with what stands before it.
  private static func _remedy(_ operation: String, _ errno: Int32) -> String {
    switch errno {
    case ENOSPC, EDQUOT: "; make room or choose another folder"
    case EFBIG: "; raise the limit on file sizes (ulimit -f) or choose another folder"
    case EACCES, EPERM, EROFS:
      operation == "open" || operation == "map"
        ? "; read it as a user who may" : "; choose a folder that you may write to"
    case ENOENT where operation == "open": "; check the path"
    case ENOENT, ENOTDIR: "; make the folder first"
    case EISDIR: "; give a file, not a folder"
    case EMFILE, ENFILE: "; raise the limit on open files (ulimit -n)"
    case ENOMEM: "; the file does not fit into the address space"
    default: ""
    }
  }
}
