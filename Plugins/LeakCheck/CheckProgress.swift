// CheckProgress: what the plugin is at. SwiftPM hands on both of its outputs, in order, as its own standard output.

import Foundation
import Glibc
import Synchronization

/// Says what takes time.
final class CheckProgress: Sendable {
  private let _note = Mutex("")
  private let _isOver = Mutex(false)

  /// How long nothing is said at most, in seconds.
  private static let _pause = 15.0

  /// Says a sentence.
  static func say(_ text: String) {
    FileHandle.standardError.write(Data("leak-check: \(text)\n".utf8))
  }

  /// Says what is done now, at once, and while it goes on now and then how far it is.
  static func telling<Value>(
    _ what: String, _ work: (CheckProgress) throws -> Value
  ) rethrows -> Value {
    say(what)
    let progress = CheckProgress()
    let subject = what.split(separator: ",").first.map(String.init) ?? what
    let start = Date()
    Thread.detachNewThread {
      var last = start
      while !progress._isOver.withLock({ $0 }) {
        Thread.sleep(forTimeInterval: 0.25)
        let now = Date()
        guard now.timeIntervalSince(last) >= _pause, !progress._isOver.withLock({ $0 }) else {
          continue
        }
        last = now
        let note = progress._note.withLock { $0 }
        say(
          "still \(subject), \(Int(now.timeIntervalSince(start))) s"
            + (note.isEmpty ? "" : ": \(note)"))
      }
    }
    defer { progress._isOver.withLock { $0 = true } }
    return try work(progress)
  }

  /// How far it is.
  func note(_ text: String) { _note.withLock { $0 = text } }

  /// Whether somebody sees the output as it comes: SwiftPM hands on what the plugin writes, so what counts is where
  /// SwiftPM writes to.
  static var isSeenOnTerminal: Bool {
    [1, 2].allSatisfy { stream in
      let file = open("/proc/\(getppid())/fd/\(stream)", O_WRONLY | O_NOCTTY | O_CLOEXEC)
      guard file >= 0 else { return false }
      defer { close(file) }
      return isatty(file) == 1
    }
  }
}
