// ByteSource: where a call reads its input from: a file descriptor, or memory in tests.

internal import Glibc
internal import Synchronization

/// Gives bytes, one piece after the other.
package protocol ByteSource: AnyObject, Sendable {
  /// The next bytes, at least one; none at the end. Waits until there are some.
  ///
  /// - Throws: ``SinkError`` where they can't be read.
  func read() throws(SinkError) -> [UInt8]
}

/// A source that is one of the process's file descriptors.
package final class DescriptorSource: ByteSource {
  private let _descriptor: Int32

  package init(_ descriptor: Int32) { _descriptor = descriptor }

  package func read() throws(SinkError) -> [UInt8] {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(_descriptor, &piece, piece.count)
      if count >= 0 { return Array(piece[..<count]) }
      if errno != EINTR && errno != EAGAIN { throw SinkError(errno: errno) }
    }
  }
}

/// A source of pieces that are in memory.
package final class MemorySource: ByteSource {
  private let _pieces: Mutex<ArraySlice<[UInt8]>>

  package init(_ pieces: [[UInt8]] = []) { _pieces = Mutex(pieces.filter { !$0.isEmpty }[...]) }

  package func read() throws(SinkError) -> [UInt8] { _pieces.withLock { $0.popFirst() ?? [] } }
}
