// OutsideProgram: a program that a test starts and captures from outside.

import Glibc

@testable import HeapCapture

/// A running `OutsideTarget`. It ends when the instance goes.
final class OutsideProgram {
  private(set) var pid: pid_t

  /// The process that was started: the program, or its parent in another namespace.
  private let _started: pid_t

  /// Where the agent writes snapshots; empty without one.
  let snapshotFolder: String
  private let _input: Int32
  private let _output: Int32
  private var _isEnded = false

  struct Failure: Error, CustomStringConvertible { var description: String }

  /// The folder that the tests and the programs are built into.
  static let folder: String = {
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count)
    let own = String(decoding: path[..<max(count, 0)], as: UTF8.self)
    return String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)])
  }()

  /// Runs a program of the build folder to its end.
  ///
  /// - Parameters:
  ///   - name: a program of the build folder; one with a slash is a path.
  ///   - output: a file that what it prints goes to, errors too; nil for the test's own.
  /// - Returns: the wait status.
  static func run(_ name: String, _ arguments: [String], output: String? = nil) throws -> Int32 {
    let program = name.contains("/") ? name : folder + "/" + name
    var child = pid_t()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let output {
      posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      posix_spawn_file_actions_adddup2(&actions, 1, 2)
    }
    let environment = ["PATH", "LD_LIBRARY_PATH", "HOME"].compactMap { name in
      getenv(name).map { name + "=" + String(cString: $0) }
    }
    let spawned = withTexts([program] + arguments) { argv in
      withTexts(environment) { posix_spawn(&child, program, &actions, nil, argv, $0) }
    }
    guard spawned == 0 else { throw Failure(description: program) }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    return status
  }

  /// Starts the program and waits until it says that it stands still.
  ///
  /// - Parameters:
  ///   - arguments: what it is to do.
  ///   - withAgent: whether the agent is preloaded.
  ///   - tunables: settings of the C library's allocator.
  ///   - restrictions: options of `RestrictedLauncher`, which starts the program then.
  init(
    _ arguments: [String], of name: String = "OutsideTarget", withAgent: Bool = false,
    tunables: String = "", restrictions: [String] = []
  ) throws {
    let target = name.contains("/") ? name : Self.folder + "/" + name
    let launched = restrictions.isEmpty ? [] : [Self.folder + "/RestrictedLauncher"] + restrictions
    let command = launched + [target] + arguments
    let program = command[0]
    var input: [Int32] = [0, 0]
    var output: [Int32] = [0, 0]
    guard pipe(&input) == 0, pipe(&output) == 0 else { throw Failure(description: "no pipe") }
    // No other program that a test starts at the same time may keep them open.
    for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input[0], 0)
    posix_spawn_file_actions_adddup2(&actions, output[1], 1)
    var environment = ["PATH=/usr/bin:/bin"]
    if !tunables.isEmpty { environment.append("GLIBC_TUNABLES=" + tunables) }
    if let path = getenv("LD_LIBRARY_PATH") {
      environment.append("LD_LIBRARY_PATH=" + String(cString: path))
    }
    if withAgent {
      var name = Array("/tmp/memory-graph-test-XXXXXX".utf8CString)
      mkdtemp(&name)
      snapshotFolder = String(
        decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      // The program may be another user's.
      if restrictions.contains("--user") { chmod(snapshotFolder, 0o777) }
      environment += [
        "LD_PRELOAD=\(Self.folder)/libMemoryGraphPreload.so", "MEMORY_GRAPH_OUT=\(snapshotFolder)",
      ]
    } else {
      snapshotFolder = ""
    }
    // The threads that tests run on block signals, which the program would inherit.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var child = pid_t()
    let status = withTexts(command) { argv in
      withTexts(environment) { posix_spawn(&child, program, &actions, &attributes, argv, $0) }
    }
    close(input[0])
    close(output[1])
    _input = input[1]
    _output = output[0]
    pid = child
    _started = child
    guard status == 0 else {
      throw Failure(description: "\(program): \(String(cString: strerror(status)))")
    }
    guard readLine() == "ready" else { throw Failure(description: "\(program) did not get ready") }
    // It still has to come from saying so to its next call, which reads its input.
    if restrictions.contains("--pid-namespace") { pid = children().first ?? pid }
    while !_waitsForInput() { usleep(1_000) }
  }

  /// Whether a thread reads the program's input; true where that can't be seen.
  private func _waitsForInput() -> Bool {
    guard let folder = opendir("/proc/\(pid)/task") else { return true }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard Int32(name) != nil else { continue }
      guard let call = readWholeFile("/proc/\(pid)/task/\(name)/syscall") else { continue }
      if call.hasPrefix("0 0x0 ") { return true }
    }
    return geteuid() != 0 && readWholeFile("/proc/\(pid)/syscall") == nil
  }

  deinit {
    if !_isEnded {
      kill(pid, SIGKILL)
      var status: Int32 = 0
      waitpid(_started, &status, 0)
    }
    if !_isEnded { close(_input) }
    close(_output)
    if !snapshotFolder.isEmpty {
      for mark in _marks { unlink(_path(ofMark: mark)) }
      rmdir(snapshotFolder)
    }
  }

  private var _marks: [String] = []

  private func _path(ofMark name: String) -> String { "\(snapshotFolder)/\(name).mgraph" }

  /// Has the agent take a mark: a snapshot of a twin.
  ///
  /// - Returns: the path of the snapshot.
  func mark(_ name: String) throws -> String {
    let connection = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(connection) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array("\0memory-graph/\(pidInside(of: pid))".utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(connection, $0, socklen_t(2 + path.count))
      }
    }
    guard connected == 0, writeAll("mark\t1\t\(name)\n", to: connection),
      HeapCapture.readLine(from: connection)?.hasPrefix("ok") == true
    else { throw Failure(description: "the mark was not taken") }
    _marks.append(name)
    return _path(ofMark: name)
  }

  /// The processes that it is the parent of.
  func children() -> [Int32] {
    guard let folder = opendir("/proc") else { return [] }
    defer { closedir(folder) }
    var found: [Int32] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let process = Int32(name),
        readWholeFile("/proc/\(process)/status")?.contains("\nPPid:\t\(pid)\n") == true
      {
        found.append(process)
      }
    }
    return found
  }

  /// The next line that the program prints; nil where it has ended.
  func readLine() -> String? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(_output, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return nil
  }

  /// Ends the program's input and waits for its end.
  ///
  /// - Returns: its last line and its wait status.
  func finish() -> (line: String?, status: Int32) {
    close(_input)
    let line = readLine()
    var status: Int32 = 0
    waitpid(_started, &status, 0)
    _isEnded = true
    return (line, status)
  }

  /// Waits for the end of a program that was told to end otherwise.
  func waitForEnd() -> Int32 {
    var status: Int32 = 0
    waitpid(_started, &status, 0)
    _isEnded = true
    return status
  }
}

private func withTexts<Result>(
  _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  let copies = texts.map { strdup($0) } + [nil]
  defer { for copy in copies { free(copy) } }
  return copies.withUnsafeBufferPointer { buffer in
    guard let base = buffer.baseAddress else { preconditionFailure("there is at least the end") }
    return body(base)
  }
}
