// Tests of bad memory: words that are no metadata, and objects whose bytes contradict their type.

import Glibc
import GraphPrimitives
import SnapshotFormat
import Testing

@testable import HeapCapture

private final class Leaf: Sendable {}
private final class Anchor {
  var array = [Leaf()]
  var table = ["a": Leaf(), "b": Leaf()]
  var set: Set<String> = ["a"]
  var closure: (Int) -> Int
  var any: Any = (Leaf(), Leaf(), Leaf(), Leaf())
  var error: (any Error)? = Failure.failed(Leaf())
  var choice: Choice = .text("x")
  var text: String
  weak var leaf: Leaf?
  init(_ number: Int) {
    closure = { $0 + number }
    text = String(repeating: "é", count: 400 + number)
    leaf = array[0]
  }
}
private enum Failure: Error { case failed(Leaf) }
private enum Choice {
  case object(Leaf)
  case text(String)
  case closure(() -> Void)
  case none
}

@Suite struct GarbageTests {
  @Test("Any word may be asked about")
  func words() throws {
    let anchor = Anchor(1)
    let target = try LayoutTarget()
    for word: UInt64 in [0, 1, 7, 8, 0xfff, 0x1_0000, .max, 1 << 47, 1 << 63, 0x7fff_ffff_fff8] {
      #expect(target.catalog.type(ofMetadataWord: word) == nil)
    }
    var found: Set<String> = []
    for range in target.images.flatMap(\.dataRanges) {
      for place in stride(from: range.lowerBound, to: range.upperBound, by: 8).prefix(1 << 15) {
        // The address itself, and what stands there: one of them may be metadata, most are not.
        for word in [place, target.memory.word(at: place) ?? 0] {
          if let type = target.catalog.type(ofMetadataWord: word) {
            #expect(!type.name.isEmpty)
            found.insert(type.name)
          }
        }
      }
    }
    #expect(found.contains { $0.hasPrefix("Swift.") })
    withExtendedLifetime(anchor) {}
  }

  @Test("Objects of random bytes report references within themselves")
  func objects() throws {
    let anchor = Anchor(1)
    let size = 512
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    defer { block.deallocate() }
    block.initializeMemory(as: UInt8.self, repeating: 0)
    let start = UInt64(UInt(bitPattern: block.baseAddress))
    let target = try LayoutTarget()
    // The types of the anchor and of everything it refers to.
    var types: [SwiftType] = []
    var pending = [address(of: anchor)]
    var seen: Set<UInt64> = []
    while let object = pending.popLast() {
      guard seen.insert(object).inserted, let type = target.type(at: object) else { continue }
      types.append(type)
      pending += target.collect(object).references.map(\.target)
    }
    #expect(types.count > 10)

    let header = try #require(target.memory.word(at: start - 8))
    let usable = Int(header & ~7) - 8
    // The copy of the captured memory is ours: the block is filled there.
    let copy = try #require(target.memory.bytes(at: start, count: size))
    let bytes = UnsafeMutableRawBufferPointer(
      start: UnsafeMutableRawPointer(mutating: copy), count: size)
    for seed in 0..<200 as Range<UInt64> {
      var random = SplitMix(seed)
      let type = types[Int(seed) % types.count]
      for place in stride(from: 8, to: size, by: 8) {
        // Small numbers, addresses in the block, metadata, noise.
        let word = [
          random.next() % 64, start &+ random.next() % 512, type.metadata, random.next(),
        ][Int(random.next() % 4)]
        bytes.storeBytes(of: word, toByteOffset: place, as: UInt64.self)
      }
      bytes.storeBytes(of: type.metadata, toByteOffset: 0, as: UInt64.self)
      for allocated in [16, 24, 48, size] {
        let found = target.collect(start, size: allocated)
        // Arrays may use what the allocator gave beyond what was asked for, if that is little.
        let end = usable - allocated <= 48 ? max(usable, allocated) : allocated
        let inside = start..<(start + UInt64(end))
        for reference in found.references {
          #expect(inside.contains(reference.address), "seed \(seed), \(type.name)")
          #expect(reference.target >= 0x1000, "seed \(seed), \(type.name)")
        }
        for (range, _) in found.words {
          #expect(
            range.lowerBound >= start && range.upperBound <= inside.upperBound,
            "seed \(seed), \(type.name)")
        }
      }
    }
    withExtendedLifetime(anchor) {}
  }
}
