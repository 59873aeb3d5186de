// Children: the processes that the plugin starts, and their end where the plugin is ended.

import Foundation
import Glibc
import Synchronization

/// The end of a pipe at which the handler of signals says which has come.
private nonisolated(unsafe) var signalPipe: Int32 = -1

/// Runs processes, one at a time.
///
/// Each has a process group of its own, so what a terminal or a build host sends to the group of `swift package` reaches
/// none of them. Where the plugin is ended by a signal, or `swift package` itself is gone, the one that runs is asked to end,
/// which for `swift build` and `memgraph run` means those that they have started, too; after some seconds its whole
/// group is killed.
enum Children {
  private struct State {
    /// The process that runs; 0 for none.
    var running: pid_t = 0

    /// Whether the plugin is being ended: nothing is started any more.
    var isEnding = false
  }

  private static let _state = Mutex(State())

  /// How long a process has to end by itself, in tenths of a second.
  private static let _patience = 50

  /// Begins to wait for signals and for the end of `swift package`.
  static func watch() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let reading = ends[0]
    signalPipe = ends[1]
    // Handlers, since a child would go on ignoring what is ignored here.
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(signalPipe, &byte, 1)
      }
    }
    let host = getppid()
    Thread.detachNewThread {
      while true {
        var entry = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        var number = UInt8(SIGHUP)
        if poll(&entry, 1, 500) == 1, read(reading, &number, 1) == 1 {
          _end(128 + Int32(number))
        } else if getppid() != host {
          _end(128 + SIGHUP)
        }
      }
    }
  }

  private static func _end(_ status: Int32) -> Never {
    let running = _state.withLock { state in
      state.isEnding = true
      return state.running
    }
    if running > 0 {
      kill(running, SIGINT)
      // Its thread here waits for it, and so takes its number away.
      for _ in 0..<_patience where kill(running, 0) == 0 { usleep(100_000) }
      kill(-running, SIGKILL)
    }
    exit(status)
  }

  /// Runs a program to its end, with this process's streams unless others are given.
  ///
  /// - Parameters:
  ///   - environment: Variables to set.
  ///   - hearsErrors: Whether what is written to standard error is heard, too.
  ///   - hears: Hears what the program writes to standard output, line by line, instead of this process's.
  /// - Returns: Its exit status, or 128 and the number of the signal that ended it.
  static func run(
    _ program: URL, _ words: [String], environment: [String: String] = [:],
    hearsErrors: Bool = false, hears: ((String) -> Void)? = nil
  ) throws -> Int32 {
    let process = Process()
    process.executableURL = program
    process.arguments = words
    if !environment.isEmpty {
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    }
    let output = Pipe()
    if hears != nil { process.standardOutput = output }
    if hearsErrors { process.standardError = output }
    do {
      try _state.withLock { state in
        guard !state.isEnding else { throw Failure("ended") }
        try process.run()
        state.running = process.processIdentifier
      }
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure("\(program.path) can't be run: \(error.localizedDescription)")
    }
    if let hears { _tell(output.fileHandleForReading, to: hears) }
    process.waitUntilExit()
    _state.withLock { $0.running = 0 }
    return process.terminationReason == .exit
      ? process.terminationStatus : 128 + process.terminationStatus
  }

  private static func _tell(_ file: FileHandle, to hear: (String) -> Void) {
    var rest = Data()
    while case let data = file.availableData, !data.isEmpty {
      rest += data
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        hear(String(decoding: rest[..<end], as: UTF8.self))
        rest = rest[rest.index(after: end)...]
      }
    }
    if !rest.isEmpty { hear(String(decoding: rest, as: UTF8.self)) }
  }
}
