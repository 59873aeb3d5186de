// Tests of the encoding of Protocol Buffers against examples of its specification, and of gzip by zlib.

import CZlib
import Testing

@testable import GraphExport

@Suite struct ProtobufTests {
  @Test("Messages are encoded as the specification's examples are")
  func examples() {
    var message = ProtobufMessage()
    message.put(1, UInt64(150))
    #expect(message.bytes == [0x08, 0x96, 0x01])
    message = ProtobufMessage()
    message.put(2, "testing")
    #expect(message.bytes == [0x12, 0x07] + Array("testing".utf8))
    var outer = ProtobufMessage()
    var inner = ProtobufMessage()
    inner.put(1, UInt64(150))
    outer.put(3, inner)
    #expect(outer.bytes == [0x1A, 0x03, 0x08, 0x96, 0x01])
    message = ProtobufMessage()
    message.put(6, packed: [3, 270, 86_942])
    #expect(message.bytes == [0x32, 0x06, 0x03, 0x8E, 0x02, 0x9E, 0xA7, 0x05])
  }

  @Test("Negative numbers take ten bytes, nothing takes none")
  func edges() {
    var message = ProtobufMessage()
    message.put(1, Int64(-2))
    #expect(message.bytes == [0x08, 0xFE] + [UInt8](repeating: 0xFF, count: 8) + [0x01])
    message = ProtobufMessage()
    message.put(1, packed: [])
    #expect(message.bytes.isEmpty)
    message.put(16, UInt64.max)
    #expect(message.bytes.prefix(2) == [0x80, 0x01] && message.bytes.count == 12)
  }

  @Test(
    "What was compressed is what comes out, whatever the pieces",
    arguments: [0, 1, 70_000, 300_000])
  func gzip(_ size: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
    var packed: [UInt8] = []
    let gzip = try GzipStream { packed += $0 }
    var rest = bytes[...]
    while !rest.isEmpty {
      try gzip.write(rest.prefix(33_333))
      rest = rest.dropFirst(33_333)
    }
    try gzip.finish()
    #expect(try Self.inflated(packed, room: size + 1) == bytes)
  }

  static func inflated(_ bytes: [UInt8], room: Int) throws -> [UInt8] {
    var bytes = bytes
    var output = [UInt8](repeating: 0, count: room)
    var stream = z_stream()
    try #require(
      inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK)
    defer { inflateEnd(&stream) }
    let result = bytes.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { space in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        stream.next_out = space.baseAddress
        stream.avail_out = UInt32(space.count)
        return inflate(&stream, Z_FINISH)
      }
    }
    try #require(result == Z_STREAM_END)
    return Array(output[..<(room - Int(stream.avail_out))])
  }
}
