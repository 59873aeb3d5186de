// Tests of what a block must be to be an object: large enough for its type, and not too large.

import Glibc
import GraphPrimitives
import SnapshotFormat
import Testing

@testable import HeapCapture

private final class Plain {
  var first: AnyObject?
  var second: AnyObject?
  var third = 3
}
private final class Generic<Element> {
  var element: Element
  init(_ element: Element) { self.element = element }
}
private final class Buffer: ManagedBuffer<Int, AnyObject> {}

@Suite struct FitTests {
  /// A block of memory that begins as an object does: a type, and the counts of a fresh object.
  private func block(_ type: AnyObject.Type, _ size: Int) -> UnsafeMutableRawPointer {
    guard let block = malloc(size) else { preconditionFailure("no memory") }
    memset(block, 0, size)
    block.storeBytes(of: UInt(bitPattern: ObjectIdentifier(type)), as: UInt.self)
    block.storeBytes(of: 3, toByteOffset: 8, as: UInt.self)
    return block
  }

  private func fits(
    _ target: LayoutTarget, _ object: UnsafeMutableRawPointer, _ size: Int
  ) throws -> Bool {
    let address = UInt64(UInt(bitPattern: object))
    let type = try #require(target.type(at: address))
    return target.catalog.fits(type, at: address, allocatedSize: size)
  }

  @Test("An object has the size of its class, as the program's own metadata has it")
  func classes() throws {
    let plain = [16, 24, 40, 56, 57, 64, 256, 4_096, 1 << 20].map { ($0, block(Plain.self, $0)) }
    let generic = [24, 32, 48, 80, 4_096].map {
      ($0, block(Generic<(Int, Int, Int, Int)>.self, $0))
    }
    let buffers = [16, 32, 4_096].map { ($0, block(Buffer.self, $0)) }
    defer { for (_, block) in plain + generic + buffers { free(block) } }
    let target = try LayoutTarget()
    for (size, block) in plain {
      // Three fields behind 16 bytes of header, the first two of 8 bytes.
      #expect(try fits(target, block, size) == (40...88).contains(size), "\(size)")
    }
    for (size, block) in generic {
      #expect(try fits(target, block, size) == (48...96).contains(size), "\(size)")
    }
    for (size, block) in buffers {
      #expect(try fits(target, block, size) == (size >= 24), "a managed buffer of \(size)")
    }
  }

  @Test("Containers and strings are as large as they say, and no larger")
  func containers() throws {
    // The storage of each: what an array of many, a large table, and a long string allocate.
    let array = (0..<100).map { _ in Plain() }
    let table = Dictionary(uniqueKeysWithValues: (0..<1_000).map { ($0, Plain()) })
    let set = Set(0..<300)
    let text = String(repeating: "é", count: 500 + Int(getpid() & 7))
    let places = [
      unsafeBitCast(array, to: UInt.self), unsafeBitCast(table, to: UInt.self),
      unsafeBitCast(set, to: UInt.self), unsafeBitCast(text, to: (UInt, UInt).self).1,
    ].map { UInt64($0) & 0x00ff_ffff_ffff_fff8 }
    let target = try LayoutTarget()
    for place in places {
      let type = try #require(target.type(at: place), "\(String(place, radix: 16))")
      let size = Int(clamping: (target.memory.word(at: place - 8) ?? 0) & ~7) - 8
      #expect(target.catalog.fits(type, at: place, allocatedSize: size), "\(type.name)")
      // Its first words at the start of less memory, and with a count that is none.
      let copy = try #require(target.memory.bytes(at: place - 8, count: 40))
      let bytes = UnsafeMutableRawPointer(mutating: copy)
      let header = bytes.load(as: UInt64.self)
      bytes.storeBytes(of: 0x41, as: UInt64.self)
      #expect(!target.catalog.fits(type, at: place, allocatedSize: 48), "\(type.name) in 48 bytes")
      bytes.storeBytes(of: header, as: UInt64.self)
      bytes.storeBytes(of: 0x7f34_1189_9800, toByteOffset: 24, as: UInt64.self)
      #expect(
        !target.catalog.fits(type, at: place, allocatedSize: size), "\(type.name) of many elements")
    }
    withExtendedLifetime((array, table, set, text)) {}
  }

  @Test("Memory that begins like an object, but has another size, is none; what it holds is held")
  func phantoms() throws {
    let program = try OutsideProgram(["phantoms"], withAgent: true)
    for snapshot in [
      try Snapshot(contentsOf: try program.mark("twin")), try captureProcess(program.pid).snapshot,
    ] {
      let graph = OutsideCaptureTests.Graph(snapshot)
      #expect(
        graph.nodes.count { $0.type == "OutsideTarget.Node" } == 16, "\(snapshot.process.source)")
      #expect(!graph.nodes.contains { $0.type == "Task slab" })
      // Its blocks hold the objects, and are held themselves.
      let held = Set(graph.edges.keys.map(\.to))
      let nodes = graph.nodes.filter { $0.type == "OutsideTarget.Node" }
      #expect(nodes.allSatisfy { held.contains($0.address) })
      #expect(UnreadableFilesTests.unreached(graph) == [])
    }
    #expect(program.finish().status == 0)
  }
}
