// Processes: what running a program needs of Linux and Swift's Glibc module does not give as it is.

internal import Glibc
internal import GraphPrimitives
internal import HeapCapture

/// This process's environment, each entry `NAME=VALUE`.
func currentEnvironment() -> [String] {
  // Glibc's `environ` is a variable that Swift's concurrency checks refuse; nothing here changes it.
  typealias Entries = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  guard
    var entry = dlsym(nil, "environ")?.assumingMemoryBound(to: Entries?.self).pointee
  else { return [] }
  var entries: [String] = []
  while let text = entry.pointee {
    entries.append(String(cString: text))
    entry += 1
  }
  return entries
}

/// Calls a function with an array of C strings that ends with a null pointer.
func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = texts.map { strdup($0) }
  pointers.append(nil)
  defer { for pointer in pointers { free(pointer) } }
  return pointers.withUnsafeMutableBufferPointer {
    body($0.baseAddress.unsafelyUnwrapped)
  }
}

/// Calls a function with the address of a Unix socket.
///
/// - Parameter path: at most 107 bytes; one that starts with a NUL is in the abstract name space.
/// - Returns: the function's result, or -1 for a path that is too long.
func withUnixAddress(
  _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) -> Int32 {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  let bytes = Array(path.utf8)
  guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return -1 }
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
  let header = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
  let length = socklen_t(header + bytes.count + (bytes.first == 0 ? 0 : 1))
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
  }
}

/// Who is at the other end of a Unix socket: process, user and group, as the kernel knows them.
private func _peer(of connection: Int32) -> (pid: pid_t, user: uid_t)? {
  var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
  var length = socklen_t(MemoryLayout.size(ofValue: credentials))
  guard getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else {
    return nil
  }
  return (credentials.0, credentials.1)
}

/// The user at the other end; nil where that can't be known.
func peerUser(of connection: Int32) -> uid_t? { _peer(of: connection)?.user }

/// The process at the other end; nil where that can't be known.
func peerProcess(of connection: Int32) -> pid_t? { _peer(of: connection)?.pid }

/// Runs a closure on a new thread, which takes no signal and has a large stack: its own is as large as `ulimit -s` says.
func startLargeThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
  guard let thread = startThread({ onLargeStack(body) }) else {
    preconditionFailure("no thread can be made: \(String(cString: strerror(errno)))")
  }
  return thread
}

/// Marks a descriptor so that programs that are started do not inherit it.
func closeOnExec(_ file: Int32) { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }

/// A flag that a thread waits for, with a limit.
final class StopFlag: Sendable {
  /// A pipe; the flag is raised when its writing end is closed.
  private let _reading: Int32
  private let _writing: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    let error = pipe(&ends)
    precondition(error == 0, "no pipe can be made: \(String(cString: strerror(errno)))")
    ends.forEach(closeOnExec)
    _reading = ends[0]
    _writing = ends[1]
  }

  deinit { close(_reading) }

  /// Raises the flag, once.
  func raise() { close(_writing) }

  /// Waits until the flag is raised; false where the time was over first.
  func wait(seconds: Double) -> Bool {
    var file = pollfd(fd: _reading, events: Int16(POLLIN), revents: 0)
    return poll(&file, 1, Int32(clamping: Int(min(seconds, 1e6) * 1000))) > 0
  }
}
