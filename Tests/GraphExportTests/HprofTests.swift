// Tests of heap dumps of Java: taken apart by a reader of their own, every object and every reference that holds is there.

import GraphAnalysis
import GraphPrimitives
import GraphReport
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Symbolication
import Testing

@testable import GraphExport

/// A heap dump as its readers have it.
private struct HprofFile {
  struct Class {
    var name = ""
    var superclass: UInt64 = 0
    var size: UInt32 = 0
    var statics: [(name: String, target: UInt64)] = []
    var fields: [(name: String, kind: UInt8)] = []
  }

  struct Object {
    var type: UInt64
    var stack: UInt32
    var size: UInt64?

    /// Fields, or elements by their index.
    var references: [(name: String, target: UInt64)] = []
  }

  struct Malformed: Error { var place: Int }

  private(set) var classes: [UInt64: Class] = [:]
  private(set) var objects: [UInt64: Object] = [:]
  private(set) var roots: Set<UInt64> = []
  private(set) var stacks: [UInt32: [String]] = [:]
  private var _bytes: ArraySlice<UInt8>
  private var _texts: [UInt64: String] = [:]

  init(_ bytes: [UInt8]) throws {
    _bytes = bytes[...]
    let head = Array("JAVA PROFILE 1.0.2".utf8) + [0]
    guard take(head.count).elementsEqual(head), number(4) == 8, number(8) == 0 else {
      throw Malformed(place: 0)
    }
    var records: [(tag: UInt64, body: ArraySlice<UInt8>)] = []
    while !_bytes.isEmpty {
      let tag = number(1)
      guard number(4) == 0 else { throw Malformed(place: _bytes.startIndex) }
      let size = Int(number(4))
      guard _bytes.count >= size else { throw Malformed(place: _bytes.startIndex) }
      records.append((tag, take(size)))
    }
    guard records.last?.tag == 0x2C, records.last?.body.isEmpty == true else {
      throw Malformed(place: bytes.count)
    }
    for (tag, body) in records where tag == 0x01 {
      _bytes = body
      let id = number(8)
      guard _texts.updateValue(String(decoding: _bytes, as: UTF8.self), forKey: id) == nil else {
        throw Malformed(place: body.startIndex)
      }
    }
    var frames: [UInt64: String] = [:]
    var pieces: [ArraySlice<UInt8>] = []
    for (tag, body) in records {
      _bytes = body
      switch tag {
      case 0x01, 0x2C: continue
      case 0x02:
        guard number(4) > 0 else { throw Malformed(place: body.startIndex) }
        let id = number(8)
        _ = number(4)
        classes[id] = Class(name: try text())
      case 0x04:
        let id = number(8)
        frames[id] = try text()
        _ = (try text(), try text(), number(4), number(4))
      case 0x05:
        let serial = UInt32(number(4))
        _ = number(4)
        stacks[serial] = try (0..<number(4)).map { _ in
          guard let frame = frames[number(8)] else { throw Malformed(place: body.startIndex) }
          return frame
        }
      case 0x1C:
        pieces.append(body)
        continue
      default: throw Malformed(place: body.startIndex)
      }
      guard _bytes.isEmpty else { throw Malformed(place: body.startIndex) }
    }
    for piece in pieces {
      _bytes = piece
      while !_bytes.isEmpty { try readPart() }
    }
  }

  private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
    defer { _bytes = _bytes.dropFirst(count) }
    return _bytes.prefix(count)
  }

  private mutating func number(_ size: Int) -> UInt64 {
    take(size).reduce(0) { $0 << 8 | UInt64($1) }
  }

  private mutating func text() throws -> String {
    guard let text = _texts[number(8)] else { throw Malformed(place: _bytes.startIndex) }
    return text
  }

  private mutating func readPart() throws {
    switch number(1) {
    case 0x05: roots.insert(number(8))
    case 0x20:
      let id = number(8)
      guard var type = classes[id], stacks[UInt32(number(4))] != nil else {
        throw Malformed(place: _bytes.startIndex)
      }
      type.superclass = number(8)
      guard (0..<5).allSatisfy({ _ in number(8) == 0 }) else {
        throw Malformed(place: _bytes.startIndex)
      }
      type.size = UInt32(number(4))
      guard number(2) == 0 else { throw Malformed(place: _bytes.startIndex) }
      for _ in 0..<number(2) {
        let name = try text()
        guard number(1) == 2 else { throw Malformed(place: _bytes.startIndex) }
        type.statics.append((name, number(8)))
      }
      for _ in 0..<number(2) { type.fields.append((try text(), UInt8(number(1)))) }
      classes[id] = type
    case 0x21:
      let id = number(8)
      var object = Object(type: 0, stack: UInt32(number(4)))
      object.type = number(8)
      let size = number(4)
      let end = _bytes.startIndex + Int(size)
      for field in classes[object.type]?.fields ?? [] {
        let value = number(8)
        if field.kind == 11 {
          object.size = value
        } else if value != 0 {
          object.references.append((field.name, value))
        }
      }
      guard _bytes.startIndex == end, objects.updateValue(object, forKey: id) == nil else {
        throw Malformed(place: _bytes.startIndex)
      }
    case 0x22:
      let id = number(8)
      var object = Object(type: 0, stack: UInt32(number(4)))
      let count = number(4)
      object.type = number(8)
      for index in 0..<count {
        let value = number(8)
        if value != 0 { object.references.append(("[\(index)]", value)) }
      }
      guard objects.updateValue(object, forKey: id) == nil else {
        throw Malformed(place: _bytes.startIndex)
      }
    default: throw Malformed(place: _bytes.startIndex)
    }
  }
}

@Suite struct HprofTests {
  private static func file(_ exported: ExportedSnapshot) throws -> HprofFile {
    try HprofFile(Shop.bytes(.hprof, of: [exported]).bytes)
  }

  @Test("Every object and every reference that holds is there", arguments: 0..<60)
  func whole(_ seed: Int) throws {
    let exported = try Shop.exported(
      RandomShop.make(seed: UInt64(seed) + 7_000, nodeCount: seed % 3 == 0 ? 200 : 30))
    let graph = exported.graph
    let file = try Self.file(exported)
    try #require(file.objects.count == graph.nodeCount)
    var sizes: [String: [UInt64]] = [:]
    for node in graph.nodes {
      let object = try #require(file.objects[exported.identity(of: node)])
      let type = try #require(file.classes[object.type])
      let name = exported.names.typeName(of: node)
      let isArray = type.name.hasPrefix("[L")
      #expect(type.name == (isArray ? "[L\(name);" : name))
      let bytes = graph.snapshot.nodes.bytes(node)
      #expect(object.size == (isArray ? nil : bytes))
      sizes[type.name, default: []].append(bytes)
      let held = graph.edges(of: node).filter { exported.holds(EdgeIndex($0), from: node) }
      #expect(
        object.references.map(\.target).sorted()
          == held.map { exported.identity(of: graph.target(of: EdgeIndex($0))) }.sorted())
      #expect(!isArray || graph.kind(of: node) == .storage)
      if !isArray {
        // The second one of a name has a number behind it.
        var names: [String] = []
        for edge in held {
          let text = exported.names.text(of: EdgeIndex(edge), from: node)
          names.append(ReferenceName(field: text.field, via: text.via).shown)
        }
        let found = object.references.map { $0.name.replacing(#/ #\d+$/#, with: "") }
        #expect(found.sorted() == names.sorted())
      }
      let frames = try #require(file.stacks[object.stack])
      let stack = exported.names.frames(of: graph.distinguishingStack(of: node))
      #expect(frames == stack.map { Names.sourceSpelling(of: $0.function) })
    }
    for type in file.classes.values {
      if let all = sizes[type.name] {
        #expect(UInt64(type.size) == all.reduce(0, +) / UInt64(all.count))
      }
      #expect(type.superclass != 0 || type.name == "java.lang.Object")
    }
    // From the roots on just what the analysis calls reachable is reached.
    var pending: [UInt64] = []
    for root in file.roots {
      pending += try #require(file.classes[root]).statics.map(\.target)
    }
    var seen = Set(pending)
    while let id = pending.popLast() {
      for reference in try #require(file.objects[id]).references
      where seen.insert(reference.target).inserted {
        pending.append(reference.target)
      }
    }
    #expect(
      seen
        == Set(
          graph.nodes.filter { graph.isReachable[$0.position] }.map { exported.identity(of: $0) }))
  }

  @Test("An object has one number in all dumps of its run")
  func numbers() throws {
    let dumps = try Shop.marks().map { try Self.file($0) }
    let shared = Set(dumps[0].objects.keys).intersection(dumps[1].objects.keys)
    #expect(shared.count == 9)
    for id in shared {
      let types = dumps.map { $0.classes[$0.objects[id]?.type ?? 0]?.name ?? "?" }
      #expect(types[0] == types[1])
    }
  }

  @Test("Roots keep their names as static fields, odd names are kept, elements have their index")
  func names() throws {
    let file = try Self.file(Shop.marks()[1])
    let globals = try #require(file.classes.values.first { $0.name == "(global variables)" })
    #expect(globals.statics.map(\.name) == ["static App.Hub.shared"])
    #expect(file.classes.values.contains { $0.name == "odd\n\"one\", really" })
    let listeners = try #require(
      file.classes.first {
        $0.value.name.hasPrefix("[L") && $0.value.name.contains("App.Listener")
      })
    let storage = try #require(file.objects.values.first { $0.type == listeners.key })
    #expect(storage.references.map(\.name) == ["[0]", "[1]", "[2]"])
  }

  @Test("Elements far apart follow each other, and what is more than an index has only a place")
  func elements() throws {
    var heap = SnapshotDSL()
    let sparse = heap.storage("Swift._ContiguousArrayStorage<App.A>", bytes: 128)
    let pairs = heap.storage("Swift._ContiguousArrayStorage<App.B>", bytes: 128)
    heap.root(.global, address: 0x5000, to: sparse)
    heap.root(.global, address: 0x5008, to: pairs)
    let target = heap.object("App.A", bytes: 32)
    for label in ["[3]", "[4000000]", "[5]"] { heap.edge(sparse, label, to: target) }
    for label in ["[0].key", "[0].value"] { heap.edge(pairs, label, to: target) }
    let exported = try Shop.exported(heap.snapshot())
    let file = try Self.file(exported)
    let arrays = file.objects.values.filter { $0.size == nil }
    #expect(
      Set(arrays.map { $0.references.map(\.name) })
        == [["[3]", "[4]", "[5]"], ["[0]", "[1]"]])
    let notes = try Shop.bytes(.hprof, of: [exported]).notes
    #expect(notes.contains { $0.contains("4 references of collections") })
  }

  @Test("Objects with more fields than a class may have become arrays, and lose none")
  func manyFields() throws {
    var heap = SnapshotDSL()
    let wide = heap.object("App.Wide", bytes: 8_000)
    let narrow = heap.object("App.Wide", bytes: 8_000)
    heap.root(.global, address: 0x5000, to: wide)
    let target = heap.object("App.Target", bytes: 16)
    for field in 0...HprofExport.mostFields { heap.edge(wide, "field\(field)", to: target) }
    heap.edge(narrow, "other", to: target)
    // The same name many times over is a field each, too.
    let twice = heap.object("App.Twice", bytes: 64)
    for _ in 0..<HprofExport.mostFields { heap.edge(twice, "child", to: target) }
    let exported = try Shop.exported(heap.snapshot())
    let file = try Self.file(exported)
    func object(_ name: String) throws -> [HprofFile.Object] {
      let type = try #require(file.classes.first { $0.value.name == name })
      return file.objects.values.filter { $0.type == type.key }
    }
    #expect(
      try object("[LApp.Wide;").map(\.references.count).sorted() == [1, HprofExport.mostFields + 1])
    let children = try #require(try object("App.Twice").first)
    #expect(children.references.map(\.name).prefix(3) == ["child", "child #2", "child #3"])
    #expect(children.references.count == HprofExport.mostFields)
  }

  @Test("A class has no more roots than a count of two bytes, and all of them are there")
  func manyRoots() throws {
    var heap = SnapshotDSL()
    let target = heap.object("App.Target", bytes: 16)
    for place in 0..<UInt64(70_000) { heap.root(.global, address: 0x5000 + place * 8, to: target) }
    let file = try Self.file(try Shop.exported(heap.snapshot()))
    let counts = file.roots.compactMap { file.classes[$0]?.statics.count }.sorted()
    #expect(counts == [70_000 - 65_535, 65_535])
  }
}
