// MarkProcess: `memgraph mark`: asking a running program that has the agent for a mark.

internal import Glibc
internal import HeapCapture

/// Has a program with the agent take a mark, and waits until it is taken.
///
/// The agent listens at a socket in the abstract name space, `memory-graph/PID`, and answers this
/// user and root. Programs under `memgraph run`, and those with `MEMORY_GRAPH_OUT` set, do.
///
/// - Throws: ``RunError`` where there is no such program, or the mark could not be taken.
package func markProcess(pid: Int32, name: String) throws(RunError) {
  let subject = "process \(pid)"
  guard !name.contains("\n"), !name.contains("\t") else {
    throw RunError("mark", "a mark's name can't have a newline or a tab")
  }
  let connection = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  defer { close(connection) }
  let connected = withUnixAddress("\0memory-graph/\(pid)") { connect(connection, $0, $1) }
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
  guard answer == "ok" else {
    let fields = answer.split(separator: "\t")
    let error = fields.count > 1 ? Int32(fields[1]) ?? EIO : EIO
    throw RunError(
      subject, "the mark could not be taken: \(String(cString: strerror(error)))")
  }
}

/// Serves one request of an agent: the hidden verb `read-twin`.
///
/// - Parameter channel: the descriptor of the connection.
/// - Returns: the exit status.
package func readTwin(channel: Int32) -> Int32 { serveChannel(channel) }
