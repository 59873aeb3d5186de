// FakeMemory: a program's memory that a test writes word by word.

import GraphPrimitives

@testable import HeapCapture

/// A memory source whose bytes a test puts there.
final class FakeMemory: MemorySource {
  let name = "fake"
  let executable = "fake"
  let residentBytes: UInt64 = 0
  private(set) var mappings: [MemoryMapping]
  private var _bytes: [[UInt8]]

  /// Makes readable and writable mappings of zeros.
  init(_ ranges: Range<UInt64>...) {
    mappings = ranges.map {
      MemoryMapping(
        start: $0.lowerBound, end: $0.upperBound, isReadable: true, isWritable: true,
        isExecutable: false, fileOffset: 0, path: "")
    }
    _bytes = ranges.map { [UInt8](repeating: 0, count: $0.count) }
  }

  /// Changes what may be done with the mapping that starts at an address.
  func protect(_ start: UInt64, isReadable: Bool, isWritable: Bool) {
    guard let index = mappings.firstIndex(where: { $0.start == start }) else {
      preconditionFailure("no mapping at \(start)")
    }
    mappings[index].isReadable = isReadable
    mappings[index].isWritable = isWritable
  }

  /// Stores a word.
  func set(_ address: UInt64, _ word: UInt64) {
    guard let index = mappings.firstIndex(where: { $0.start <= address && address + 8 <= $0.end })
    else { preconditionFailure("no mapping at \(address)") }
    let offset = Int(address - mappings[index].start)
    for byte in 0..<8 {
      _bytes[index][offset + byte] = UInt8(truncatingIfNeeded: word >> (8 * byte))
    }
  }

  func read(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let index = mappings.firstIndex(where: { $0.start <= address && address < $0.end }) else {
      return 0
    }
    let count = min(buffer.count, Int(mappings[index].end - address))
    let offset = Int(address - mappings[index].start)
    _bytes[index].withUnsafeBytes {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<(offset + count)]))
    }
    return count
  }
}
