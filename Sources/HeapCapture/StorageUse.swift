// StorageUse: how full strings and collections are, and which strings are equal.

internal import Glibc
internal import SnapshotFormat

/// Reads how full the storage of strings and collections is, and compares strings.
///
/// Texts are compared here and stay here: a snapshot says which are equal, not what they are. Storage whose header
/// contradicts itself or the size of its block is left out.
///
/// - Complexity: O(*n* + *b*) for *n* nodes and *b* bytes of strings.
func storageUse(
  of nodes: HeapNodes, types: [SwiftType], memory: TargetMemory
) -> [SnapshotBuilder.Storage] {
  var found: [SnapshotBuilder.Storage] = []
  var texts = EqualTexts()
  for row in 0..<nodes.count where nodes.typeID[row] >= 0 && nodes.state[row] == .live {
    let address = nodes.address[row]
    func header(count: UInt64, capacity: UInt64) -> (count: UInt64, capacity: UInt64)? {
      guard let count = memory.word(at: address + count),
        let capacity = memory.word(at: address + capacity)
      else { return nil }
      return (count, capacity)
    }
    var use: (count: UInt64, capacity: UInt64)?
    var text = -1
    switch types[Int(nodes.typeID[row])].shape {
    case .string:
      // Capacity with the terminating zero, and count, each in 48 bits; the bytes from 32 on.
      let mask: UInt64 = 0xffff_ffff_ffff
      guard let words = header(count: 24, capacity: 16), words.capacity & mask > 0 else { continue }
      use = (words.count & mask, words.capacity & mask - 1)
      if let use, use.count <= min(use.capacity, nodes.size[row]),
        let bytes = memory.bytes(at: address + 32, count: Int(use.count))
      {
        text = texts.number(of: UnsafeRawBufferPointer(start: bytes, count: Int(use.count)))
      }
    case .array:
      use = header(count: 16, capacity: 24).map { ($0.count, $0.capacity >> 1) }
    case .dictionary, .set:
      use = header(count: 16, capacity: 24)
    case .ring:
      use = header(count: 24, capacity: 16)
    default:
      continue
    }
    guard let use, use.count <= use.capacity, use.capacity < 1 << 40 else { continue }
    found.append(
      SnapshotBuilder.Storage(
        node: UInt32(row), count: use.count, capacity: use.capacity, text: UInt32(text + 1)))
  }
  // Only texts that several strings have keep a number.
  var numbers = [UInt32](repeating: 0, count: texts.count)
  var next: UInt32 = 0
  for text in texts.counts.indices where texts.counts[text] > 1 {
    next += 1
    numbers[text] = next
  }
  for place in found.indices where found[place].text > 0 {
    found[place].text = numbers[Int(found[place].text) - 1]
  }
  return found
}

/// Numbers texts, equal ones alike.
private struct EqualTexts {
  /// How many had each number.
  private(set) var counts: [Int] = []
  private var _bytes: [UnsafeRawBufferPointer] = []
  private var _numbersByHash: [Int: [Int]] = [:]

  var count: Int { counts.count }

  /// The number of a text, whose bytes must stay where they are.
  mutating func number(of bytes: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    let hash = hasher.finalize()
    let equal = _numbersByHash[hash, default: []].first { number in
      guard _bytes[number].count == bytes.count else { return false }
      guard let one = _bytes[number].baseAddress, let other = bytes.baseAddress else { return true }
      return memcmp(one, other, bytes.count) == 0
    }
    if let equal {
      counts[equal] += 1
      return equal
    }
    _numbersByHash[hash, default: []].append(counts.count)
    counts.append(1)
    _bytes.append(bytes)
    return counts.count - 1
  }
}
