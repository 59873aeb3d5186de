// Tests of ForeignObjects: what blocks of CoreFoundation and libdispatch are called.

import Dispatch
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
    static let afterType: UInt64 = 0x10_8080
    static let queueTable: UInt64 = 0x10_8100
    static let sourceTable: UInt64 = 0x10_8180
    static let function: UInt64 = 0x10_8200

    func objects() -> ForeignObjects {
      nodes.buildIndex()
      let memory = TargetMemory(source)
      return ForeignObjects(
        nodes: nodes, memory: memory,
        coreFoundation: CoreFoundationLayouts(memory: memory, classes: Self.data),
        dispatch: DispatchLayouts(
          memory: memory,
          objectByTable: [
            Self.queueTable: "dispatch_queue_serial", Self.sourceTable: "dispatch_source",
          ],
          sourceByType: [Self.timerType: "timer", Self.afterType: "after"],
          functions: [Self.function]))
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

  /// A continuation with a pointer in each word that can have one.
  private func addContinuation(
    _ heap: Heap, flags: UInt64, function: UInt64 = Heap.function, data: UInt64? = nil
  ) -> Int {
    let other = Heap.blocks + 0x8000
    return heap.add(
      size: 64,
      [
        0: flags, 8: 3, 16: other, 24: other, 32: function, 40: other, 48: data ?? other, 56: other,
      ])
  }

  /// Where words are looked at, from the start of the block.
  private func places(_ objects: ForeignObjects, _ heap: Heap, _ row: Int) -> [Range<UInt64>] {
    objects.wordsInUse(of: row).map {
      ($0.lowerBound - heap.address(row))..<($0.upperBound - heap.address(row))
    }
  }

  @Test(
    "Of a work item only what its flags and its data make libdispatch read is looked at",
    arguments: [
      (0x114, false, [16..<24, 40..<48]), (0x114, true, [16..<24, 40..<56]),
      (0x10c, true, [16..<24, 40..<56]), (0x106, false, [16..<24, 40..<48]),
      // Who waits, and what doesn't come from libdispatch's allocator.
      (0x101, false, [0..<64]), (0x184, false, [0..<64]), (0x14, false, [0..<64]),
      (0x1114, false, [0..<64]),
    ] as [(UInt64, Bool, [Range<UInt64>])])
  func wordsOfWorkItems(flags: UInt64, hasQueue: Bool, expected: [Range<UInt64>]) {
    let heap = Heap()
    let queue = heap.add(size: 128, [0: Heap.queueTable])
    let item = addContinuation(heap, flags: flags, data: hasQueue ? heap.address(queue) : nil)
    let objects = heap.objects()
    #expect(objects.typeName(of: item)?.name == "dispatch continuation")
    #expect(places(objects, heap, item) == expected)
    #expect(places(objects, heap, queue) == [0..<128])
  }

  @Test(
    "Of a source's handler only its work is looked at, of what is to be called later its source, too",
    arguments: [0, 24] as [UInt64], [40, 48, 56] as [UInt64])
  func wordsOfHandlers(start: UInt64, place: UInt64) {
    for (type, isAfter) in [(Heap.timerType, false), (Heap.afterType, true)] {
      let heap = Heap()
      let source = heap.add(size: 128, [0: Heap.sourceTable])
      // A function of the program's with any argument.
      let handler = addContinuation(heap, flags: 0x100, function: 0x4_0000)
      let timer = heap.add(
        size: 168,
        [
          start: type, start + 8: ~heap.address(source), start + place: heap.address(handler),
        ])
      heap.source.set(heap.address(source) + 88, heap.address(timer) + start)
      let objects = heap.objects()
      #expect(places(objects, heap, handler) == [isAfter ? 40..<56 : 40..<48])
      #expect(heap.nodes.kind[handler] == .block)
    }
  }

  @Test("What only looks like something registered, or like a handler, has all its words")
  func wordsOfOthers() {
    let heap = Heap()
    let source = heap.add(size: 128, [0: Heap.sourceTable])
    let block = addContinuation(heap, flags: 0x100, function: 0x4_0000)
    let stale = heap.add(
      size: 168,
      [0: Heap.timerType, 8: ~heap.address(source), 40: heap.address(block)])
    let number = addContinuation(heap, flags: 0x1234, function: 0x4_0000)
    let timer = heap.add(
      size: 168,
      [0: Heap.timerType, 8: ~heap.address(source), 40: heap.address(number)])
    heap.source.set(heap.address(source) + 88, heap.address(timer))
    let objects = heap.objects()
    #expect(places(objects, heap, block) == [0..<64])
    #expect(places(objects, heap, number) == [0..<64])
    #expect(places(objects, heap, stale) == [0..<168])
  }

  @Test("A source's handler is found where the library that is loaded has it")
  func realSource() throws {
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + 3600)
    timer.setEventHandler {}
    timer.setCancelHandler {}
    timer.resume()
    defer { timer.cancel() }
    let target = try LayoutTarget()
    let memory = target.memory
    let layouts = try #require(DispatchLayouts(memory: memory, images: target.images))
    // Swift's object has libdispatch's behind its header.
    let source = try #require(memory.word(at: address(of: timer as AnyObject) + 16))
    #expect(layouts.part(at: source, size: 128) == .object("dispatch_source"))
    let registered = try #require(memory.word(at: source + 88))
    #expect(layouts.part(at: registered, size: 144) == .registration("timer", at: 0))
    let handlers = layouts.handlers(ofRegistration: registered, kind: "timer", at: 0)
    #expect(handlers.count == 2)
    for handler in handlers {
      #expect(
        layouts.wordsInUse(ofContinuation: handler.block, size: 64, handler: handler) == [40..<48])
      #expect(memory.word(at: handler.block + 40) != 0)
    }
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
      let block = heap.address(row)..<(heap.address(row) + heap.nodes.size[row])
      #expect(objects.wordsInUse(of: row).allSatisfy { block.clamped(to: $0) == $0 })
    }
    for hidden in objects.hiddenReferences { #expect(hidden.to < heap.nodes.count) }
  }
}
