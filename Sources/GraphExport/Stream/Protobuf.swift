// Protobuf: messages of Protocol Buffers, as their encoding has them (protobuf.dev/programming-guides/encoding).

/// One message, being put together. Fields keep the order in which they were put; those of value 0 may be left out.
struct ProtobufMessage {
  private(set) var bytes: [UInt8] = []

  init() {}

  /// A number: `uint64`, `int64`, `uint32`, `bool`, an enum.
  mutating func put(_ field: Int, _ number: UInt64) {
    Self.put(UInt64(field) << 3, to: &bytes)
    Self.put(number, to: &bytes)
  }

  /// A number that may be negative, as `int64` has it.
  mutating func put(_ field: Int, _ number: Int64) { put(field, UInt64(bitPattern: number)) }

  /// A text or bytes.
  mutating func put(_ field: Int, bytes content: some Collection<UInt8>) {
    Self.put(UInt64(field) << 3 | 2, to: &bytes)
    Self.put(UInt64(content.count), to: &bytes)
    bytes.append(contentsOf: content)
  }

  /// A text.
  mutating func put(_ field: Int, _ text: String) { put(field, bytes: text.utf8) }

  /// A message within this one.
  mutating func put(_ field: Int, _ message: ProtobufMessage) { put(field, bytes: message.bytes) }

  /// Numbers in the packed form of repeated fields; nothing for none.
  mutating func put(_ field: Int, packed numbers: some Sequence<UInt64>) {
    var packed: [UInt8] = []
    for number in numbers { Self.put(number, to: &packed) }
    if !packed.isEmpty { put(field, bytes: packed) }
  }

  /// Seven bits a byte, the lowest first; all but the last have the highest bit set.
  private static func put(_ number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }
}

extension ExportStream {
  /// Puts a message as a field of the message that the whole stream is.
  func put(_ field: Int, _ message: ProtobufMessage) {
    var whole = ProtobufMessage()
    whole.put(field, message)
    put(bytes: whole.bytes)
  }
}
