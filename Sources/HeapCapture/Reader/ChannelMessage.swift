// ChannelMessage: the lines between a program's agent and a reader, as text and as values.

/// What an agent says to a reader in one line (docs/architecture.md has the form of the lines).
package enum ChannelMessage: Hashable, Sendable {
  /// The agent is at work in a process; the program's path says which.
  case hello(pid: Int32, program: String)

  /// A twin is ready: read it, and write a snapshot.
  case snapshot(SnapshotRequest)

  /// The message in a line without its newline; nil where it is none, or of another version.
  package init?(_ line: String) {
    let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
    guard fields.count >= 4, fields[1] == "1", let pid = Int32(fields[2]), pid > 0 else {
      return nil
    }
    switch fields[0] {
    case "hello":
      self = .hello(pid: pid, program: fields[3...].joined(separator: "\t"))
    case "snapshot":
      guard fields.count == 6, let twin = Int32(fields[3]), twin > 0,
        let state = UInt64(fields[4], radix: 16), fields[5].hasPrefix("/")
      else { return nil }
      self = .snapshot(
        SnapshotRequest(pid: pid, twin: twin, state: state, path: String(fields[5])))
    default:
      return nil
    }
  }
}

/// An agent's request for a snapshot.
package struct SnapshotRequest: Hashable, Sendable {
  /// The program.
  package var pid: Int32

  /// Its frozen twin.
  package var twin: Int32

  /// The address of `mg_state` in the twin.
  package var state: UInt64

  /// Where the snapshot goes; absolute.
  package var path: String

  package init(pid: Int32, twin: Int32, state: UInt64, path: String) {
    self.pid = pid
    self.twin = twin
    self.state = state
    self.path = path
  }
}

/// What a reader answers.
package enum ChannelAnswer: Hashable, Sendable {
  /// The snapshot is whole and in its place.
  case ok

  /// It could not be written; the agent hands the number on and shows the sentence once.
  case error(errno: Int32, sentence: String)

  /// The answer as a line, its newline included.
  package var line: String {
    switch self {
    case .ok: return "ok\n"
    case .error(let errno, let sentence):
      let words = sentence.map { $0.isNewline || $0 == "\t" ? " " : $0 }
      return "error\t\(errno)\t\(String(words))\n"
    }
  }
}
