// Checksum: the CRC-32 that guards a file's header and sections.

internal import CZlib

/// A CRC-32 over pieces of memory, as zlib, gzip and PNG have it.
internal struct Checksum {
  private(set) var value: UInt32 = 0

  /// Takes in more bytes.
  ///
  /// - Complexity: O(*n*), some gigabytes a second in debug builds too, since zlib does the work.
  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
    let first = start.assumingMemoryBound(to: UInt8.self)
    value = UInt32(truncatingIfNeeded: crc32_z(UInt(value), first, bytes.count))
  }

  /// The checksum of one piece of memory.
  static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var checksum = Checksum()
    checksum.update(bytes)
    return checksum.value
  }
}
