// Tests of capture from outside: attach, core file and the agent's twin see the same graph, and the
// program goes on.

import Glibc
import GraphPrimitives
import SnapshotFormat
import Testing

@testable import HeapCapture

@Suite(.serialized) struct OutsideCaptureTests {
  /// What a snapshot says of its graph, without what the ways of capturing know differently.
  struct Graph: Equatable {
    struct Node: Hashable, Comparable, CustomStringConvertible {
      var address: UInt64
      var type: String
      var kind: UInt8
      var strong: UInt32
      static func < (left: Self, right: Self) -> Bool { left.address < right.address }
      var description: String { "\(String(address, radix: 16)) \(type) \(kind) \(strong)" }
    }

    struct Edge: Hashable {
      var from: UInt64
      var to: UInt64
      var label: String
      var info: UInt8
    }

    /// A root; the place in a stack is left out where it depends on how the thread was stopped.
    struct Root: Hashable {
      var kind: UInt8
      var address: UInt64
      var target: UInt64
      var thread: String
    }

    var nodes: Set<Node> = []
    var edges: [Edge: Int] = [:]
    var roots: Set<Root> = []
    var sizes: [UInt64: UInt64] = [:]

    init(_ snapshot: Snapshot) {
      let names = snapshot.types.name
      for row in 0..<snapshot.nodes.count {
        let address = snapshot.nodes.address[row]
        let typeName = names[Int(snapshot.nodes.type[row])]
        nodes.insert(
          Node(
            address: address, type: snapshot.strings[StringIndex(rawValue: typeName)],
            kind: snapshot.nodes.kind[row], strong: snapshot.nodes.strongCount[row]))
        sizes[address] = snapshot.nodes.bytes(row)
        for edge in snapshot.edges.firstEdge[row]..<snapshot.edges.firstEdge[row + 1] {
          let label = Int(snapshot.edges.label[Int(edge)])
          let name = snapshot.strings[StringIndex(rawValue: snapshot.labels.name[label])]
          edges[
            Edge(
              from: address, to: snapshot.nodes.address[Int(snapshot.edges.target[Int(edge)])],
              label: "\(name) \(snapshot.labels.index[label])",
              info: snapshot.edges.info[Int(edge)]),
            default: 0] += 1
        }
      }
      for row in 0..<snapshot.roots.count {
        roots.insert(
          Root(
            kind: snapshot.roots.kind[row], address: snapshot.roots.address[row],
            target: snapshot.nodes.address[Int(snapshot.roots.target[row])],
            thread: snapshot.roots.thread[row] < UInt32(snapshot.threads.count)
              ? "\(snapshot.threads[Int(snapshot.roots.thread[row])].id)" : ""))
      }
    }

    /// What only one of two graphs has, in a few lines; empty where they are equal.
    func difference(from other: Graph) -> [String] {
      func list<T: Hashable>(_ name: String, _ left: Set<T>, _ right: Set<T>) -> [String] {
        left.subtracting(right).prefix(5).map { "only here: \(name) \($0)" }
          + right.subtracting(left).prefix(5).map { "only there: \(name) \($0)" }
      }
      return list("node", nodes, other.nodes)
        + list("edge", Set(edges.keys), Set(other.edges.keys)) + list("root", roots, other.roots)
        + (edges == other.edges ? [] : ["edges of other numbers"])
    }

    /// The part of the graph whose nodes, and places of roots, are wanted.
    func filter(node: (UInt64) -> Bool, root: (Root) -> Bool) -> Graph {
      var part = self
      part.nodes = nodes.filter { node($0.address) }
      part.edges = edges.filter { node($0.key.from) && node($0.key.to) }
      part.roots = roots.filter { node($0.target) && root($0) }
      return part
    }
  }

  @Test("Attach and core file give the same graph, and it is the program's")
  func attachAndCore() throws {
    let program = try OutsideProgram(["graph"])
    let attached = try captureProcess(program.pid)
    let file = ScratchFile(try CoreWriter(of: program.pid).bytes())
    let core = try captureCoreFile(file.path)

    #expect(!attached.hasAgent && !core.hasAgent)
    #expect(attached.pauseNanoseconds > 0)
    #expect(attached.snapshot.process.source == "pid")
    #expect(core.snapshot.process.source == "core")
    #expect(attached.snapshot.process.pid == UInt32(program.pid))
    #expect(attached.snapshot.threads.count == 2)
    #expect(attached.snapshot.modules == core.snapshot.modules)
    let graph = Graph(attached.snapshot)
    #expect(graph.difference(from: Graph(core.snapshot)) == [])
    #expect(graph.nodes.count { $0.type == "OutsideTarget.Node" } == 50 * 4 + 10 * 3 + 7 * 2 + 1)
    #expect(graph.roots.contains { $0.kind == RootKind.stack.rawValue })
    #expect(attached.snapshot.diagnostics.isEmpty)
    try attached.snapshot.validate()

    let end = program.finish()
    #expect(end.status == 0, "the program ends as it always does")
  }

  @Test("A program with the agent gives its stacks and marks; the walk finds the same graph")
  func agentAndWalk() throws {
    let program = try OutsideProgram(["graph"], withAgent: true)
    let attached = try captureProcess(program.pid)
    let file = ScratchFile(try CoreWriter(of: program.pid).bytes())
    let core = try captureCoreFile(file.path)
    #expect(attached.hasAgent && core.hasAgent)
    #expect(attached.snapshot.stacks.count > 100)
    let graph = Graph(attached.snapshot)
    #expect(graph.difference(from: Graph(core.snapshot)) == [])

    let stopped = try copyProcess(program.pid)
    let images = loadImages(of: stopped.memory)
    let heap = try GlibcHeap(
      memory: stopped.memory, images: images, threads: stopped.threads, pid: UInt32(program.pid))
    let walked = Graph(
      try captureSnapshot(memory: stopped.memory, inventory: heap, threads: stopped.threads))
    // The loader's first block is older than the agent. The agent's own memory holds nothing for one
    // who knows that it is the agent's.
    let tables = try #require(
      agentTables(in: stopped.memory, images: images, pid: UInt32(program.pid)))
    let own = tables.ownRanges()
    let known = Set(graph.nodes.map(\.address))
    // A pointer to the end of a buffer leads into what the allocator gave beyond what was asked for.
    let part = walked.filter {
      known.contains($0)
    } root: { root in
      guard !own.contains(where: { $0.contains(root.address) }) else { return false }
      guard let word = stopped.memory.word(at: root.address) else { return true }
      return
        !(root.target + (graph.sizes[root.target] ?? 0)..<root.target
        + (walked.sizes[root.target] ?? 0))
        .contains(word)
    }
    #expect(graph.difference(from: part) == [])
    #expect(walked.nodes.count <= graph.nodes.count + 1)
    for (address, size) in graph.sizes { #expect((walked.sizes[address] ?? 0) >= size) }
  }

  /// What two snapshots of a program with the agent say of the program itself.
  static func programParts(twin: Snapshot, attached: Snapshot) -> (twin: Graph, attached: Graph) {
    // The agent's own thread works while a twin is made.
    let agentThreads = attached.threads.filter { $0.name == "memory-graph" }.map { "\($0.id)" }
    func programPart(of snapshot: Snapshot) -> Graph {
      var graph = Graph(snapshot).filter { _ in
        true
      } root: {
        !agentThreads.contains($0.thread)
      }
      // A thread that was stopped by a signal has its registers on its stack.
      graph.roots = Set(
        graph.roots.map { root in
          guard root.kind == RootKind.stack.rawValue || root.kind == RootKind.register.rawValue
          else {
            return root
          }
          return Graph.Root(
            kind: RootKind.stack.rawValue, address: 0, target: root.target, thread: root.thread)
        })
      return graph
    }
    return (programPart(of: twin), programPart(of: attached))
  }

  @Test("Twin, attach and core file give the same graph")
  func twin() throws {
    let program = try OutsideProgram(["graph"], withAgent: true)
    let twin = try Snapshot(contentsOf: try program.mark("twin"))
    let attached = try captureProcess(program.pid)
    #expect(twin.process.source == "twin" && attached.snapshot.process.source == "pid")
    #expect(attached.snapshot.marks.map(\.name) == ["twin"])
    let graphs = Self.programParts(twin: twin, attached: attached.snapshot)
    #expect(graphs.attached.difference(from: graphs.twin) == [])
    #expect(Graph(attached.snapshot).sizes == Graph(twin).sizes)
  }

  @Test("Twin, attach and core file agree on tasks, Foundation, queues and memory of C")
  func mixed() throws {
    let program = try OutsideProgram([], of: "MixedTarget", withAgent: true)
    let twin = try Snapshot(contentsOf: try program.mark("twin"))
    let attached = try captureProcess(program.pid)
    let file = ScratchFile(try CoreWriter(of: program.pid).bytes())
    let core = try captureCoreFile(file.path)
    let graphs = Self.programParts(twin: twin, attached: attached.snapshot)
    #expect(graphs.attached.difference(from: graphs.twin) == [])
    #expect(Graph(attached.snapshot).difference(from: Graph(core.snapshot)) == [])
    // Those that wait, and the one that runs the program's own code.
    #expect(twin.tasks.count >= 4 && core.snapshot.tasks.count == twin.tasks.count)
    #expect(attached.snapshot.tasks.count == twin.tasks.count)
    for type in ["Model", "Held", "Store"] {
      let count = graphs.twin.nodes.count { $0.type == "MixedTarget.\(type)" }
      #expect(count == ["Model": 15, "Held": 13, "Store": 1][type])
    }
    #expect(graphs.twin.nodes.contains { $0.type == "libdispatch free continuation" })
    #expect(program.finish().status == 0)
  }

  @Test("What only a register or the red zone of a running thread has is held")
  func interrupted() throws {
    let program = try OutsideProgram(["spin"], withAgent: true)
    let twin = try Snapshot(contentsOf: try program.mark("twin"))
    let attached = try captureProcess(program.pid).snapshot
    let file = ScratchFile(try CoreWriter(of: program.pid).bytes())
    let core = try captureCoreFile(file.path).snapshot
    for snapshot in [twin, attached, core] {
      var holders: [String] = []
      for root in 0..<snapshot.roots.count {
        let type = snapshot.types.name[Int(snapshot.nodes.type[Int(snapshot.roots.target[root])])]
        guard snapshot.strings[StringIndex(rawValue: type)] == "OutsideTarget.Node" else {
          continue
        }
        let label = snapshot.labels.name[Int(snapshot.roots.label[root])]
        let kind = RootKind(rawValue: snapshot.roots.kind[root]).map { "\($0)" } ?? "?"
        holders.append("\(kind) \(snapshot.strings[StringIndex(rawValue: label)])")
      }
      #expect(holders.sorted() == ["register xmm7", "stack "], "\(snapshot.process.source)")
    }
    let graphs = Self.programParts(twin: twin, attached: attached)
    #expect(graphs.attached.difference(from: graphs.twin) == [])
    #expect(Graph(attached).difference(from: Graph(core)) == [])
  }

  @Test("A program whose main thread has ended can be captured", arguments: [false, true])
  func mainHasEnded(withAgent: Bool) throws {
    let program = try OutsideProgram(["main-ends"], withAgent: withAgent)
    let attached = try captureProcess(program.pid).snapshot
    #expect(attached.diagnostics.isEmpty, "\(attached.diagnostics)")
    #expect(attached.process.executable.hasSuffix("/OutsideTarget"))
    #expect(!attached.threads.contains { $0.id == UInt32(program.pid) })
    let graph = Graph(attached)
    #expect(graph.nodes.count { $0.type == "OutsideTarget.Node" } == 245)
    #expect(graph.roots.contains { $0.kind == RootKind.stack.rawValue })
    if withAgent {
      let twin = try Snapshot(contentsOf: try program.mark("twin"))
      #expect(twin.diagnostics.isEmpty, "\(twin.diagnostics)")
      let graphs = Self.programParts(twin: twin, attached: attached)
      #expect(graphs.attached.difference(from: graphs.twin) == [])
    }
    #expect(program.finish().status == 0)
  }

  @Test("In a PID namespace threads have other numbers, and are the same all the same")
  func inNamespace() throws {
    // Only root may make one.
    if geteuid() != 0 { return }
    let program = try OutsideProgram(
      [], of: "MixedTarget", withAgent: true, restrictions: ["--pid-namespace"])
    #expect(pidInside(of: program.pid) == 1)
    let twin = try Snapshot(contentsOf: try program.mark("twin"))
    let attached = try captureProcess(program.pid)
    #expect(attached.hasAgent)
    #expect(attached.snapshot.process.pid == UInt32(program.pid))
    func threads(_ snapshot: Snapshot) -> Int {
      snapshot.threads.count { $0.name != "memory-graph" }
    }
    #expect(threads(twin) == 3)
    #expect(threads(attached.snapshot) == 3)
    #expect(twin.diagnostics == attached.snapshot.diagnostics)
    // Threads have no common number, the rest of the graph has.
    func part(_ graph: Graph) -> Graph {
      var graph = graph
      graph.roots = Set(
        graph.roots.map {
          Graph.Root(kind: $0.kind, address: $0.address, target: $0.target, thread: "")
        })
      return graph
    }
    let graphs = Self.programParts(twin: twin, attached: attached.snapshot)
    #expect(part(graphs.attached).difference(from: part(graphs.twin)) == [])
    #expect(graphs.attached.nodes.contains { $0.type == "libdispatch free continuation" })
    #expect(program.finish().status == 0)
  }

  @Test("The executable of a core file may lie elsewhere, but it must be the same")
  func movedExecutable() throws {
    let program = try OutsideProgram(["graph"])
    let core = ScratchFile(try CoreWriter(of: program.pid).bytes())
    let moved = ScratchFile(try contents(of: OutsideProgram.folder + "/OutsideTarget"))
    let expected = Graph(try captureCoreFile(core.path).snapshot)
    let found = try captureCoreFile(core.path, executable: moved.path).snapshot
    #expect(expected.difference(from: Graph(found)) == [])
    #expect(found.process.executable == moved.path)
    #expect(found.modules.contains { $0.path == moved.path })

    let other = OutsideProgram.folder + "/memgraph"
    #expect {
      try captureCoreFile(core.path, executable: other)
    } throws: { error in
      guard case CaptureError.missingFile(path: other, _) = error else { return false }
      return true
    }
  }

  private func contents(of path: String) throws -> [UInt8] {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(file, &piece, piece.count)
      guard count > 0 else { return bytes }
      bytes += piece[..<count]
    }
  }

  @Test("A core file whose memory is damaged harms nobody", arguments: 0..<6 as Range<UInt64>)
  func damagedMemory(seed: UInt64) throws {
    let program = try OutsideProgram(["graph"])
    var bytes = try CoreWriter(of: program.pid).bytes()
    var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    for _ in 0..<(20 << (seed * 2)) {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      // The headers have tests of their own.
      let offset = 65_536 + Int((state >> 24) % UInt64(bytes.count - 65_536))
      bytes[offset] ^= 1 << UInt8((state >> 20) & 7)
    }
    let core = ScratchFile(bytes)
    // In a process of its own, as `memgraph core` is: 0 or an error, no signal.
    let status = try OutsideProgram.run(
      "memgraph", ["core", core.path, "-o", core.path + ".mgraph", "--quiet"])
    unlink(core.path + ".mgraph")
    #expect(status & 0x7f == 0, "ended by signal \(status & 0x7f)")
    #expect([0, 3, 4].contains(status >> 8))
  }

  @Test("A program goes on as if nothing had been: its threads, its signals, its end")
  func goesOn() throws {
    let program = try OutsideProgram(["tick"])
    for _ in 0..<5 { _ = try copyProcess(program.pid) }
    // A signal that arrives while it stands still is not lost.
    try withStoppedThreads(of: program.pid) { (threads) throws(CaptureError) in
      #expect(threads.count == 2)
      kill(program.pid, SIGUSR1)
    }
    #expect(program.readLine() == "signal")
    let end = program.finish()
    #expect(end.line == "ticks go on: true")
    #expect(end.status == 0)
  }

  @Test("A stopped process stays stopped")
  func staysStopped() throws {
    let program = try OutsideProgram(["tick"])
    kill(program.pid, SIGSTOP)
    var status: Int32 = 0
    waitpid(program.pid, &status, WUNTRACED)
    _ = try copyProcess(program.pid)
    // The kernel wakes a stopped thread to let the tracer go, and it stops again before it runs any
    // code of its own: for a moment it is called running. One that went on would never stop again.
    let pid = program.pid
    func isStopped() throws -> Bool {
      try #require(readWholeFile("/proc/\(pid)/status")).contains("State:\tT (stopped)")
    }
    for _ in 0..<500 {
      if try isStopped() { break }
      usleep(10_000)
    }
    #expect(try isStopped())
    kill(program.pid, SIGCONT)
    #expect(program.finish().status == 0)
  }

  @Test("A closure that throws lets the process go on")
  func throwing() throws {
    let program = try OutsideProgram(["tick"])
    #expect(throws: CaptureError.noRemoteMirror("")) {
      try withStoppedThreads(of: program.pid) { (_) throws(CaptureError) in
        throw CaptureError.noRemoteMirror("")
      }
    }
    #expect(program.finish().status == 0)
  }

  @Test("No process, an ended one, one that is traced, one without Swift")
  func refusals() throws {
    #expect(throws: CaptureError.noSuchProcess(pid: 0x3fff_fff0)) {
      try captureProcess(0x3fff_fff0)
    }
    #expect(throws: CaptureError.notPermitted(pid: getpid(), because: "it is this process itself"))
    {
      try captureProcess(getpid())
    }
    let program = try OutsideProgram(["tick"])
    kill(program.pid, SIGKILL)
    var information = siginfo_t()
    waitid(P_PID, id_t(program.pid), &information, WEXITED | WNOWAIT)
    #expect(throws: CaptureError.noSuchProcess(pid: program.pid)) {
      try captureProcess(program.pid)
    }
    _ = program.waitForEnd()
  }
}
