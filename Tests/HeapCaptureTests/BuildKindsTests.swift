// Tests of capture from outside for programs built in other ways: with a static runtime, optimized,
// stripped, without reflection metadata. Each works, or says what is missing.

import Glibc
import SnapshotFormat
import Testing

@testable import HeapCapture

@Suite(.serialized) struct BuildKindsTests {
  struct Kind: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var options: [String]
    var isStripped = false

    /// What `memgraph leaks` says of the program, and with its debug file.
    var expected: [String]
    var expectedWithSymbols: [String] = []

    /// What the snapshot says is missing.
    var missing: String?
  }

  static let kinds = [
    Kind(
      testDescription: "-static-stdlib", options: ["-static-stdlib", "-g"],
      expected: ["Kinds.Node.next", "Kinds.Node.onChange", "closure #1 in Kinds.fill()"]),
    Kind(
      testDescription: "-O without debug information", options: ["-O"],
      expected: ["Kinds.Node.next", "Kinds.Node.onChange", "closure #1 in Kinds.fill()"]),
    Kind(
      testDescription: "stripped, with a debug file", options: ["-O", "-g"], isStripped: true,
      expected: [
        "Kinds.Node.next", "Kinds.Node.onChange",
        "the file has no symbols; give --symbols or don't strip it",
      ],
      expectedWithSymbols: ["closure #1 in Kinds.fill()"]),
    Kind(
      testDescription: "without reflection metadata",
      options: ["-O", "-Xfrontend", "-disable-reflection-metadata"],
      expected: ["Kinds.Node", "[unsure]", "The capture had"],
      missing: "Kinds has no reflection metadata"),
  ]

  static let source = """
    import Glibc
    final class Node {
      var next: Node?
      var onChange: (() -> Void)?
      let name: String
      init(_ name: String) { self.name = name }
    }
    final class Keeper { var kept: [Node] = [] }
    nonisolated(unsafe) var keeper = Keeper()
    @inline(never) func fill() {
      for index in 0..<6 {
        let first = Node("leaked"), second = Node("leaked too")
        first.next = second
        second.onChange = { print(first.name, index) }
        keeper.kept.append(Node("kept"))
      }
    }
    @inline(never) func clear(_ depth: Int) {
      withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) {
        $0.initializeMemory(as: UInt8.self, repeating: 0)
        if depth > 0 { clear(depth - 1) }
      }
    }
    fill()
    clear(64)
    _ = write(1, "ready\\n", 6)
    var byte: UInt8 = 0
    while read(0, &byte, 1) > 0 {}
    """

  /// A folder that goes with the instance.
  private final class Folder {
    let path: String

    init() {
      var name = Array("/tmp/memory-graph-test-XXXXXX".utf8CString)
      mkdtemp(&name)
      path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { _ = try? OutsideProgram.run("/bin/rm", ["-rf", path]) }
  }

  private func tool(_ words: [String], in folder: Folder) throws -> (status: Int32, text: String) {
    let output = folder.path + "/output"
    let status = try OutsideProgram.run("/usr/bin/env", words, output: output)
    return (status >> 8, readWholeFile(output) ?? "")
  }

  @Test(
    "Attach and core file agree, the leak is found, and what is missing is said", arguments: kinds)
  func kind(_ kind: Kind) throws {
    let folder = Folder()
    let source = folder.path + "/main.swift"
    let program = folder.path + "/Kinds"
    let file = open(source, O_WRONLY | O_CREAT, 0o600)
    let bytes = Array(Self.source.utf8)
    #expect(write(file, bytes, bytes.count) == bytes.count)
    close(file)
    var made = try tool(
      ["swiftc", "-swift-version", "6", "-module-name", "Kinds"] + kind.options
        + [source, "-o", program], in: folder)
    try #require(made.status == 0, "\(made.text)")
    if kind.isStripped {
      mkdir(folder.path + "/symbols", 0o700)
      made = try tool(
        ["objcopy", "--only-keep-debug", program, folder.path + "/symbols/Kinds.debug"], in: folder)
      try #require(made.status == 0, "\(made.text)")
      made = try tool(
        [
          "objcopy", "--strip-all", "--add-gnu-debuglink=\(folder.path)/symbols/Kinds.debug",
          program,
        ], in: folder)
      try #require(made.status == 0, "\(made.text)")
    }

    let running = try OutsideProgram([], of: program)
    let attached = try captureProcess(running.pid).snapshot
    let core = ScratchFile(try CoreWriter(of: running.pid).bytes())
    let graph = OutsideCaptureTests.Graph(attached)
    #expect(
      graph.difference(from: OutsideCaptureTests.Graph(try captureCoreFile(core.path).snapshot))
        == [])
    #expect(graph.nodes.count { $0.type == "Kinds.Node" } == 18)
    #expect(attached.process.isPartial == false)
    let diagnostics = attached.diagnostics.map(\.text)
    if let missing = kind.missing {
      #expect(diagnostics.contains { $0.contains(missing) }, "\(diagnostics)")
    } else {
      #expect(diagnostics == [])
    }
    #expect(running.finish().status == 0)

    let snapshot = folder.path + "/now.mgraph"
    try attached.write(to: snapshot)
    let memgraph = OutsideProgram.folder + "/memgraph"
    let leaks = try tool([memgraph, "leaks", snapshot], in: folder)
    #expect(leaks.status == 1)
    for text in kind.expected + ["18 leaked objects in 1 group", "6 × Kinds.Node"] {
      #expect(
        leaks.text.contains(text) || leaks.text.contains(text.replacing("×", with: "x")),
        "\(text) is not in: \(leaks.text)")
    }
    if !kind.expectedWithSymbols.isEmpty {
      let named = try tool(
        [memgraph, "leaks", snapshot, "--symbols", folder.path + "/symbols"], in: folder)
      for text in kind.expectedWithSymbols {
        #expect(named.text.contains(text), "\(text) is not in: \(named.text)")
      }
    }
  }

  /// Generic enums whose cases are told apart by bits that the payloads don't use, wherever they can stand.
  static let packedEnums = #"""
    import Glibc
    final class Leaf { var n = 1 }
    struct Failed: Error { var leaf = Leaf() }
    struct Bag<Element> {
      var elements: ContiguousArray<Element>
      var tokens: [UInt64] = [1, 2]
      var next = 7
    }
    final class Signal<Value, Failure: Error> {
      final class Observer { var leaf = Leaf() }
      struct Held { var state: State, leaf = Leaf() }
      final class Core<Lock> {
        let first = Leaf()
        var state: State
        let last = Leaf()
        var all: [State] = []
        var byNumber: [Int: Held] = [:]
        var some: State?
        var pair: (State, Leaf)
        var any: Any
        var closure: () -> Int = { 0 }
        init(_ make: () -> State) {
          state = make()
          all = [make(), make()]
          byNumber = [1: Held(state: make()), 2: Held(state: make())]
          some = make()
          pair = (make(), Leaf())
          any = make()
          let one = make(), leaf = Leaf()
          var two = make()
          closure = {
            two = one
            return leaf.n + count(two)
          }
        }
      }
    }
    extension Signal {
      enum State {
        enum Kind { case completed, interrupted, failed(any Error), silent }
        case alive(Bag<Observer>, isEnding: Bool)
        case ending(Bag<Observer>, Kind)
        case ended
      }
      static func bag() -> Bag<Observer> { Bag(elements: [Observer(), Observer()]) }
    }
    @inline(never) func count<A, B>(_ state: Signal<A, B>.State) -> Int {
      if case .ended = state { 0 } else { 1 }
    }
    nonisolated(unsafe) var keep: [AnyObject] = []
    @inline(never) func fill() {
      typealias Some = Signal<Int, Failed>
      keep.append(Some.Core<Int> { .alive(Some.bag(), isEnding: true) })
      keep.append(Some.Core<Int> { .ending(Some.bag(), .completed) })
      keep.append(Some.Core<Int> { .ending(Some.bag(), .failed(Failed())) })
      keep.append(Some.Core<Int> { .ended })
    }
    @inline(never) func clear(_ depth: Int) {
      withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { $0.initializeMemory(as: UInt8.self, repeating: 0); if depth > 0 { clear(depth - 1) } }
    }
    fill(); clear(64)
    _ = write(1, "ready\n", 6)
    var byte: UInt8 = 0
    while read(0, &byte, 1) > 0 {}
    """#

  @Test(
    "What a generic enum holds is held, where bits of its payloads tell the cases apart",
    arguments: ["-O", "-Onone"])
  func packedEnums(optimization: String) throws {
    try captured(Self.packedEnums, optimization: optimization) { graph in
      // Six beside the states, and in each of ten states two observers'; in those that failed one more.
      #expect(graph.nodes.count { $0.type == "Kinds.Leaf" } == 4 * 6 + 3 * 10 * 2 + 10)
    }
  }

  /// Objects held by an enum with a weak reference in a payload, by memory that is shared with later processes, and by
  /// tasks that a timer with a tolerance will resume.
  static let oddPlaces = #"""
    import Glibc
    final class Other {}
    final class Guest { var n = 1 }
    struct Watched {
      weak var other: Other?
      var guest: Guest
    }
    enum Seen { case watched(Watched), guest(Guest), nobody }
    final class Room {
      var seen: [Seen] = [.watched(Watched(guest: Guest())), .guest(Guest()), .nobody]
      var maybe: Seen? = .guest(Guest())
    }
    nonisolated(unsafe) var room: Room?
    @inline(never) func share() {
      let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)!
      for place in 0..<3 {
        page.storeBytes(of: Unmanaged.passRetained(Guest()).toOpaque(), toByteOffset: 8 * place, as: UnsafeMutableRawPointer.self)
      }
    }
    // Not on a frame of the task's.
    @inline(never) func invite() -> Guest { Guest() }
    @inline(never) func wait() {
      for _ in 0..<3 {
        Task.detached {
          let guest = invite()
          try? await Task.sleep(for: .seconds(600), tolerance: .seconds(1))
          guest.n += 1
        }
      }
    }
    @inline(never) func clear(_ depth: Int) {
      withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { $0.initializeMemory(as: UInt8.self, repeating: 0); if depth > 0 { clear(depth - 1) } }
    }
    room = Room()
    share()
    wait()
    clear(64)
    usleep(100_000)
    _ = write(1, "ready\n", 6)
    var byte: UInt8 = 0
    while read(0, &byte, 1) > 0 {}
    """#

  @Test("What lies where no type says it is held", arguments: ["-O", "-Onone"])
  func oddPlaces(optimization: String) throws {
    try captured(Self.oddPlaces, optimization: optimization) { graph in
      #expect(graph.nodes.count { $0.type == "Kinds.Guest" } == 3 + 3 + 3)
    }
  }

  /// Builds and captures a program in which nothing is leaked and all counts are explained.
  private func captured(
    _ text: String, optimization: String, _ check: (OutsideCaptureTests.Graph) -> Void
  ) throws {
    let folder = Folder()
    let source = folder.path + "/main.swift"
    let file = open(source, O_WRONLY | O_CREAT, 0o600)
    let bytes = Array(text.utf8)
    #expect(write(file, bytes, bytes.count) == bytes.count)
    close(file)
    let made = try tool(
      ["swiftc", optimization, "-swift-version", "5", "-module-name", "Kinds"]
        + [source, "-o", folder.path + "/Kinds"], in: folder)
    try #require(made.status == 0, "\(made.text)")
    let running = try OutsideProgram([], of: folder.path + "/Kinds")
    let snapshot = try captureProcess(running.pid).snapshot
    try snapshot.write(to: folder.path + "/kinds.mgraph")
    check(OutsideCaptureTests.Graph(snapshot))
    for verb in ["leaks", "audit"] {
      let report = try tool(
        [OutsideProgram.folder + "/memgraph", verb, folder.path + "/kinds.mgraph"], in: folder)
      #expect(report.status == 0, "\(verb): \(report.text)")
      #expect(verb == "leaks" || report.text.contains(", 100.00 %"), "\(report.text)")
    }
    #expect(running.finish().status == 0)
  }

  @Test("An executable with a static runtime that nobody may read is known by its memory")
  func executeOnly() throws {
    // Root reads everything, so root has another user run it.
    let isRoot = geteuid() == 0
    if isRoot && !NoTraceTests.isReachableByOthers { return }
    let folder = Folder()
    let source = folder.path + "/main.swift"
    let program = folder.path + "/Kinds"
    let file = open(source, O_WRONLY | O_CREAT, 0o600)
    let bytes = Array(Self.source.utf8)
    #expect(write(file, bytes, bytes.count) == bytes.count)
    close(file)
    let made = try tool(
      ["swiftc", "-swift-version", "6", "-module-name", "Kinds", "-static-stdlib", "-g", source]
        + ["-o", program], in: folder)
    try #require(made.status == 0, "\(made.text)")
    chmod(folder.path, 0o755)
    chmod(program, 0o111)
    let running = try OutsideProgram(
      [], of: program, withAgent: true,
      restrictions: isRoot ? ["--user", NoTraceTests.nobody] : [])
    let snapshot = try Snapshot(contentsOf: try running.mark("twin"))
    let gaps = fileGaps(in: snapshot)
    #expect(gaps.count == 1 && gaps[0].contains("/Kinds can't be read (Permission denied)"))
    let graph = OutsideCaptureTests.Graph(snapshot)
    #expect(graph.nodes.count { $0.type == "Kinds.Node" } == 18)
    #expect(graph.nodes.count { $0.type == "Kinds.Keeper" } == 1)
    // Fields are read by their types, not as words.
    #expect(graph.edges.keys.count { $0.label.hasPrefix("next ") } == 6)
    #expect(graph.edges.keys.count { $0.label.hasPrefix("kept ") } == 1)
    try snapshot.write(to: folder.path + "/twin.mgraph")
    let leaks = try tool(
      [OutsideProgram.folder + "/memgraph", "leaks", folder.path + "/twin.mgraph"], in: folder)
    #expect(leaks.status == 1)
    #expect(leaks.text.contains("18 leaked objects in 1 group"), "\(leaks.text)")
    #expect(running.finish().status == 0)
  }

  /// Every kind of container with objects in it, all held by one global.
  static let containers = #"""
    import Glibc
    import Synchronization
    final class Leaf { var n = 1 }
    struct Pair { var a: Leaf; var b: Leaf? }
    enum Choice { case one(Leaf), two(Leaf, Int), none; indirect case deep(Choice) }
    protocol P {}
    struct Big: P { var a = Leaf(), b = Leaf(), c = Leaf(), d = Leaf() }
    final class Buf: ManagedBuffer<Int, Leaf> {
      deinit { withUnsafeMutablePointers { h, e in _ = e.deinitialize(count: h.pointee) } }
    }
    final class Buf2: ManagedBuffer<Leaf, Pair> {
      deinit { withUnsafeMutablePointerToElements { _ = $0.deinitialize(count: 5) } }
    }
    final class Plain: ManagedBuffer<Leaf, Leaf> {}
    struct Gen<T> { var v: T }
    final class GenBuf<H, T>: ManagedBuffer<H, Gen<T>> {}
    final class Keeper {
      var array: [Leaf] = (0..<5).map { _ in Leaf() }
      var pairs: [Pair] = (0..<3).map { _ in Pair(a: Leaf(), b: Leaf()) }
      var table: [Int: Leaf] = Dictionary(uniqueKeysWithValues: (0..<5).map { ($0, Leaf()) })
      var choices: [Choice] = [.one(Leaf()), .two(Leaf(), 3), .deep(.one(Leaf()))]
      var any: [Any] = [Leaf(), Pair(a: Leaf(), b: nil), Big()]
      var ps: [any P] = [Big()]
      var opt: Leaf?? = .some(.some(Leaf()))
      var tuple = (Leaf(), Leaf())
      var slice: ArraySlice<Leaf> = ArraySlice((0..<3).map { _ in Leaf() })
      var contiguous: ContiguousArray<Leaf> = [Leaf()]
      var closures: [() -> Int] = []
      var buf: ManagedBuffer<Int, Leaf>
      var buf2: ManagedBuffer<Leaf, Pair>
      var plain: ManagedBuffer<Leaf, Leaf>
      var gen: GenBuf<Leaf, Choice>
      lazy var lazyLeaf = Leaf()
      var result: Result<Leaf, any Error> = .success(Leaf())
      let lock = Mutex(Leaf())
      init() {
        buf = Buf.create(minimumCapacity: 5) { _ in 5 }
        buf.withUnsafeMutablePointerToElements { p in for i in 0..<5 { (p + i).initialize(to: Leaf()) } }
        buf2 = Buf2.create(minimumCapacity: 5) { _ in Leaf() }
        buf2.withUnsafeMutablePointerToElements { p in for i in 0..<5 { (p + i).initialize(to: Pair(a: Leaf(), b: nil)) } }
        plain = Plain.create(minimumCapacity: 1) { _ in Leaf() }
        plain.withUnsafeMutablePointerToElements { $0.initialize(to: Leaf()) }
        gen = unsafeDowncast(GenBuf<Leaf, Choice>.create(minimumCapacity: 2) { _ in Leaf() }, to: GenBuf<Leaf, Choice>.self)
        gen.withUnsafeMutablePointerToElements { p in for i in 0..<2 { (p + i).initialize(to: Gen(v: .one(Leaf()))) } }
        let l = Leaf(), m = Leaf()
        closures = [{ l.n }, { l.n + m.n }]
        _ = lazyLeaf
      }
    }
    nonisolated(unsafe) var keeper: Keeper? = nil
    @inline(never) func fill() { keeper = Keeper() }
    @inline(never) func clear(_ depth: Int) {
      withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { $0.initializeMemory(as: UInt8.self, repeating: 0); if depth > 0 { clear(depth - 1) } }
    }
    fill(); clear(64)
    _ = write(1, "ready\n", 6)
    var byte: UInt8 = 0
    while read(0, &byte, 1) > 0 {}
    """#

  @Test(
    "Whatever container holds them, objects are held, with and without reflection metadata",
    arguments: [
      [], ["-Xfrontend", "-disable-reflection-metadata"],
    ])
  func containers(options: [String]) throws {
    let folder = Folder()
    let source = folder.path + "/main.swift"
    let file = open(source, O_WRONLY | O_CREAT, 0o600)
    let bytes = Array(Self.containers.utf8)
    #expect(write(file, bytes, bytes.count) == bytes.count)
    close(file)
    let made = try tool(
      ["swiftc", "-O", "-swift-version", "5", "-module-name", "Kinds"] + options
        + [source, "-o", folder.path + "/Kinds"], in: folder)
    try #require(made.status == 0, "\(made.text)")
    let running = try OutsideProgram([], of: folder.path + "/Kinds")
    let snapshot = try captureProcess(running.pid).snapshot
    try snapshot.write(to: folder.path + "/kinds.mgraph")
    let graph = OutsideCaptureTests.Graph(snapshot)
    #expect(graph.nodes.count { $0.type == "Kinds.Leaf" } == 57)
    let leaks = try tool(
      [OutsideProgram.folder + "/memgraph", "leaks", folder.path + "/kinds.mgraph"], in: folder)
    #expect(leaks.status == 0, "\(leaks.text)")
    #expect(running.finish().status == 0)
  }
}
