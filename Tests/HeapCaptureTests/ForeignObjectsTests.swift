// Tests of ForeignObjects: what blocks of CoreFoundation and libdispatch are called.

import GraphPrimitives
import SnapshotFormat
import Testing

@testable import HeapCapture

@Suite struct ForeignObjectsTests {
  /// A heap of blocks 256 bytes apart, and the libraries' data below it.
  final class Heap {
    static let data: UInt64 = 0x10_0000
    static let blocks: UInt64 = 0x20_0000
    let source = FakeMemory(0x10_0000..<0x11_0000, 0x20_0000..<0x21_0000)
    let nodes = HeapNodes()

    /// CoreFoundation's classes, by the numbers that the tests give them.
    static let classes = ["", "CFSet", "CFArray", "CFDictionary", "CFRunLoop", "CFRunLoopMode"]

    init() {
      for (number, name) in Self.classes.enumerated() where number > 0 {
        let description = Self.data + 0x4000 + UInt64(number) * 64
        source.set(Self.data + UInt64(number) * 8, description)
        source.set(description + 8, description + 16)
        for (index, piece) in Array(name.utf8).enumerated() {
          let place = description + 16 + UInt64(index / 8 * 8)
          let word = TargetMemory(source).word(at: place) ?? 0
          source.set(place, word | UInt64(piece) << UInt64(index % 8 * 8))
        }
      }
    }

    func address(_ row: Int) -> UInt64 { Self.blocks + UInt64(row) * 256 }

    func add(size: UInt64, _ words: [UInt64: UInt64] = [:]) -> Int {
      let row = nodes.count
      nodes.append(HeapBlock(address: address(row), size: size))
      for (place, word) in words { source.set(address(row) + place, word) }
      return row
    }

    /// Adds an object of CoreFoundation.
    func addObject(_ name: String, _ words: [UInt64: UInt64] = [:]) -> Int {
      let row = add(size: 200, words)
      source.set(address(row) + 16, UInt64(Self.classes.firstIndex(of: name) ?? 0) << 8 | 0x80)
      nodes.kind[row] = .coreFoundation
      nodes.typeID[row] = 0
      return row
    }

    static let timerType: UInt64 = 0x10_8000
    static let queueTable: UInt64 = 0x10_8100
    static let function: UInt64 = 0x10_8200

    func objects() -> ForeignObjects {
      nodes.buildIndex()
      let memory = TargetMemory(source)
      return ForeignObjects(
        nodes: nodes, memory: memory,
        coreFoundation: CoreFoundationLayouts(memory: memory, classes: Self.data),
        dispatch: DispatchLayouts(
          memory: memory, objectByTable: [Self.queueTable: "dispatch_queue_serial"],
          sourceByType: [Self.timerType: "timer"], functions: [Self.function]))
    }
  }

  @Test("A run loop's fields are named; its collections are folded with their tables")
  func runLoop() {
    let heap = Heap()
    let table = heap.add(size: 64)
    let modes = heap.addObject("CFSet", [48: heap.address(table)])
    let mode = heap.addObject("CFRunLoopMode")
    let loop = heap.addObject("CFRunLoop", [112: heap.address(mode), 120: heap.address(modes)])
    let objects = heap.objects()
    #expect(objects.typeName(of: loop)?.name == "CFRunLoop")
    #expect(objects.reference(at: 120, in: loop)?.name == "modes")
    #expect(objects.reference(at: 112, in: loop)?.name == "currentMode")
    #expect(objects.reference(at: 144, in: loop) == nil)
    #expect(objects.reference(at: 48, in: modes)?.isElement == false)
    #expect(objects.reference(at: 16, in: table)?.isElement == true)
    #expect(heap.nodes.kind[loop] == .coreFoundation)
    #expect([table, modes, mode].allSatisfy { heap.nodes.kind[$0] == .cStorage })
  }

  @Test("A layout that does not fit is not believed")
  func otherLayout() {
    let heap = Heap()
    let array = heap.addObject("CFArray")
    let loop = heap.addObject("CFRunLoop", [120: heap.address(array)])
    let objects = heap.objects()
    #expect(objects.typeName(of: loop)?.name == "CFRunLoop")
    #expect(objects.reference(at: 120, in: loop) == nil)
  }

  @Test("An object of no known class keeps its name")
  func noClass() {
    let heap = Heap()
    let object = heap.addObject("CFSet")
    heap.source.set(heap.address(object) + 16, 0x3ff << 8)
    #expect(heap.objects().typeName(of: object) == nil)
  }

  @Test("A timer leads to its source by a pointer that is turned over; a work item has one owner")
  func dispatch() {
    let heap = Heap()
    let queue = heap.add(size: 128, [0: Heap.queueTable])
    let item = heap.add(size: 64, [0: 0x114, 32: Heap.function, 40: 0x1234])
    let timer = heap.add(
      size: 144, [0: Heap.timerType, 8: ~heap.address(queue), 40: heap.address(item)])
    let links = heap.add(
      size: 168, [24: Heap.timerType, 32: ~heap.address(queue), 64: heap.address(item)])
    let plain = heap.add(size: 64, [0: 0x114, 32: 0x1_2345, 40: 0x1234])
    let objects = heap.objects()
    #expect(objects.typeName(of: queue)?.name == "dispatch_queue_serial")
    #expect(objects.typeName(of: timer)?.name == "dispatch timer")
    #expect(objects.reference(at: 40, in: timer)?.name == "eventHandler")
    #expect(objects.reference(at: 64, in: links)?.name == "eventHandler")
    #expect(objects.hiddenReferences.map(\.from) == [timer, links])
    #expect(objects.hiddenReferences.map(\.to) == [queue, queue])
    #expect(objects.reference(at: 40, in: item)?.name == "work")
    #expect(heap.nodes.kind[item] == .cStorage && heap.nodes.strong[item] == 1)
    #expect(objects.typeName(of: plain) == nil && heap.nodes.kind[plain] == .block)
  }

  @Test("Any bytes may stand in a block", arguments: 1...20)
  func garbage(_ seed: Int) {
    var state = UInt64(seed) &* 0x9e37_79b9_7f4a_7c15
    func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 11
    }
    let heap = Heap()
    let interesting = [
      0, 1, .max, Heap.timerType, Heap.queueTable, Heap.function, Heap.data, ~Heap.blocks,
    ]
    for _ in 0..<100 {
      let row =
        next() % 2 == 0
        ? heap.add(size: next() % 200) : heap.addObject(Heap.classes[Int(next() % 6)])
      for place in stride(from: UInt64(0), to: 200, by: 8) {
        let pick = next() % 16
        let word =
          pick < 8 ? interesting[Int(pick)] : heap.address(Int(next() % 128)) &+ next() % 3 * 8
        heap.source.set(heap.address(row) + place, word)
      }
    }
    let objects = heap.objects()
    for row in 0..<heap.nodes.count {
      for place in stride(from: UInt64(0), to: 200, by: 8) {
        _ = objects.reference(at: place, in: row)
      }
    }
    for hidden in objects.hiddenReferences { #expect(hidden.to < heap.nodes.count) }
  }
}
