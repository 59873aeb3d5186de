// Tests of the layouts: known shapes in this process, and what the catalog finds in them.

import Glibc
import GraphPrimitives
import SnapshotFormat
import Synchronization
import Testing

@testable import HeapCapture

private final class Leaf: @unchecked Sendable { var value = 5 }
private protocol Delegate: AnyObject {}
private protocol Shape {}
extension Leaf: Delegate {}
private struct Small: Shape { var leaf: Leaf, text: String }
private struct Large: Shape { var first: Leaf, number: Int, second: Leaf, third: Leaf }

private class Base { var base: Leaf?, number = 1 }
private final class Strengths: Base {
  let strong: Leaf
  weak var weakly: Leaf?
  unowned var safely: Leaf
  unowned(unsafe) var unsafely: Leaf
  var unmanaged: Unmanaged<Leaf>
  weak var delegate: (any Delegate)?
  unowned var owner: any Delegate
  lazy var render: Leaf = strong
  init(_ leaf: Leaf) {
    strong = leaf
    safely = leaf
    unsafely = leaf
    unmanaged = .passUnretained(leaf)
    owner = leaf
    super.init()
    base = leaf
    weakly = leaf
    delegate = leaf
  }
}

private final class Existentials {
  var bound: any Delegate
  var object: any Shape
  var boxed: any Shape
  var none: (any Shape)?
  var number: Any = 42
  var reference: Any
  var error: (any Error)?
  var metatype: any Shape.Type = Small.self
  init(_ leaf: Leaf) {
    bound = leaf
    object = Small(leaf: leaf, text: "x")
    boxed = Large(first: leaf, number: 1, second: leaf, third: leaf)
    reference = leaf
    error = Failure(leaf: leaf)
  }
}
private struct Failure: Error { var leaf: Leaf }

private final class Nested {
  struct Client { var retry: Retry }
  struct Retry { var handler: Leaf?, count = 3 }
  @Wrapped var clock: Leaf
  var client: Client
  var pair: (Leaf, named: Leaf)
  var both: (Leaf, Leaf)?
  init(_ leaf: Leaf) {
    _clock = Wrapped(registry: leaf)
    client = Client(retry: Retry(handler: leaf))
    pair = (leaf, leaf)
    both = (leaf, leaf)
  }
}
@propertyWrapper private struct Wrapped {
  var registry: Leaf
  var wrappedValue: Leaf { registry }
}

private final class Containers<Element> {
  var array: [Leaf]
  var elements: [Element]
  var table: [Int: Leaf]
  var keyed: [String: Element] = [:]
  var set: Set<ObjectIdentifier> = []
  var text: String
  var small = "small"
  var literal = "a literal that is too long to be small"
  init(_ leaf: Leaf, _ element: Element) {
    array = [leaf, leaf]
    elements = [element]
    table = [7: leaf]
    text = "not small, and made at run time: \(getpid())"
  }
}

private final class Closures {
  var direct: () -> Void
  var context: () -> Int
  var weakly: () -> Bool
  var none: (() -> Void)?
  var code: @convention(c) () -> Void = {}
  init(_ leaf: Leaf, _ number: Int) {
    direct = { leaf.value += 1 }
    context = { leaf.value + number }
    weakly = { [weak leaf] in leaf == nil }
  }
}

/// Captures first what the concurrency library lays out: the compiler doesn't know where the rest lies.
private final class Streaming {
  var handler: () -> Void
  var box: () -> Void
  init(_ leaf: Leaf, _ stream: AsyncStream<Leaf>) {
    handler = {
      withExtendedLifetime(stream) {}
      leaf.value += 1
    }
    box = { withExtendedLifetime(stream) {} }
  }
}

@Suite struct LayoutTests {
  @Test("Strong, weak, unowned and unmanaged references are told apart, superclass fields first")
  func strengths() throws {
    let leaf = Leaf()
    let object = Strengths(leaf)
    _ = object.render
    let target = try LayoutTarget()
    #expect(
      target.references(of: object) == [
        Found("base", leaf), Found("strong", leaf), Found("weakly", leaf, .weak),
        Found("safely", leaf, .unowned), Found("unsafely", leaf, .unmanaged),
        Found("unmanaged", leaf, .unmanaged), Found("delegate", leaf, .weak),
        Found("owner", leaf, .unowned), Found("render", leaf),
      ])
    #expect(target.words(of: object) == [FoundWords(label: "number", offset: 24, size: 8)])
    let type = try #require(target.type(of: object))
    #expect(type.name == "HeapCaptureTests.Strengths" && type.module == "HeapCaptureTests")
    #expect(type.kind == .object && type.isCounted)
    withExtendedLifetime((object, leaf)) {}
  }

  @Test("A weak reference whose object is gone leads nowhere")
  func destroyed() throws {
    let leaf = Leaf()
    let object = Strengths(leaf)
    #expect(try LayoutTarget().references(of: object).contains { $0.label == "weakly" })
    var other: Leaf? = Leaf()
    object.weakly = other
    other = nil
    let target = try LayoutTarget()
    #expect(!target.references(of: object).contains { $0.label == "weakly" })
    withExtendedLifetime((object, leaf)) {}
  }

  @Test("Existentials: class-bound, in place, boxed, errors, metatypes")
  func existentials() throws {
    let leaf = Leaf()
    let object = Existentials(leaf)
    let target = try LayoutTarget()
    let found = target.references(of: object)
    let boxes = found.filter { $0.target != address(of: leaf) }
    #expect(boxes.map(\.label) == ["boxed", "error"])
    #expect(
      found.filter { $0.target == address(of: leaf) } == [
        Found("bound", leaf), Found("object.leaf", leaf), Found("reference", leaf),
      ])
    try #require(boxes.count == 2)
    #expect(target.type(at: boxes[0].target)?.name == "box")
    #expect(
      target.references(at: boxes[0].target) == [
        Found("first", leaf), Found("second", leaf), Found("third", leaf),
      ])
    #expect(target.type(at: boxes[1].target)?.kind == .box)
    #expect(target.references(at: boxes[1].target) == [Found("leaf", leaf)])
    withExtendedLifetime((object, leaf)) {}
  }

  @Test("Paths go through structs, tuples and property wrappers")
  func nested() throws {
    let leaf = Leaf()
    let object = Nested(leaf)
    let target = try LayoutTarget()
    #expect(
      target.references(of: object) == [
        Found("_clock.registry", leaf), Found("client.retry.handler", leaf), Found("pair.0", leaf),
        Found("pair.named", leaf), Found("both.0", leaf), Found("both.1", leaf),
      ])
    object.both = nil
    let later = try LayoutTarget()
    #expect(!later.references(of: object).contains { $0.label.hasPrefix("both") })
    withExtendedLifetime((object, leaf)) {}
  }

  @Test("Containers hold storage, storage holds elements with their index")
  func containers() throws {
    let leaf = Leaf()
    let object = Containers(leaf, Small(leaf: leaf, text: "x"))
    object.keyed["a"] = Small(leaf: leaf, text: "y")
    let target = try LayoutTarget()
    // The storage of an empty set is a constant and no object of the heap.
    let found = target.references(of: object).filter { $0.label != "set" }
    #expect(found.map(\.label) == ["array", "elements", "table", "keyed", "text"])
    try #require(found.count == 5)
    #expect(target.type(of: object)?.name == "HeapCaptureTests.Containers<HeapCaptureTests.Small>")
    #expect(found.allSatisfy { target.type(at: $0.target)?.kind == .storage })
    #expect(
      target.references(at: found[0].target) == [Found("[0]", leaf), Found("[1]", leaf)])
    #expect(target.references(at: found[1].target) == [Found("[0].leaf", leaf)])
    #expect(target.references(at: found[2].target) == [Found("[_]", leaf)])
    #expect(target.references(at: found[3].target) == [Found("[_].leaf", leaf)])
    #expect(target.type(at: found[4].target)?.name == "Swift.__StringStorage")
    #expect(target.references(at: found[4].target).isEmpty)
    withExtendedLifetime((object, leaf)) {}
  }

  @Test("A closure of one object has no context; others name their captures")
  func closures() throws {
    let leaf = Leaf()
    let object = Closures(leaf, 7)
    let target = try LayoutTarget()
    let found = target.collect(address(of: object)).references
    try #require(found.count == 3)
    #expect(found.map { target.text(of: $0.label) } == ["direct", "context", "weakly"])
    #expect(found.allSatisfy { target.catalog.labels.row($0.label).function != 0 })
    #expect(found[0].target == address(of: leaf))
    #expect(target.type(at: found[1].target)?.kind == .closureContext)
    #expect(target.references(at: found[1].target) == [Found("[0].capture", leaf)])
    #expect(target.type(at: found[2].target)?.kind == .box)
    #expect(target.references(at: found[2].target) == [Found("value", leaf, .weak)])
    withExtendedLifetime((object, leaf)) {}
  }
}

private final class Watcher {
  weak var watched: Leaf?
  init(_ watched: Leaf) { self.watched = watched }
}

extension LayoutTests {
  @Test("A weak reference to an object that is gone leads to the side table that it was counted in")
  func leftSideTables() throws {
    let leaf = Leaf()
    let living = Watcher(leaf)
    func watchBriefly() -> Watcher {
      let leaf = Leaf()
      return Watcher(leaf)
    }
    let left = watchBriefly()
    let target = try LayoutTarget()
    #expect(target.references(of: living) == [Found("watched", leaf, .weak)])
    #expect(target.collect(address(of: living)).tables.isEmpty)
    #expect(target.references(of: left).isEmpty)
    let table = try #require(target.collect(address(of: left)).tables.first)
    #expect(target.memory.word(at: address(of: left) + 16) == table)
    withExtendedLifetime((leaf, living, left)) {}
  }
}

private final class Counts: ManagedBuffer<Leaf, Int> {}
private final class Bytes: ManagedBuffer<Leaf, UInt8> {}

extension LayoutTests {
  @Test("A closure whose first capture another library lays out is a counted closure all the same")
  func resilientCapture() throws {
    let leaf = Leaf()
    let object = Streaming(leaf, AsyncStream { $0.yield(leaf) })
    let target = try LayoutTarget()
    let closures = target.references(of: object)
    try #require(closures.map(\.label) == ["handler", "box"])
    for (closure, kind) in zip(closures, [NodeKind.closureContext, .box]) {
      let type = try #require(target.type(at: closure.target))
      #expect(type.kind == kind && type.isCounted)
      let untyped = target.collect(closure.target).words
      #expect(untyped.first?.range.lowerBound == closure.target + 16)
    }
    withExtendedLifetime((object, leaf)) {}
  }

  @Test("A managed buffer's header is typed; its elements are words where they may be addresses")
  func managedBuffers() throws {
    let leaf = Leaf()
    let counts = Counts.create(minimumCapacity: 4) { _ in leaf }
    let bytes = Bytes.create(minimumCapacity: 40) { _ in leaf }
    let target = try LayoutTarget()
    #expect(target.references(of: counts) == [Found("header", leaf)])
    #expect(target.words(of: counts).first?.offset == 24)
    #expect(target.references(of: bytes) == [Found("header", leaf)])
    #expect(target.words(of: bytes).isEmpty)
    withExtendedLifetime((counts, bytes, leaf)) {}
  }
}

private final class Locked {
  let first = Mutex<[Leaf]>([])
  let flag = Atomic<Bool>(false)
  let second: Mutex<(Leaf, number: Int)?>
  let lazy = AtomicLazyReference<Leaf>()
  var inPlace: [2 of Leaf]
  var last: Leaf
  init(_ leaf: Leaf) {
    second = Mutex((leaf, 7))
    inPlace = [leaf, leaf]
    last = leaf
    first.withLock { $0.append(leaf) }
    _ = lazy.storeIfNil(leaf)
  }
}

extension LayoutTests {
  @Test("Values behind a lock or in an array in place are found, and the fields after them")
  func locks() throws {
    let leaf = Leaf()
    let object = Locked(leaf)
    let target = try LayoutTarget()
    let found = target.references(of: object)
    #expect(
      found.filter { $0.label != "first" } == [
        Found("second.0", leaf), Found("lazy", leaf), Found("inPlace[0]", leaf),
        Found("inPlace[1]", leaf), Found("last", leaf),
      ])
    let storage = try #require(found.first { $0.label == "first" })
    #expect(target.references(at: storage.target) == [Found("[0]", leaf)])
    withExtendedLifetime((object, leaf)) {}
  }
}

private actor Worker {
  let leaf: Leaf
  var count = 0
  init(_ leaf: Leaf) { self.leaf = leaf }
}

private final class Generic<Value> {
  var calls: [(Value) -> Void] = []
  func add(_ value: Value, _ other: some Sendable) { calls.append { _ = ($0, value, other) } }
}

extension LayoutTests {
  @Test("An actor's fields are found behind its queue, whose words are untyped")
  func actors() throws {
    let leaf = Leaf()
    let object = Worker(leaf)
    let target = try LayoutTarget()
    #expect(target.references(of: object) == [Found("leaf", leaf)])
    #expect(target.words(of: object).map(\.label) == ["queue", "count"])
    withExtendedLifetime((object, leaf)) {}
  }

  @Test("A generic closure's captures depend on what its context says of its arguments")
  func genericClosures() throws {
    let leaf = Leaf()
    let first = Generic<Small>()
    first.add(Small(leaf: leaf, text: "x"), leaf)
    first.add(Small(leaf: leaf, text: "x"), 5)
    let second = Generic<Leaf>()
    second.add(leaf, leaf)
    let target = try LayoutTarget()
    func captures(_ object: AnyObject) throws -> [[String]] {
      let storage = try #require(target.references(of: object).first)
      return target.references(at: storage.target).map { closure in
        target.references(at: closure.target).filter { $0.target == address(of: leaf) }.map(\.label)
      }
    }
    #expect(
      try captures(first) == [["[0].capture.leaf", "[1].capture"], ["[0].capture.leaf"]])
    #expect(try captures(second) == [["[0].capture", "[1].capture"]])
    withExtendedLifetime((first, second, leaf)) {}
  }

  @Test("A deque's elements have their index, wherever its first slot is")
  func deques() throws {
    let leaf = Leaf()
    let (stream, continuation) = AsyncStream<Leaf>.makeStream()
    for _ in 0..<3 { continuation.yield(leaf) }
    let target = try LayoutTarget()
    // From the stream's storage to the deque's buffer.
    let storage = withUnsafeBytes(of: continuation) { $0.load(as: UInt64.self) }
    let buffers = target.references(at: storage).filter {
      target.type(at: $0.target)?.name.contains("_DequeBuffer<") == true
    }
    let found = buffers.flatMap { target.references(at: $0.target) }.filter {
      $0.target == address(of: leaf)
    }
    #expect(found.map(\.label) == ["[0]", "[1]", "[2]"])
    withExtendedLifetime((stream, continuation, leaf)) {}
  }

  @Test("A string's table of UTF-16 offsets is found behind its bytes")
  func breadcrumbs() throws {
    final class Text {
      var text = String(repeating: "é", count: 500)
    }
    let object = Text()
    _ = object.text.utf16.index(object.text.utf16.startIndex, offsetBy: 300)
    let target = try LayoutTarget()
    let storage = try #require(target.references(of: object).first)
    let found = target.references(at: storage.target)
    #expect(found.map(\.label) == ["breadcrumbs"])
    #expect(found.first.flatMap { target.type(at: $0.target) }?.name == "Swift._StringBreadcrumbs")
    withExtendedLifetime(object) {}
  }
}

extension LayoutTests {
  @Test("Elements past the bytes that were asked for are found: arrays use what the allocator gave")
  func slack() throws {
    let leaf = Leaf()
    final class Keeper {
      var arrays: [[Leaf]] = []
    }
    let object = Keeper()
    for count in 1...12 {
      var array = [leaf]
      array.reserveCapacity(count)
      while array.count < array.capacity { array.append(leaf) }
      object.arrays.append(array)
    }
    let target = try LayoutTarget()
    let outer = try #require(target.references(of: object).first)
    for (array, storage) in zip(object.arrays, target.references(at: outer.target)) {
      // Eight bytes less than the elements take is the least that can have been asked for.
      let collector = target.collect(storage.target, size: 32 + 8 * array.count - 8)
      #expect(collector.references.count == array.count)
    }
    withExtendedLifetime((object, leaf)) {}
  }
}
