// Tests that what was compressed inflates to the same.

import CZlib
import SnapshotDSL
import Testing

@testable import GraphViewer

@Suite struct GzipTests {
  @Test(
    "zlib inflates it to the pieces",
    arguments: [[], [0], [1], [0, 5, 0], [3, 100_000, 7], [1_000_000, 1]])
  func roundTrip(_ lengths: [Int]) throws {
    var random = SeededGenerator(seed: 6)
    let pieces = lengths.map { length in
      (0..<length).map { _ in UInt8.random(in: 0...7, using: &random) }
    }
    let bytes = try #require(Gzip.compressed(pieces))
    #expect(try inflated(bytes) == Array(pieces.joined()))
    #expect(Gzip.compressed(pieces) == bytes, "the same bytes give the same")
  }

  private func inflated(_ bytes: [UInt8]) throws -> [UInt8] {
    var input = bytes
    var output = [UInt8](repeating: 0, count: 2_000_000)
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    try #require(inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, size) == Z_OK)
    defer { inflateEnd(&stream) }
    let capacity = output.count
    let result = input.withUnsafeMutableBufferPointer { source in
      output.withUnsafeMutableBufferPointer { space in
        stream.next_in = source.baseAddress
        stream.avail_in = UInt32(source.count)
        stream.next_out = space.baseAddress
        stream.avail_out = UInt32(capacity)
        return inflate(&stream, Z_FINISH)
      }
    }
    try #require(result == Z_STREAM_END)
    return Array(output[..<(capacity - Int(stream.avail_out))])
  }
}
