// Tests of WordResolver: which words without a type are believed.

import GraphPrimitives
import SnapshotFormat
import Testing

@testable import HeapCapture

@Suite struct WordResolverTests {
  /// A heap of blocks 256 bytes apart, a module's data below it and a stack above it.
  final class Heap {
    static let data: UInt64 = 0x10_0000
    static let blocks: UInt64 = 0x20_0000
    static let stack: UInt64 = 0x30_0000
    let source = FakeMemory(
      0x10_0000..<0x10_1000, 0x20_0000..<0x21_0000, 0x30_0000..<0x30_1000)
    let nodes = HeapNodes()
    var exact = EdgeTable()
    var ranges = UntypedRanges()
    var isString: [Bool] = []

    func address(_ row: Int) -> UInt64 { Self.blocks + UInt64(row) * 256 }

    /// Adds a block; `strong` is nil for one without a count.
    @discardableResult
    func add(_ kind: NodeKind, strong: Int?, untyped: Bool = false, isString: Bool = false) -> Int {
      let row = nodes.count
      nodes.append(
        HeapBlock(
          address: address(row), size: 64))
      nodes.kind[row] = kind
      nodes.strong[row] = strong.map(Int32.init) ?? HeapNodes.uncounted
      if untyped {
        ranges.append(row: row, range: address(row)..<(address(row) + 64), label: .none)
      }
      self.isString.append(isString)
      return row
    }

    func hold(_ from: Int, _ to: Int) {
      exact.append(from: from, to: to, label: .none, info: EdgeInfo(.strong, .reflected))
      nodes.explained[to] += 1
    }

    func resolve(
      isAllocators: Bool = false, childTasks: [UInt64: Int] = [:],
      frameStarts: [Int: UInt64] = [:],
      contexts: [[Int]: Int] = [:],
      _ body: (inout WordResolver) -> Void = { _ in }
    ) -> WordResolver {
      nodes.buildIndex()
      var resolver = WordResolver(
        memory: TargetMemory(source), nodes: nodes,
        exactEdges: [EdgeRows(exact, nodeCount: nodes.count)], ranges: ranges,
        isStringStorage: isString, labelOfWord: { _, _ in .none },
        parentOfChildTask: { childTasks[$0] }, frameStart: { frameStarts[$0] },
        taskOfContext: { contexts[[$0, Int($1), $2]] })
      resolver.resolveCaptures()
      resolver.scanRoots(
        Self.data..<(Self.data + 0x1000), kind: .global, isAllocators: isAllocators)
      resolver.propagate()
      body(&resolver)
      resolver.scanRoots(Self.stack..<(Self.stack + 0x1000), kind: .stack)
      resolver.propagate()
      resolver.resolveUnreached()
      return resolver
    }
  }

  @Test("A global holds an object that has a retain to explain")
  func globalHolds() {
    let heap = Heap()
    let object = heap.add(.object, strong: 1)
    heap.source.set(Heap.data + 16, heap.address(object))
    let resolver = heap.resolve()
    #expect(resolver.isReached[object])
    #expect(resolver.roots.map(\.address) == [Heap.data + 16])
  }

  @Test("A stale word does not hold a leaked cycle, whose counts explain themselves")
  func staleWord() {
    let heap = Heap()
    let first = heap.add(.object, strong: 1)
    let second = heap.add(.object, strong: 1)
    heap.hold(first, second)
    heap.hold(second, first)
    heap.source.set(Heap.stack + 8, heap.address(first))
    heap.source.set(Heap.data + 8, heap.address(second))
    let resolver = heap.resolve()
    #expect(!resolver.isReached[first] && !resolver.isReached[second])
    #expect(resolver.staleWordCount == 2)
    #expect(resolver.roots.isEmpty)
  }

  @Test("Two words hold an object with one retain to explain only once")
  func oneRetainOneHolder() {
    let heap = Heap()
    let object = heap.add(.object, strong: 1)
    heap.source.set(Heap.data + 8, heap.address(object))
    heap.source.set(Heap.stack + 8, heap.address(object))
    let resolver = heap.resolve()
    #expect(resolver.roots.map(\.kind) == [.global])
    #expect(resolver.staleWordCount == 1)
  }

  @Test("An object with more typed references than its count allows believes every word")
  func overCounted() {
    let heap = Heap()
    let owner = heap.add(.object, strong: 1)
    let object = heap.add(.object, strong: 1)
    heap.hold(owner, object)
    heap.hold(owner, object)
    heap.source.set(Heap.data + 8, heap.address(object))
    let resolver = heap.resolve()
    #expect(resolver.isReached[object])
  }

  @Test(
    "Enum bits in a pointer do not hide it",
    arguments: [0x8000_0000_0000_0000, 5, 0x4000_0000_0000_0001] as [UInt64])
  func spareBits(bits: UInt64) {
    let heap = Heap()
    let object = heap.add(.object, strong: 1)
    heap.source.set(Heap.data + 8, heap.address(object) | bits)
    #expect(heap.resolve().isReached[object])
  }

  @Test("A pointer into a block holds it, one into a counted object does not")
  func interiorPointers() {
    let heap = Heap()
    let block = heap.add(.block, strong: nil)
    let object = heap.add(.object, strong: 1)
    heap.source.set(Heap.data + 8, heap.address(block) + 40)
    heap.source.set(Heap.data + 16, heap.address(object) + 40)
    let resolver = heap.resolve()
    #expect(resolver.isReached[block])
    #expect(!resolver.isReached[object])
  }

  @Test("The allocator's word for the free chunk behind a block does not hold the block")
  func chunkHeaders() {
    let heap = Heap()
    let before = heap.add(.block, strong: nil)
    let held = heap.add(.block, strong: nil)
    for row in [before, held] { heap.nodes.size[row] = 40 }
    // A block of 40 bytes has a chunk of 48, whose header lies 16 bytes before it.
    heap.source.set(Heap.data + 8, heap.address(before) + 32)
    heap.source.set(Heap.data + 16, heap.address(held) + 24)
    let asData = heap.resolve()
    #expect(asData.isReached[before] && asData.isReached[held])
    let asAllocators = heap.resolve(isAllocators: true)
    #expect(!asAllocators.isReached[before])
    #expect(asAllocators.isReached[held])
  }

  /// The memory of a task's own frame has the words of whoever had it before, of an older task's, say.
  @Test(
    "An old word in a task's own frame doesn't take what another task's closure holds",
    arguments: [true, false])
  func ownFrame(isReached: Bool) {
    let heap = Heap()
    let tasks = (0..<2).map { _ in heap.add(.task, strong: 1, untyped: true) }
    let contexts = [heap.add(.closureContext, strong: 1), heap.add(.closureContext, strong: 1)]
    let own = heap.add(.object, strong: 1)
    for (number, task) in tasks.enumerated() {
      heap.source.set(heap.address(task) + 16, heap.address(contexts[number]))
      // Each has what is the other's in its frame.
      heap.source.set(heap.address(task) + 32, heap.address(contexts[1 - number]))
      if isReached {
        heap.source.set(Heap.data + 16 + UInt64(number) * 8, heap.address(task))
      }
    }
    heap.source.set(heap.address(tasks[1]) + 40, heap.address(own))
    let resolver = heap.resolve(
      frameStarts: [
        tasks[0]: heap.address(tasks[0]) + 24, tasks[1]: heap.address(tasks[1]) + 24,
      ])
    func holders(of row: Int) -> [Int] {
      (0..<resolver.edges.count).filter { Int(resolver.edges.to[$0]) == row }
        .map { Int(resolver.edges.from[$0]) }
    }
    #expect(holders(of: contexts[0]) == [tasks[0]])
    #expect(holders(of: contexts[1]) == [tasks[1]])
    #expect(holders(of: own) == [tasks[1]])
    #expect(resolver.isReached[own] == isReached)
  }

  @Test(
    "The context of a timer that leads into a task's slab holds the task, another place of the block nothing"
  )
  func contextInSlab() {
    for place in [32, 40] as [UInt64] {
      let heap = Heap()
      let timer = heap.add(.cStorage, strong: nil, untyped: true)
      let task = heap.add(.task, strong: 1)
      let slab = heap.add(.taskSlab, strong: nil)
      heap.source.set(Heap.data + 16, heap.address(timer))
      heap.source.set(heap.address(timer) + place, heap.address(slab) + 48)
      let resolver = heap.resolve(contexts: [[timer, 32, slab]: task])
      #expect(resolver.isReached[task] == (place == 32))
    }
  }

  /// The runtime has retained the context until the task is complete; what had the block before left its word.
  @Test(
    "A leaked task holds its closure before an old word in C memory does, which holds what is left over",
    arguments: [1, 2])
  func closureBeforeMemory(retains: Int) {
    let heap = Heap()
    let block = heap.add(.block, strong: nil, untyped: true)
    let task = heap.add(.task, strong: 1, untyped: true)
    let context = heap.add(.closureContext, strong: retains, untyped: true)
    let owner = heap.add(.object, strong: 1)
    heap.hold(owner, task)
    heap.source.set(Heap.data + 8, heap.address(block))
    heap.source.set(heap.address(block) + 56, heap.address(context))
    heap.source.set(heap.address(task) + 32, heap.address(context))
    heap.source.set(heap.address(context) + 16, heap.address(owner))
    let resolver = heap.resolve(frameStarts: [task: heap.address(task) + 40])
    for row in [task, context, owner] { #expect(resolver.isReached[row] == (retains == 2)) }
    let holders = resolver.edges.to.indices.filter { resolver.edges.to[$0] == UInt32(context) }
      .map { Int(resolver.edges.from[$0]) }
    #expect(holders == (retains == 2 ? [task, block] : [task]))
    #expect(heap.nodes.explained[context] == Int32(retains))
  }

  @Test("A stack's word into a task's slab holds nothing, unless a child task begins there")
  func slabs() {
    for (open, holds) in [(1, true), (0, false)] {
      let heap = Heap()
      let task = heap.add(.task, strong: open)
      let slab = heap.add(.taskSlab, strong: nil)
      heap.exact.append(from: task, to: slab, label: .none, info: EdgeInfo(.strong, .reflected))
      heap.source.set(Heap.stack + 8, heap.address(slab) + 24)
      #expect(!heap.resolve().isReached[slab])
      heap.source.set(Heap.stack + 16, heap.address(slab) + 40)
      let withChild = heap.resolve(childTasks: [heap.address(slab) + 40: task])
      #expect(withChild.isReached[task] == holds)
      #expect(withChild.isReached[slab] == holds)
      #expect(withChild.roots.map(\.address) == (holds ? [Heap.stack + 16] : []))
    }
  }

  @Test("Nor does a word of C memory, where old words of what had the memory before are frequent")
  func slabsFromMemory() {
    for (open, holds) in [(1, true), (0, false)] {
      let heap = Heap()
      let block = heap.add(.block, strong: nil, untyped: true)
      let task = heap.add(.task, strong: open)
      let slab = heap.add(.taskSlab, strong: nil)
      heap.exact.append(from: task, to: slab, label: .none, info: EdgeInfo(.strong, .reflected))
      heap.source.set(Heap.data, heap.address(block))
      heap.source.set(heap.address(block) + 8, heap.address(slab) + 24)
      #expect(!heap.resolve().isReached[slab])
      heap.source.set(heap.address(block) + 16, heap.address(slab) + 40)
      let withChild = heap.resolve(childTasks: [heap.address(slab) + 40: task])
      #expect(withChild.isReached[slab] == holds)
      #expect(withChild.edges.to == (holds ? [UInt32(task)] : []))
    }
  }

  @Test(
    "What a task's closure captured is held by the task's own frames, not by old words in another's",
    arguments: [false, true])
  func framesOfOthers(isReached: Bool) {
    let heap = Heap()
    var slabs: [Int] = []
    var models: [Int] = []
    var tasks: [Int] = []
    for _ in 1...3 {
      let task = heap.add(.task, strong: 1, untyped: true)
      let closure = heap.add(.closureContext, strong: 1, untyped: true)
      // The closure's reference and the frame's.
      let model = heap.add(.object, strong: 2)
      let first = heap.add(.taskSlab, strong: nil, untyped: true)
      let second = heap.add(.taskSlab, strong: nil, untyped: true)
      heap.source.set(heap.address(task) + 16, heap.address(first))
      heap.source.set(heap.address(task) + 24, heap.address(closure))
      heap.source.set(heap.address(closure) + 16, heap.address(model))
      heap.source.set(heap.address(first) + 8, heap.address(second))
      heap.source.set(heap.address(second) + 56, heap.address(model))
      slabs += [first, second]
      models.append(model)
      tasks.append(task)
    }
    for (number, slab) in slabs.enumerated() {
      for (place, model) in models.enumerated() where model != models[number / 2] {
        heap.source.set(heap.address(slab) + 16 + UInt64(place) * 8, heap.address(model))
      }
    }
    if isReached {
      for (number, task) in tasks.enumerated() {
        heap.source.set(Heap.data + UInt64(number) * 8, heap.address(task))
      }
    }
    let resolver = heap.resolve()
    for (number, model) in models.enumerated() {
      let holders = resolver.edges.to.indices.filter { resolver.edges.to[$0] == UInt32(model) }
        .map { Int(resolver.edges.from[$0]) }
      #expect(Set(holders) == [tasks[number] + 1, slabs[2 * number + 1]])
      #expect(resolver.isReached[model] == isReached)
    }
  }

  @Test("A string's word points before its storage, with its discriminator on top")
  func strings() {
    let heap = Heap()
    let storage = heap.add(.storage, strong: 1, isString: true)
    heap.source.set(Heap.data + 8, (heap.address(storage) - 32) | 0x8000_0000_0000_0000)
    #expect(heap.resolve().isReached[storage])
  }

  @Test("A word that points to a side table is a weak reference, as often as the object counts")
  func sideTable() {
    let heap = Heap()
    let object = heap.add(.object, strong: 1)
    let table = heap.add(.sideTable, strong: nil)
    let token = heap.add(.box, strong: 1, untyped: true)
    heap.nodes.sideTable[object] = heap.address(table)
    heap.nodes.weak[object] = 2
    heap.source.set(heap.address(token) + 24, heap.address(table))
    heap.source.set(heap.address(token) + 32, heap.address(table))
    heap.source.set(Heap.data, heap.address(token))
    heap.source.set(Heap.data + 8, heap.address(table))
    heap.source.set(Heap.stack, heap.address(table))
    let resolver = heap.resolve()
    #expect(!resolver.isReached[object] && !resolver.isReached[table])
    #expect(resolver.edges.from.map(Int.init) == [token, token])
    #expect(resolver.edges.to.map(Int.init) == [object, object])
    #expect(resolver.edges.info.allSatisfy { $0.strength == .weak })
    // The object counts two; of the global's word nothing is left to say.
    #expect(resolver.roots.map(\.target) == [token])
  }

  @Test("A word that points to the side table of an object that is gone holds the table")
  func leftSideTable() {
    let heap = Heap()
    let table = heap.add(.sideTable, strong: nil)
    let token = heap.add(.box, strong: 1, untyped: true)
    heap.source.set(heap.address(token) + 24, heap.address(table))
    heap.source.set(Heap.data, heap.address(token))
    let resolver = heap.resolve()
    #expect(resolver.isReached[table])
    #expect(resolver.edges.to.map(Int.init) == [table])
    #expect(resolver.edges.info.allSatisfy { $0.strength == .strong })
  }

  @Test("A global that points to a side table refers weakly to the object")
  func weakGlobal() {
    let heap = Heap()
    let object = heap.add(.object, strong: 1)
    let table = heap.add(.sideTable, strong: nil)
    heap.nodes.sideTable[object] = heap.address(table)
    heap.nodes.weak[object] = 1
    heap.source.set(Heap.data, heap.address(table))
    let resolver = heap.resolve()
    #expect(resolver.roots.map(\.target) == [object])
    #expect(resolver.roots.map(\.strength) == [.weak])
    #expect(!resolver.isReached[object])
  }

  @Test("A root without a word takes a retain that is left to explain, and no other")
  func countedRoot() {
    let heap = Heap()
    let executor = heap.add(.object, strong: 2)
    let other = heap.add(.object, strong: 1)
    for row in [executor, other] {
      heap.source.set(Heap.data + 8 * UInt64(row), heap.address(row))
    }
    let resolver = heap.resolve { resolver in
      for row in [executor, other] {
        resolver.addCountedRoot(.runtime, to: row, label: .none)
      }
    }
    #expect(resolver.roots.filter { $0.kind == .runtime }.map(\.target) == [executor])
    #expect(heap.nodes.explained == [2, 1])
  }

  @Test("Words of a reached block come before those of a stack")
  func heapBeforeStack() {
    let heap = Heap()
    let block = heap.add(.block, strong: nil, untyped: true)
    let object = heap.add(.object, strong: 1)
    heap.source.set(Heap.data + 8, heap.address(block))
    heap.source.set(heap.address(block) + 24, heap.address(object))
    heap.source.set(Heap.stack + 8, heap.address(object))
    let resolver = heap.resolve()
    #expect(resolver.roots.count == 1)
    #expect(resolver.edges.from == [UInt32(block)] && resolver.edges.to == [UInt32(object)])
  }

  @Test("A capture is believed before a stale word, reachable or not")
  func capturesComeFirst() {
    let heap = Heap()
    let context = heap.add(.cBlock, strong: nil, untyped: true)
    let object = heap.add(.object, strong: 1)
    heap.hold(object, context)
    heap.source.set(heap.address(context) + 32, heap.address(object))
    heap.source.set(Heap.stack + 8, heap.address(object))
    let resolver = heap.resolve()
    #expect(!resolver.isReached[object] && !resolver.isReached[context])
    #expect(resolver.edges.count == 1)
  }

  @Test("What a capture holds is reached once its block is")
  func captureReachedLater() {
    let heap = Heap()
    let owner = heap.add(.object, strong: 1)
    let context = heap.add(.cBlock, strong: nil, untyped: true)
    let object = heap.add(.object, strong: 1)
    heap.hold(owner, context)
    heap.source.set(heap.address(context) + 32, heap.address(object))
    heap.source.set(Heap.stack + 8, heap.address(owner))
    #expect(heap.resolve().isReached[object])
  }

  @Test("The words of a destroyed object hold nothing")
  func zombies() {
    let heap = Heap()
    let zombie = heap.add(.object, strong: 0, untyped: true)
    heap.nodes.state[zombie] = .deinited
    let object = heap.add(.object, strong: 1)
    heap.source.set(heap.address(zombie) + 16, heap.address(object))
    #expect(heap.resolve().edges.count == 0)
  }
}

@Suite struct HeapNodesTests {
  @Test(
    "Every block is found by its start and by each of its bytes", arguments: 0..<50 as Range<UInt64>
  )
  func lookUp(seed: UInt64) {
    var random = SplitMix(seed)
    let nodes = HeapNodes()
    var address: UInt64 = 0x7000_0000
    var blocks: [(UInt64, UInt64)] = []
    for _ in 0..<300 {
      address += random.next() % 8 == 0 ? random.next() % 100_000 & ~15 : 0
      let size = random.next() % 16 == 0 ? random.next() % 20_000 : random.next() % 200
      blocks.append((address, size))
      nodes.append(
        HeapBlock(address: address, size: size))
      address += (size + 8 + 15) & ~15
    }
    nodes.buildIndex()
    for _ in 0..<2000 {
      let (start, size) = blocks[Int(random.next() % 300)]
      let probe = start &+ random.next() % (size + 40) &- 20
      let exact = blocks.firstIndex { $0.0 == probe }
      let containing = blocks.firstIndex { $0.0 <= probe && probe < $0.0 + max($0.1, 1) }
      #expect(nodes.row(startingAt: probe) == exact, "seed \(seed), probe \(probe)")
      #expect(nodes.row(containing: probe) == containing, "seed \(seed), probe \(probe)")
    }
  }
}

/// A small seeded generator (SplitMix64).
struct SplitMix: RandomNumberGenerator {
  private var _state: UInt64
  init(_ seed: UInt64) { _state = seed }
  mutating func next() -> UInt64 {
    _state &+= 0x9e37_79b9_7f4a_7c15
    var z = _state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
