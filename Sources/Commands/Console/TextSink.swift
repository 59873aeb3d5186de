// TextSink: where text goes: a file descriptor, or memory in tests.

internal import Glibc
internal import Synchronization

/// Takes text and passes it on.
package protocol TextSink: AnyObject, Sendable {
  /// Whether a person may be watching.
  var isTerminal: Bool { get }

  /// The number of columns of the terminal; nil where there is none.
  var columns: Int? { get }

  /// Writes all of `text`.
  ///
  /// A reader that has gone away (`memgraph leaks … | head`) is no error: the rest is dropped.
  ///
  /// - Throws: ``SinkError`` where the text can't be written.
  func write(_ text: String) throws(SinkError)

  /// Writes some bytes, which need not be text, as ``write(_:)`` does.
  func write(bytes: ArraySlice<UInt8>) throws(SinkError)
}

/// Text could not be written.
package struct SinkError: Error, Equatable {
  package var errno: Int32
}

/// A sink that is one of the process's file descriptors.
package final class DescriptorSink: TextSink {
  private let _descriptor: Int32

  package init(_ descriptor: Int32) { _descriptor = descriptor }

  package var isTerminal: Bool { isatty(_descriptor) == 1 }

  package var columns: Int? {
    var size = winsize()
    guard ioctl(_descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  package func write(_ text: String) throws(SinkError) {
    var text = text
    if let failure = text.withUTF8(write) { throw SinkError(errno: failure) }
  }

  package func write(bytes: ArraySlice<UInt8>) throws(SinkError) {
    if let failure = bytes.withUnsafeBufferPointer(write) { throw SinkError(errno: failure) }
  }

  /// - Returns: why they could not be written; nil where they were.
  private func write(_ bytes: UnsafeBufferPointer<UInt8>) -> Int32? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeBufferPointer(rebasing: rest)
      let written = Glibc.write(_descriptor, part.baseAddress, part.count)
      if written >= 0 {
        rest = rest.dropFirst(written)
      } else if errno == EPIPE {
        return nil
      } else if errno != EINTR && errno != EAGAIN {
        return errno
      }
    }
    return nil
  }
}

/// A sink that keeps the text in memory.
package final class MemorySink: TextSink {
  package let isTerminal: Bool
  package let columns: Int?
  private let _bytes = Mutex<[UInt8]>([])

  package init(isTerminal: Bool = false, columns: Int? = nil) {
    self.isTerminal = isTerminal
    self.columns = columns
  }

  /// What has been written so far.
  package var bytes: [UInt8] { _bytes.withLock { $0 } }

  /// The same as text.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package func write(_ text: String) throws(SinkError) { write(bytes: ArraySlice(text.utf8)) }

  package func write(bytes: ArraySlice<UInt8>) { _bytes.withLock { $0 += bytes } }
}
