// ServedMemory: what a frozen twin hands out of itself, where the kernel lets nobody else look.

internal import CHeapCapture
internal import CMemoryGraphLayout
internal import Glibc

/// The reader's end of the socket at which a frozen twin serves its own memory (`mg_served.h`).
///
/// The twin serves until the instance goes. Not thread-safe.
package final class ServedMemory {
  /// What the twin reads of its own `/proc/self`.
  enum File: UInt32 {
    case maps = 2
    case statm = 3
    /// Where the link `exe` leads.
    case executable = 4
  }

  private let _socket: Int32

  /// - Parameter socket: is closed with the instance.
  package init(socket: Int32) { _socket = socket }

  deinit { close(_socket) }

  /// The twin's number as this process sees it, which is another than its own in a PID namespace; nil
  /// where it sees none.
  func pid() -> Int32? {
    guard mg_wants_sender(_socket, 1) == 0 else { return nil }
    defer { _ = mg_wants_sender(_socket, 0) }
    var sender: Int32?
    _ = _ask(File.executable.rawValue) { _, pid in sender = sender ?? pid }
    return sender
  }

  /// The contents of a file of the twin's; nil where it can't read it, or is gone.
  func bytes(of file: File) -> [UInt8]? {
    var bytes: [UInt8] = []
    let error = _ask(file.rawValue) { piece, _ in bytes += piece }
    return error == 0 ? bytes : nil
  }

  /// Copies bytes from the twin.
  ///
  /// - Returns: how many bytes from the start of the range could be read.
  /// - Complexity: O(*n*) for *n* bytes; a message for each 64 KiB.
  func read(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let base = buffer.baseAddress, buffer.count > 0,
      _send(UInt32(MG_SERVE_MEMORY), address: address, count: UInt64(buffer.count))
    else { return 0 }
    var done = 0
    // The end of the answer has no bytes, and comes when the buffer may be full.
    while let (header, _) = _receive(into: base + done, room: buffer.count - done),
      header.count > 0
    {
      done += Int(header.count)
    }
    return done
  }

  /// Sends a request without a range and takes its answer.
  ///
  /// - Returns: 0 where the answer is whole, else an errno.
  private func _ask(
    _ kind: UInt32, _ body: (UnsafeMutableRawBufferPointer, Int32?) -> Void
  ) -> Int32 {
    guard _send(kind, address: 0, count: 0) else { return EPIPE }
    return withUnsafeTemporaryAllocation(byteCount: Int(MG_SERVED_PIECE), alignment: 8) { piece in
      while let (header, pid) = _receive(into: piece.baseAddress, room: piece.count) {
        body(UnsafeMutableRawBufferPointer(rebasing: piece[..<Int(header.count)]), pid)
        if header.count == 0 { return header.error }
      }
      return EPIPE
    }
  }

  private func _send(_ kind: UInt32, address: UInt64, count: UInt64) -> Bool {
    var request = mg_served_request(kind: kind, pad: 0, address: address, count: count)
    let size = MemoryLayout<mg_served_request>.size
    var sent = 0
    repeat {
      sent = send(_socket, &request, size, Int32(MSG_NOSIGNAL))
    } while sent < 0 && errno == EINTR
    return sent == size
  }

  /// Takes a message; nil where the twin is gone, or says something that is no answer.
  private func _receive(
    into place: UnsafeMutableRawPointer?, room: Int
  ) -> (header: mg_served_header, pid: Int32?)? {
    var header = mg_served_header()
    let size = MemoryLayout<mg_served_header>.size
    var pid: Int32 = 0
    let count = mg_receive_message(_socket, &header, size, place, room, &pid)
    guard count >= size, Int(header.count) == count - size else { return nil }
    return (header, pid == 0 ? nil : pid)
  }
}
