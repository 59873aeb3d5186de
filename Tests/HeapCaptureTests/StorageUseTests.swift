// StorageUseTests: how full strings and collections of this process are, and which strings are equal.

import SnapshotFormat
import Testing

@testable import HeapCapture

/// Has strings and collections, whose storages are its fields' targets.
private final class Holder {
  var texts: [String]
  var array = [1, 2, 3]
  var byName: [String: Int]
  var unique: Set<Int>

  init() {
    let long = String(repeating: "the same text ", count: 5)
    texts = (0..<3).map { _ in String(decoding: Array(long.utf8), as: UTF8.self) }
    texts.append(String(repeating: "another text, ", count: 5))
    texts.append(String(repeating: "the same text.", count: 5))
    array.reserveCapacity(1_000)
    byName = Dictionary(minimumCapacity: 500)
    byName["one"] = 1
    unique = Set(0..<10)
  }
}

@Suite struct StorageUseTests {
  /// What is found of the objects at some addresses, by address.
  private func use(
    of addresses: [UInt64], in target: LayoutTarget
  ) -> [UInt64: SnapshotBuilder.Storage] {
    let nodes = HeapNodes()
    for address in addresses.sorted() {
      let usable = (target.memory.word(at: address - 8) ?? 0) & ~7 - 8
      nodes.append(HeapBlock(address: address, size: usable))
    }
    var types: [SwiftType] = []
    for row in 0..<nodes.count {
      guard let type = target.type(at: nodes.address[row]) else { continue }
      nodes.typeID[row] = Int32(types.count)
      types.append(type)
    }
    let found = storageUse(of: nodes, types: types, memory: target.memory)
    return Dictionary(uniqueKeysWithValues: found.map { (nodes.address[Int($0.node)], $0) })
  }

  @Test("Counts, room and equal texts are the program's own")
  func counts() throws {
    let holder = Holder()
    let target = try LayoutTarget()
    let fields = target.references(of: holder)
    func storage(_ label: String) throws -> UInt64 {
      try #require(fields.first { $0.label == label }?.target)
    }
    let (array, byName, unique) = (
      try storage("array"), try storage("byName"), try storage("unique")
    )
    let texts = target.references(at: try storage("texts")).map(\.target)
    #expect(texts.count == 5)
    let found = use(of: texts + [array, byName, unique], in: target)
    #expect(found[array]?.count == 3)
    #expect(found[array]?.capacity == UInt64(holder.array.capacity))
    #expect(found[byName]?.count == 1)
    #expect(found[byName]?.capacity == UInt64(holder.byName.capacity))
    #expect(found[unique]?.count == 10)
    #expect(found[unique]?.capacity == UInt64(holder.unique.capacity))
    #expect(found[array]?.text == 0 && found[byName]?.text == 0)
    // One of as many bytes, and one that differs in the last of them, are others.
    #expect(texts.map { found[$0]?.text } == [1, 1, 1, 0, 0])
    #expect(texts.map { found[$0]?.count } == [70, 70, 70, 70, 70])
    #expect(texts.allSatisfy { found[$0].map { $0.capacity >= 70 && $0.capacity < 140 } ?? false })
    withExtendedLifetime(holder) {}
  }

  @Test("A header that contradicts itself is left out")
  func damaged() throws {
    let holder = Holder()
    let target = try LayoutTarget()
    let texts = try #require(target.references(of: holder).first { $0.label == "texts" }?.target)
    let string = try #require(target.references(at: texts).first?.target)
    let type = try #require(target.type(at: string))
    let start: UInt64 = 0x5000_0000
    for (capacity, count) in [(10, 50), (0, 0), (1 << 45, 3)] as [(UInt64, UInt64)] {
      let source = FakeMemory(start..<start + 0x1000)
      source.set(start + 16, capacity)
      source.set(start + 24, count)
      let nodes = HeapNodes()
      nodes.append(HeapBlock(address: start, size: 96))
      nodes.typeID[0] = 0
      #expect(storageUse(of: nodes, types: [type], memory: TargetMemory(source)).isEmpty)
    }
    withExtendedLifetime(holder) {}
  }
}
