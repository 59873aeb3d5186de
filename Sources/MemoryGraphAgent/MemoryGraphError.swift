// MemoryGraphError: why the agent could not do what the program asked for.

internal import Glibc
public import SnapshotFormat

/// Why the agent could not do what the program asked for. The program itself is unharmed.
public enum MemoryGraphError: Error, Equatable, Sendable {
  /// The agent can't work in this process; `reason` is a sentence.
  case cannotRecord(reason: String)

  /// A snapshot could not be written; `path` is its path, or the mark's name.
  case file(path: String, errno: Int32)

  /// A snapshot that was written can't be read.
  case unreadable(SnapshotError)
}

extension MemoryGraphError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .cannotRecord(let reason): reason
    case .file(let path, let errno) where errno == ENOTSUP:
      "\(path): no snapshot can be taken in a fork of the program"
    case .file(let path, let errno):
      "\(path): no snapshot: \(String(cString: strerror(errno)))"
    case .unreadable(let error): "\(error)"
    }
  }
}
