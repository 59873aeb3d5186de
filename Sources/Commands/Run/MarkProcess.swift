// MarkProcess: `memgraph mark`: asking a running program that has the agent for a mark.

internal import Glibc
internal import HeapCapture

/// Has a program with the agent take a mark, and waits until it is taken.
///
/// The agent listens at a socket in the abstract name space, `memory-graph/PID`, and answers this
/// user and root. Programs under `memgraph run`, and those with `MEMORY_GRAPH_OUT` set, do.
///
/// - Returns: the path of the snapshot; nil where the program has no folder for them.
/// - Throws: ``RunError`` where there is no such program, or the mark could not be taken.
@discardableResult
package func markProcess(pid: Int32, name: String) throws(RunError) -> String? {
  let subject = "process \(pid)"
  guard !name.contains("\n"), !name.contains("\t") else {
    throw RunError("mark", "a mark's name can't have a newline or a tab")
  }
  let connection = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  defer { close(connection) }
  // Its name has the number that the program has for itself, in a container for one.
  let inside = pidInside(of: pid)
  let connected = withUnixAddress("\0memory-graph/\(inside)") { connect(connection, $0, $1) }
  guard connection >= 0, connected == 0 else {
    let reason =
      kill(pid, 0) != 0 && errno == ESRCH
      ? "there is none"
      : "the agent does not listen in it; start the program with memgraph run"
    throw RunError(subject, reason)
  }
  // Anybody may take a name in this name space: the one who answers must be who was meant.
  guard peerProcess(of: connection) == pid else {
    throw RunError(subject, "another process answers in its place")
  }
  guard writeAll("mark\t1\t\(name)\n", to: connection), let answer = readLine(from: connection)
  else { throw RunError(subject, "it ended before the mark was taken, or takes none of this user") }
  let fields = answer.split(separator: "\t")
  guard fields.first == "ok" else {
    let error = fields.count > 1 ? Int32(fields[1]) ?? EIO : EIO
    let why = error == ESRCH ? "it is ending" : String(cString: strerror(error))
    throw RunError(subject, "the mark could not be taken: \(why)")
  }
  return fields.count > 1 ? String(fields[1]) : nil
}

/// Serves one request of an agent: the hidden verb `read-twin`.
///
/// - Parameters:
///   - channel: the descriptor of the connection.
///   - failed: hears why there is no snapshot.
///   - noted: hears what is missing in it.
/// - Returns: the exit status.
package func readTwin(
  channel: Int32, failed: (String) -> Void, noted: (String) -> Void
) -> Int32 {
  serveChannel(channel, failed: failed, noted: noted)
}
