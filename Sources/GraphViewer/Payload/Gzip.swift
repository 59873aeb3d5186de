// Gzip: bytes made smaller in the form that every browser can inflate.

internal import CZlib

/// Compresses bytes as one gzip member (RFC 1952), without a time, so that the same bytes give the same.
struct Gzip {
  /// zlib's own usual level: level 9 takes three times as long for 1 % less.
  private static let level: Int32 = 6

  /// Columns of numbers have few long repetitions: `Z_FILTERED` makes them one percent smaller.
  private static let strategy = Z_FILTERED

  /// The window of 32 KB that deflate knows, plus 16 for a gzip header.
  private static let windowBits: Int32 = 15 + 16

  /// The compressed pieces, joined.
  ///
  /// - Returns: nil where zlib has no memory.
  static func compressed(_ pieces: [[UInt8]]) -> [UInt8]? {
    var stream = z_stream()
    guard
      deflateInit2_(
        &stream, level, Z_DEFLATED, windowBits, 8, strategy, ZLIB_VERSION,
        Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { return nil }
    defer { deflateEnd(&stream) }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 256 * 1024)
    for piece in pieces {
      guard deflate(piece, &stream, flush: Z_NO_FLUSH, &buffer, &output) else { return nil }
    }
    return deflate([], &stream, flush: Z_FINISH, &buffer, &output) ? output : nil
  }

  private static func deflate(
    _ piece: [UInt8], _ stream: inout z_stream, flush: Int32, _ buffer: inout [UInt8],
    _ output: inout [UInt8]
  ) -> Bool {
    var piece = piece
    return piece.withUnsafeMutableBufferPointer { input in
      var done = 0
      var result = Z_OK
      repeat {
        // avail_in has 32 bits.
        let part = min(input.count - done, 1 << 30)
        let isEnd = done + part == input.count
        stream.next_in = input.baseAddress.map { $0 + done }
        stream.avail_in = UInt32(part)
        repeat {
          let room = buffer.count
          let written = buffer.withUnsafeMutableBufferPointer { space in
            stream.next_out = space.baseAddress
            stream.avail_out = UInt32(room)
            result = CZlib.deflate(&stream, isEnd ? flush : Z_NO_FLUSH)
            return room - Int(stream.avail_out)
          }
          output.append(contentsOf: buffer[..<written])
        } while stream.avail_out == 0
        if result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR { return false }
        done += part
      } while done < input.count
      return flush != Z_FINISH || result == Z_STREAM_END
    }
  }
}
