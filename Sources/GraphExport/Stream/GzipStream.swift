// GzipStream: bytes made smaller on their way.

internal import CZlib

/// Compresses bytes as one gzip member (RFC 1952), without a time, so that the same bytes give the same. Not thread-safe.
final class GzipStream {
  /// The window of 32 KB that deflate knows, plus 16 for a gzip header.
  private static let windowBits: Int32 = 15 + 16

  private var _stream = z_stream()
  private var _space = [UInt8](repeating: 0, count: 1 << 16)
  private let _pass: (ArraySlice<UInt8>) throws -> Void

  /// - Parameter pass: Takes each compressed piece.
  /// - Throws: ``ExportError`` where zlib has no memory.
  init(_ pass: @escaping (ArraySlice<UInt8>) throws -> Void) throws {
    _pass = pass
    // Level 1: profiles are read once, and level 6 takes three times as long for a tenth less.
    guard
      deflateInit2_(
        &_stream, 1, Z_DEFLATED, Self.windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
        Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { throw ExportError("gzip", "no memory for compressing") }
  }

  deinit { deflateEnd(&_stream) }

  /// Compresses some bytes.
  func write(_ bytes: ArraySlice<UInt8>) throws { try deflate(bytes, flush: Z_NO_FLUSH) }

  /// Ends the member; nothing can be written afterwards.
  func finish() throws { try deflate([], flush: Z_FINISH) }

  private func deflate(_ bytes: ArraySlice<UInt8>, flush: Int32) throws {
    var bytes = Array(bytes)
    let count = bytes.count
    try bytes.withUnsafeMutableBufferPointer { input in
      _stream.next_in = input.baseAddress
      _stream.avail_in = UInt32(count)
      var result = Z_OK
      repeat {
        let room = _space.count
        let written = _space.withUnsafeMutableBufferPointer { space in
          _stream.next_out = space.baseAddress
          _stream.avail_out = UInt32(room)
          result = CZlib.deflate(&_stream, flush)
          return room - Int(_stream.avail_out)
        }
        guard result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR else {
          throw ExportError("gzip", "zlib's error \(result)")
        }
        if written > 0 { try _pass(_space[..<written]) }
      } while _stream.avail_out == 0
    }
  }
}
