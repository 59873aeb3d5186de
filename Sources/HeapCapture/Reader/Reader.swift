// Reader: the process beside the program: it reads the twin, writes the snapshot, and answers.

internal import CHeapCapture
internal import Glibc
internal import SnapshotFormat

/// Serves one connection of an agent: reads its line, does what it asks for, answers.
///
/// It runs in a process of its own (`memgraph read-twin`, or the program executed again), so that a
/// fault while the twin is read ends that process alone.
///
/// - Parameters:
///   - channel: a connected stream socket; it stays open.
///   - failed: hears why there is no snapshot, before the agent does.
///   - noted: hears what is missing in the snapshot and how to get it, before the agent hears that it is there.
/// - Returns: the exit status: 0 where an answer was given, whatever it was.
package func serveChannel(
  _ channel: Int32, failed: (String) -> Void = { _ in }, noted: (String) -> Void = { _ in }
) -> Int32 {
  mg_return_large_blocks()
  guard let (line, served) = receiveRequest(from: channel) else { return 1 }
  let answer: ChannelAnswer
  switch ChannelMessage(line) {
  case .snapshot(let request):
    answer = writeSnapshot(for: request, served: served, noted: noted)
  case .hello: return 0
  case nil:
    answer = .error(
      errno: EPROTO,
      sentence: "the agent and the reader do not understand each other; use both of one version")
  }
  if case .error(_, let sentence) = answer { failed(sentence) }
  let isHeard = writeAll(answer.line, to: channel)
  // A program that has ended meanwhile hears nothing; the snapshot is there all the same.
  if case .ok = answer { return 0 }
  return isHeard ? 0 : 1
}

/// Captures the twin of a request and writes its snapshot.
///
/// - Parameter served: the twin's own service, for where its memory can't be read otherwise.
/// - Complexity: that of `captureSnapshot(source:state:)`.
package func writeSnapshot(
  for request: SnapshotRequest, served: ServedMemory?, noted: (String) -> Void = { _ in }
) -> ChannelAnswer {
  do {
    let twin = try ProcessMemory(pid: request.twin, name: "twin", served: served)
    let snapshot = try captureSnapshot(source: twin, state: request.state)
    try snapshot.write(to: request.path)
    fileGaps(in: snapshot).forEach(noted)
    return .ok
  } catch let error as SnapshotError {
    guard case .file(_, let operation, let errno) = error else {
      return .error(errno: EIO, sentence: "\(error)")
    }
    return .error(
      errno: errno, sentence: "can't \(operation) the snapshot: \(String(cString: strerror(errno)))"
    )
  } catch CaptureError.endedMeanwhile {
    return ended
  } catch CaptureError.cannotRead(_, EPIPE), CaptureError.cannotRead(_, ECONNRESET) {
    // The other end of the socket at which the twin served its memory is gone.
    return ended
  } catch CaptureError.cannotRead(_, let errno) {
    return .error(
      errno: errno == 0 ? EIO : errno,
      sentence: "the copy of the process can't be read (\(String(cString: strerror(errno)))); "
        + "allow process_vm_readv, which seccomp filters and yama's ptrace_scope can forbid, or"
        + " a few more file descriptors in the program")
  } catch {
    return .error(errno: EIO, sentence: "the copy of the process can't be captured: \(error)")
  }
}

private let ended = ChannelAnswer.error(
  errno: ESRCH,
  sentence:
    "the program, or its copy that is read, ended before the snapshot was done, so there is none")

/// Receives an agent's line, and with it the socket at which its twin serves its memory.
///
/// - Returns: nil where the other side went away first, or said more than 64 KiB without a newline.
package func receiveRequest(from channel: Int32) -> (line: String, served: ServedMemory?)? {
  var bytes: [UInt8] = []
  var served: ServedMemory?
  var byte: UInt8 = 0
  while bytes.count < 1 << 16 {
    var descriptor: Int32 = -1
    guard mg_receive_descriptor(channel, &byte, 1, &descriptor) == 1 else { return nil }
    if descriptor >= 0 { served = ServedMemory(socket: descriptor) }
    if byte == UInt8(ascii: "\n") { return (String(decoding: bytes, as: UTF8.self), served) }
    bytes.append(byte)
  }
  return nil
}

/// Reads up to a newline, which is left out.
///
/// - Returns: nil where the other side went away first, or said more than 64 KiB without one.
package func readLine(from file: Int32) -> String? {
  var bytes: [UInt8] = []
  var byte: UInt8 = 0
  while bytes.count < 1 << 16 {
    let count = read(file, &byte, 1)
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { return nil }
    if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
    bytes.append(byte)
  }
  return nil
}

/// Sends all of a text over a socket.
///
/// - Returns: false where the other side went away.
package func writeAll(_ text: String, to file: Int32) -> Bool {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes {
      send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { return false }
    rest = rest.dropFirst(count)
  }
  return true
}
