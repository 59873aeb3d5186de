// HooksTests: what the agent records, at each mark of a program that was not built for it.

import Foundation
import HeapCapture
import SnapshotFormat
import Synchronization
import Testing

@Suite struct HooksTests {
  /// Runs a mode of the C program under the preloaded agent, and expects it to end as it does alone.
  private func marks(
    of mode: String, environment: [String: String] = [:], reader: TestReader? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> (marks: [SeenMark], output: String) {
    let reader = try reader ?? TestReader()
    let result = try reader.run(
      try AgentPrograms.modes.get(), [mode], environment: environment)
    #expect(result.status == 23, "\(result.output)\(result.errors)", sourceLocation: sourceLocation)
    #expect(result.errors == "", sourceLocation: sourceLocation)
    #expect(reader.greetings == 1, sourceLocation: sourceLocation)
    return (reader.marks, result.output)
  }

  /// The number that a line `NAME 0x...` of a program's output gives.
  private func address(_ name: String, in output: String) throws -> UInt64 {
    let line = try #require(output.split(separator: "\n").first { $0.hasPrefix(name + " 0x") })
    return try #require(UInt64(line.dropFirst(name.count + 3), radix: 16))
  }

  @Test("Each function of the family makes one block of the size asked for, and deaths count")
  func family() throws {
    let (marks, output) = try marks(of: "family")
    let mark = try #require(marks.first)
    let sizes: [UInt64] = [10001, 10010, 10003, 10048, 10005, 10006, 10007, 12288, 10009]
    for size in sizes { #expect(mark.blocks(ofSize: size).count == 1, "\(size)") }
    #expect(
      mark.blocks.contains { $0.address == (try? address("empty", in: output)) && $0.size == 0 })
    for size in [10011, 10012, 10013] as [UInt64] { #expect(mark.blocks(ofSize: size).isEmpty) }
    #expect(!mark.blocks(ofSize: 40).isEmpty)
    let largeAddress = try address("large", in: output)
    let large = try #require(mark.blocks.first { $0.address == largeAddress })
    // The cell has no room for its size, so it is the allocator's, which rounds up to pages.
    #expect(large.size >= 310 << 20 && large.size < 310 << 20 + 8192)
  }

  @Test("A call that fails changes nothing but errno")
  func failures() throws {
    let (marks, _) = try marks(of: "failures")
    let mark = try #require(marks.first)
    #expect(mark.blocks(ofSize: 20001).count == 1)
  }

  @Test("Address and generation tell a block from another that got its address")
  func generations() throws {
    let (marks, _) = try marks(of: "generations")
    #expect(marks.map(\.name) == ["a", "b", "c"])
    #expect(marks[0].blocks(ofSize: 30001).map(\.generation) == [0])
    #expect(marks[1].blocks(ofSize: 30001).map(\.generation) == [1])
    #expect(marks[1].blocks(ofSize: 30002).map(\.generation) == [1])
    #expect(marks[2].blocks(ofSize: 30001).map(\.generation) == [1])
    // Reallocated after the second mark, in place or not.
    #expect(marks[2].blocks(ofSize: 30002).isEmpty)
    #expect(marks[2].blocks(ofSize: 30003).map(\.generation) == [2])
    #expect(marks[2].marks.map(\.name) == ["a", "b", "c"])
    #expect(marks[2].marks.map(\.generation) == [0, 1, 2])
  }

  @Test("Each stack is kept once, with its frames, and no two nodes of the trie are the same")
  func stackTables() throws {
    let result = try Command([try AgentPrograms.stackTables.get()]).run()
    #expect(result.status == 23, "\(result.output)\(result.errors)")
  }

  @Test(
    "Threads that allocate all the time lose no block and gain none", arguments: ["fast", "none"])
  func threads(stacks: String) throws {
    let (marks, _) = try marks(of: "threads", environment: ["MEMORY_GRAPH_STACKS": stacks])
    #expect(marks.count == 6)
    for mark in marks {
      #expect(mark.threads.allSatisfy { $0.isStopped }, "\(mark.threads)")
      // Each worker has at most its ring and what it keeps; a thread that stands between a call and
      // its record may be one off.
      for worker in 0..<4 as Range<UInt64> {
        #expect(mark.blocks(ofSize: 40000 + worker).count <= 100 + 64 + 1)
      }
    }
    let quiet = try #require(marks.last)
    for worker in 0..<4 as Range<UInt64> {
      #expect(quiet.blocks(ofSize: 40000 + worker).count == 100)
    }
  }

  @Test("Threads that begin and end during marks hold up neither")
  func shortThreads() throws {
    let (marks, _) = try marks(of: "short_threads")
    #expect(marks.count == 20)
    for mark in marks { #expect(mark.threads.count >= 4) }
  }

  @Test("Threads that block or wait for all signals stand still too")
  func maskedThreads() throws {
    let (marks, _) = try marks(of: "masked")
    #expect(marks.count == 3)
    for mark in marks {
      #expect(mark.threads.count == 3)
      #expect(mark.threads.allSatisfy { $0.isStopped }, "\(mark.threads)")
      for thread in mark.threads {
        let bounds = try #require(thread.stackBounds)
        #expect(bounds.contains(thread.stackPointer))
        #expect(thread.pc != 0 && thread.threadPointer != 0)
        #expect(thread.name == "modes")
      }
    }
  }

  @Test("A mark can be taken on a small stack")
  func smallStack() throws {
    let (marks, _) = try marks(of: "small_stack")
    #expect(marks.count == 1)
  }

  @Test(
    "Words that lie in the agent's own frames hold nothing; the caller's words and registers do")
  func staleFrames() throws {
    let seen = Mutex<[String: [UInt64]]>([:])
    let reader = try TestReader(inspecting: { request, source in
      let snapshot = try captureSnapshot(source: source, state: request.state)
      let targets = Set((0..<snapshot.roots.count).map { Int(snapshot.roots.target[$0]) })
      let held = targets.map { snapshot.nodes.bytes($0) }.filter { (50021...50028).contains($0) }
      seen.withLock { $0[snapshot.process.mark] = held.sorted() }
    })
    let result = try reader.run(try AgentPrograms.modes.get(), ["stale_frames"])
    #expect(result.status == 23, "\(result.output)\(result.errors)")
    let marks = seen.withLock { $0 }
    #expect(marks["stale"] == [50022, 50023])
    #if arch(x86_64)
      for (register, bytes) in [
        ("rbx", 50024), ("r12", 50025), ("r13", 50026), ("r14", 50027), ("r15", 50028),
      ] as [(String, UInt64)] {
        #expect(marks["with \(register)"]?.contains(bytes) == true, "\(register)")
      }
    #endif
  }

  @Test("What the agent says of a path has nothing in it that a terminal obeys")
  func oddPath() throws {
    let reader = try TestReader(answering: .error(errno: ENOENT, sentence: "there is none"))
    let result = try reader.run(try AgentPrograms.modes.get(), ["odd_path"])
    #expect(result.status == 23)
    #expect(result.errors == "memory-graph: /nowhere/?[31m?1m/??.mgraph: there is none\n")
  }

  @Test("A thread that waits for a signal goes on waiting, and hears the program's own")
  func pauses() throws {
    let (marks, _) = try marks(of: "pauses")
    #expect(marks.count == 10)
  }

  @Test("A thread that sleeps, or waits with a limit, is not woken by a mark")
  func sleepers() throws {
    let (marks, _) = try marks(of: "sleeps")
    #expect(marks.count >= 3)
  }

  @Test("The program notices neither a child, a descriptor, a signal nor errno")
  func unnoticed() throws {
    let (marks, _) = try marks(of: "unnoticed")
    #expect(marks.count == 10)
  }

  @Test("A fork is left alone, and what it becomes has the environment of a program alone")
  func forks() throws {
    let (marks, output) = try marks(of: "forks")
    #expect(marks.map(\.name) == ["parent"])
    #expect(marks[0].blocks(ofSize: 70001).count == 1)
    #expect(!output.contains("MEMORY_GRAPH_") && !output.contains("LD_PRELOAD"))
    #expect(output.contains("PATH="))
  }

  @Test("The agent's variables are gone from the program's environment, others stay")
  func environment() throws {
    _ = try marks(of: "environment", environment: ["OTHER": "stays"])
  }

  @Test("A snapshot that can't be written is an errno, and one line on standard error")
  func unwritable() throws {
    let reader = try TestReader(answering: .error(errno: ENOSPC, sentence: "the disk is full"))
    let result = try reader.run(try AgentPrograms.modes.get(), ["unwritable"])
    #expect(result.status == 23)
    #expect(result.output == "\(ENOSPC)\n\(ENOSPC)\n\(ENOSPC)\ndone\n")
    #expect(result.errors == "memory-graph: /nowhere/fails.mgraph: the disk is full\n")
    #expect(reader.marks.map(\.path).last == "/nowhere/fails-3.mgraph")
  }

  @Test("A reader that ends too early takes its twin with it, and the program goes on")
  func readerEnds() throws {
    let reader = try TestReader(answering: nil)
    let result = try reader.run(try AgentPrograms.modes.get(), ["hung_up"])
    #expect(result.status == 23, "\(result.output)")
    #expect(reader.marks.count == 1)
    #expect(result.errors.split(separator: "\n").count == 1)
  }

  @Test("Without /proc no thread's stack is known: the program goes on, and no snapshot is taken")
  func noProc() throws {
    // Only root may take it away.
    if geteuid() != 0 { return }
    let reader = try TestReader()
    let result = try reader.run(try AgentPrograms.modes.get(), ["no_proc"])
    #expect(result.status == 23, "\(result.output)")
    #expect(reader.marks.isEmpty)
    if let folder = result.output.split(separator: "\n").first { rmdir(String(folder)) }
  }

  @Test("Without descriptors to spare a snapshot is taken in fewer ways, or the reason is true")
  func fewFiles() throws {
    let reader = try TestReader()
    let result = try reader.run(try AgentPrograms.modes.get(), ["few_files"])
    #expect(result.status == 23, "\(result.output)")
    #expect(result.output == "0\n0\n0\n0\n\(EMFILE)\n\(EMFILE)\ndone\n")
    #expect(reader.marks.map(\.name) == ["left 5", "left 4", "left 3", "left 2"])
    #expect(
      result.errors == "memory-graph: /nowhere/left-1.mgraph: the program has no file descriptor"
        + " left to ask for it; raise its limit (ulimit -n)\n")
  }

  @Test("A program goes on where nobody listens any more")
  func nobodyListens() throws {
    let result = try Command(
      [try AgentPrograms.modes.get(), "unwritable"],
      environment: [
        "LD_PRELOAD": AgentPrograms.library, "MEMORY_GRAPH_CHANNEL": "/nowhere/channel",
        "MEMORY_GRAPH_OUT": "/nowhere",
      ]
    ).run()
    #expect(result.status == 23)
    #expect(result.output == "\(ENOENT)\n\(ENOENT)\n\(ENOENT)\ndone\n")
    #expect(result.errors.split(separator: "\n").count == 1)
  }

  @Test("Names of marks become names of files, each its own")
  func names() throws {
    let (marks, _) = try marks(of: "names", environment: ["MEMORY_GRAPH_OUT": "/out/"])
    #expect(
      marks.map(\.path) == [
        "/out/call-1-2.mgraph", "/out/call-1-2-2.mgraph", "/out/call-1-2-3.mgraph",
        "/out/-.-up.mgraph", "/out/-.mgraph", "/out/a.b_c-D9.mgraph", "/usr/here.mgraph",
      ])
    #expect(
      marks.map(\.name) == ["call 1/2", "call 1/2", "call:1:2", "../up", "", "a.b_c-D9", "here"])
  }

  @Test("The snapshot at the end comes after the program's own functions for the end")
  func exit() throws {
    let (marks, _) = try marks(of: "ends", environment: ["MEMORY_GRAPH_AT_EXIT": "1"])
    #expect(marks.map(\.path) == ["/nowhere/exit.mgraph"])
    #expect(marks[0].blocks(ofSize: 90001).isEmpty)
    #expect(marks[0].blocks(ofSize: 90002).count == 1)
    let without = try self.marks(of: "ends")
    #expect(without.marks.isEmpty)
  }

  @Test(
    "Registrations and edges last until they are taken back, or their block dies or moves",
    arguments: ProcessMemory.Way.allCases)
  func registry(way: ProcessMemory.Way) throws {
    let (marks, _) = try marks(of: "registry", reader: try TestReader(ways: [way]))
    let all = try #require(marks.first)
    #expect(Set(all.registrations.map(\.name)) == ["Renamed", "Encoder", "Handle"])
    #expect(all.registrations.first { $0.name == "Encoder" }?.bytes == 4096)
    #expect(all.registrations.filter(\.isBlock).map(\.name).sorted() == ["Encoder", "Renamed"])
    #expect(all.edges.map(\.label).sorted() == ["encoder", "encoder", "handle", "other"])
    #expect(Set(all.blocks.filter(\.isRegistered).map(\.size)) == [11001, 11002, 11003])

    let fewer = marks[1]
    #expect(Set(fewer.registrations.map(\.name)) == ["Renamed", "Encoder"])
    #expect(fewer.edges.map(\.label).sorted() == ["encoder", "other"])

    let moved = marks[2]
    #expect(moved.registrations.map(\.name) == ["Encoder"])
    #expect(moved.edges.map(\.label) == ["other"])
    #expect(moved.blocks(ofSize: 200001).count == 1)
    #expect(moved.blocks(ofSize: 11001).isEmpty)

    let freed = marks[3]
    #expect(freed.registrations.isEmpty && freed.edges.isEmpty)
    #expect(freed.blocks.allSatisfy { !$0.isRegistered })
  }

  @Test(
    "Memory that is not there ends what is read at its first byte",
    arguments: ProcessMemory.Way.allCases
  )
  func holes(way: ProcessMemory.Way) throws {
    let reader = try TestReader(ways: [way]) { memory in
      func read(_ address: UInt64, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xff, count: count)
        let got = bytes.withUnsafeMutableBytes { memory.read(address, into: $0) }
        return Array(bytes[..<got])
      }
      func isWritten(_ bytes: [UInt8], from offset: Int, count: Int) -> Bool {
        bytes.count == count
          && bytes.indices.allSatisfy { index in
            let place = index + offset
            return bytes[index] == UInt8(truncatingIfNeeded: place * 7 + place / 4096)
          }
      }
      let pages: UInt64 = 0x2000_0000_0000
      #expect(isWritten(read(pages, 8 * 4096), from: 0, count: 8 * 4096))
      #expect(isWritten(read(pages + 3, 40 * 4096), from: 3, count: 37 * 4096 - 3))
      #expect(isWritten(read(pages + 36 * 4096 + 5, 8192), from: 36 * 4096 + 5, count: 4091))
      #expect(read(pages + 37 * 4096, 8) == [])
      #expect(read(pages - 8, 16) == [])
      // The file has 6,000 bytes, and a page's rest is zeros.
      let mapped: UInt64 = 0x2001_0000_0000
      #expect(read(mapped, 8 * 4096).count == 2 * 4096)
      #expect(read(mapped + 2 * 4096, 4096) == [])
      #expect(read(0x10, 8) == [])
      #expect(memory.read(pages, into: .init(start: nil, count: 0)) == 0)
      #expect(memory.way == way)
      #expect(memory.executable.hasSuffix("/modes"))
      #expect(memory.residentBytes > 1 << 20)
    }
    let (marks, _) = try marks(of: "holes", reader: reader)
    #expect(marks.count == 1)
  }

  @Test("Registrations from many threads at once all arrive, and all end")
  func registryThreads() throws {
    let (marks, _) = try marks(of: "registry_threads")
    let quiet = try #require(marks.last)
    #expect(quiet.registrations.count == 4 * 500)
    #expect(quiet.registrations.filter { $0.name == "Odd" }.count == 2 * 500)
    #expect(quiet.edges.count == 4 * 499)
    let live = Set(quiet.blocks.filter(\.isRegistered).map(\.address))
    #expect(Set(quiet.registrations.map(\.address)) == live)
    for mark in marks { #expect(mark.registrations.count <= 4 * 500) }
  }

  @Test(
    "A stack begins with the caller, and another stack than the thread's harms nobody",
    arguments: ["fast", "full"])
  func stacks(mode: String) throws {
    let (marks, output) = try marks(of: "stacks", environment: ["MEMORY_GRAPH_STACKS": mode])
    let mark = try #require(marks.first)
    let innermost = try address("innermost", in: output)
    let middle = try address("middle", in: output)
    let recurse = try address("recurse", in: output)
    func stack(ofSize size: UInt64) throws -> [UInt64] {
      let block = try #require(mark.blocks(ofSize: size).first)
      return try #require(mark.stacks[block.address])
    }
    func isIn(_ pc: UInt64, _ function: UInt64) -> Bool { pc > function && pc < function + 256 }

    let short = try stack(ofSize: 13001)
    #expect(isIn(short[0], innermost) && isIn(short[1], middle))
    #expect(short[2...7].allSatisfy { isIn($0, recurse) })
    #expect(short.count >= 9)  // stacks() and main
    let deep = try stack(ofSize: 13002)
    #expect(deep.count >= 256)
    #expect(deep[2..<200].allSatisfy { isIn($0, recurse) })
    #expect(isIn(try stack(ofSize: 13003)[0], innermost))
    #expect(isIn(try stack(ofSize: 13004)[0], innermost))
    // A word that can be no code's address ends the walk.
    for size in UInt64(13005)...13008 {
      let lost = try stack(ofSize: size)
      #expect(!lost.isEmpty && lost.allSatisfy { $0 >= 4096 && $0 < 1 << 52 }, "\(lost)")
    }
  }

  @Test("Without stacks none is recorded")
  func noStacks() throws {
    let (marks, _) = try marks(of: "family", environment: ["MEMORY_GRAPH_STACKS": "none"])
    #expect(marks[0].blocks.allSatisfy { $0.stack == 0 })
  }

  @Test("Another process can ask for a mark, and is told what it can't have")
  func askedFromOutside() throws {
    let (marks, output) = try marks(of: "ask_itself")
    #expect(marks.map(\.name) == ["from outside"])
    #expect(
      output
        == "ok\t/nowhere/from-outside.mgraph\nerror\t\(EPROTONOSUPPORT)\tthe mark could not be taken\ndone\n"
    )
    // The agent's own thread is none of the program's.
    #expect(marks[0].threads.count == 1 && marks[0].threads[0].isStopped)
  }

  @Test("A program that is not Swift is left alone, and so is its environment")
  func notSwift() throws {
    let reader = try TestReader()
    let result = try reader.run(
      try AgentPrograms.notSwift.get(), ["environment"], environment: ["OTHER": "stays"])
    // Its check that the variables are gone does not hold.
    #expect(result.status == 99)
    #expect(reader.greetings == 0)
    #expect(result.errors == "")
  }

  @Test("Linked and not started, the agent does nothing")
  func linkedAndInert() throws {
    let result = try Command([try AgentPrograms.linked.get(), "inert"]).run()
    #expect(result.status == 23, "\(result.output)\(result.errors)")
    #expect(result.errors == "")
  }

  @Test("Of two copies the executable's is at work, and the preloaded one hands calls on")
  func linkedAndPreloaded() throws {
    let reader = try TestReader()
    let result = try reader.run(try AgentPrograms.linked.get(), ["generations"])
    #expect(result.status == 23, "\(result.output)\(result.errors)")
    #expect(reader.greetings == 1)
    #expect(reader.marks.map(\.name) == ["a", "b", "c"])
    #expect(reader.marks[2].blocks(ofSize: 30003).map(\.generation) == [2])
    let environment = try TestReader().run(
      try AgentPrograms.linked.get(), ["environment"], environment: ["OTHER": "stays"])
    #expect(environment.status == 23, "\(environment.output)")
  }

  @Test("Loaded when the program runs already, the agent says why it can't work")
  func loadedTooLate() throws {
    let result = try Command([
      try AgentPrograms.modes.get(), "late", AgentPrograms.library,
    ]).run()
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.hasPrefix("\(ENOTSUP) the agent was loaded after the program had begun"))
  }
}
