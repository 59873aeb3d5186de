// Tests of ObjectIDs: an object has one id in all snapshots of its run, and no two objects of a snapshot share one.

import GraphPrimitives
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphExport

@Suite struct ObjectIDsTests {
  private struct Object: Hashable {
    var address: UInt64
    var generation: UInt16
  }

  private static func graph(_ objects: Set<Object>) throws -> HeapGraph {
    var heap = SnapshotDSL()
    for object in objects.sorted(by: { $0.address < $1.address }) {
      heap.object("App.A", bytes: 16, generation: object.generation, address: object.address)
    }
    return try HeapGraph(heap.snapshot())
  }

  private static func ids(_ graph: HeapGraph) -> [Object: UInt32] {
    let ids = ObjectIDs(graph)
    var byObject: [Object: UInt32] = [:]
    for node in graph.nodes {
      byObject[
        Object(
          address: graph.address(of: node).rawValue,
          generation: graph.snapshot.nodes.generation[node.position])] =
        ids.idByNode[node.position]
    }
    return byObject
  }

  @Test(
    "Over the marks of a program ids stay, are of one object, and never come back", arguments: 0..<8
  )
  func marks(_ seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var alive: Set<Object> = []
    var idOfObject: [Object: UInt32] = [:]
    var objectOfID: [UInt32: Object] = [:]
    for generation in 0..<UInt16(12) {
      // A heap of the program's break and a mapped one; addresses are used again.
      for object in alive where Int.random(in: 0..<3, using: &random) == 0 { alive.remove(object) }
      var taken = Set(alive.map(\.address))
      for _ in 0..<2_000 {
        let base: UInt64 =
          Bool.random(using: &random) ? 0x5563_0000_0000 : 0x7F21_0000_0010
        let address = base + UInt64.random(in: 0..<8_192, using: &random) * 32
        if taken.insert(address).inserted {
          alive.insert(Object(address: address, generation: generation))
        }
      }
      let graph = try Self.graph(alive)
      #expect(ObjectIDs(graph).movedCount == 0)
      for (object, id) in Self.ids(graph) {
        #expect(idOfObject[object] == nil || idOfObject[object] == id)
        #expect(objectOfID[id] == nil || objectOfID[id] == object)
        idOfObject[object] = id
        objectOfID[id] = object
      }
    }
  }

  @Test(
    "Where two ids meet the younger object takes another, and the elder's stays", arguments: 0..<20)
  func crowded(_ seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed) + 77)
    // Addresses that are nearer than any allocator would have them, and 128 GB apart.
    var objects: Set<Object> = []
    for _ in 0..<60 {
      objects.insert(
        Object(
          address: 0x10_0000 + UInt64.random(in: 0..<40, using: &random) * 16
            + UInt64.random(in: 0..<3, using: &random) << 37,
          generation: UInt16.random(in: 0..<3, using: &random)))
    }
    var byAddress: [UInt64: Object] = [:]
    for object in objects { byAddress[object.address] = object }
    objects = Set(byAddress.values)
    let ids = Self.ids(try Self.graph(objects))
    #expect(Set(ids.values).count == objects.count)
    #expect(ids.values.allSatisfy { $0 > ObjectIDs.reserved })
    #expect(ObjectIDs(try Self.graph(objects)).movedCount > 0)
    // Without its youngest objects a heap has the same ids.
    let elders = objects.filter { $0.generation < 2 }
    for (object, id) in Self.ids(try Self.graph(elders)) { #expect(ids[object] == id) }
  }

  @Test("An address that is used again has another id")
  func reuse() {
    let ids = (0..<UInt16(40)).map { ObjectIDs.id(address: 0x7F00_0000_0020, generation: $0) }
    #expect(Set(ids).count == ids.count)
    // Neighbours within 3 GB keep out of the way of 20 generations.
    let near = Set(
      stride(from: 0, to: 3 << 30, by: 1 << 20).map { offset in
        ObjectIDs.id(address: 0x7F00_0000_0020 + UInt64(offset), generation: 0)
      })
    #expect(ids.prefix(20).dropFirst().allSatisfy { !near.contains($0) })
  }
}
