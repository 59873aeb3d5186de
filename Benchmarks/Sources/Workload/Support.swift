// Support: time, results of threads, marks.

import Foundation
import Glibc

/// Nanoseconds of a clock that never goes back.
@inline(__always) func now() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

final class Results: @unchecked Sendable {
  private let _lock = NSLock()
  private var _values: [Int]

  init(count: Int) { _values = [Int](repeating: 0, count: count) }

  func set(_ value: Int, at place: Int) { _lock.withLock { _values[place] = value } }
  var sum: Int { _lock.withLock { _values.reduce(0, &+) } }
}

/// Takes a mark where an agent is loaded.
///
/// - Returns: Whether there is one, and it took it.
func mark(_ name: String) -> Bool {
  typealias Mark = @convention(c) (UnsafePointer<CChar>) -> CInt
  guard let symbol = dlsym(nil, "memory_graph_mark") else { return false }
  return unsafeBitCast(symbol, to: Mark.self)(name) == 0
}

/// Ends the program with a word to standard error.
func fail(_ text: String, status: Int32) -> Never {
  FileHandle.standardError.write(Data((text + "\n").utf8))
  exit(status)
}

/// The most memory that was ever resident, in bytes.
func peakResident() -> Int {
  guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
    let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
  else { return 0 }
  return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
}
