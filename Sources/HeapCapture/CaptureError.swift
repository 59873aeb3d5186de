// CaptureError: why a program could not be captured.

/// Why a program could not be captured.
public enum CaptureError: Error, Equatable, Sendable {
  /// The process's memory can't be read: it is gone, or this user may not trace it.
  case cannotRead(pid: Int32, errno: Int32)

  /// The agent's tables are not where they were said to be, or are of another version.
  case badAgentState(String)

  /// The program has no Swift code.
  case notSwift(executable: String)

  /// The remote mirror, a part of the Swift toolchain, can't be loaded.
  case noRemoteMirror(String)
}
