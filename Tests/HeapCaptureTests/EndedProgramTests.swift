// Tests of programs that end while they are read: there is no snapshot, whatever had been read by then.

import Glibc
import SnapshotFormat
import Testing

@testable import HeapCapture

@Suite(.serialized) struct EndedProgramTests {
  /// A program's memory that does something to the program before one of the reads.
  private final class Interrupted: MemorySource {
    private let _base: any MemorySource
    private let _last: Int
    private let _interrupt: () -> Void
    private(set) var readCount = 0

    init(_ base: any MemorySource, before last: Int, interrupt: @escaping () -> Void) {
      _base = base
      _last = last
      _interrupt = interrupt
    }

    func read(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
      if readCount == _last { _interrupt() }
      readCount += 1
      return _base.read(address, into: buffer)
    }

    var mappings: [MemoryMapping] { _base.mappings }
    var name: String { _base.name }
    var executable: String { _base.executable }
    var residentBytes: UInt64 { _base.residentBytes }
    var residentPages: ResidentPages? { _base.residentPages }
    var isStillThere: Bool { _base.isStillThere }
    func localFiles(of mapping: MemoryMapping) -> [[UInt8]] { _base.localFiles(of: mapping) }
    func hasOwnPages(_ range: Range<UInt64>) -> Bool { _base.hasOwnPages(range) }
  }

  /// Ends a process and waits until it has, so that its memory is gone.
  private static func end(_ pid: Int32) {
    kill(pid, SIGKILL)
    while let pages = readWholeFile("/proc/\(pid)/statm"), !pages.hasPrefix("0 ") { usleep(100) }
  }

  /// How many reads a whole capture takes.
  private func readsOfAttach() throws -> Int {
    let program = try OutsideProgram(["graph"])
    var source: Interrupted?
    _ = try captureProcess(program.pid) { (pid) throws(CaptureError) in
      let made = Interrupted(try openProcess(pid), before: -1) {}
      source = made
      return made
    }
    return source?.readCount ?? 0
  }

  @Test("Attaching to a program that ends is refused, whichever read meets its end")
  func attach() throws {
    let count = try readsOfAttach()
    #expect(count > 40)
    // The first reads are made while it stands still, the last ones afterwards.
    for last in stride(from: 0, to: count, by: max(1, count / 24)) {
      let program = try OutsideProgram(["graph"])
      let pid = program.pid
      var source: Interrupted?
      var problem: CaptureError?
      do throws(CaptureError) {
        _ = try captureProcess(pid) { (number) throws(CaptureError) in
          let made = Interrupted(try openProcess(number), before: last) { Self.end(pid) }
          source = made
          return made
        }
      } catch {
        problem = error
      }
      // One capture may take a few reads less than another, and then nothing has ended it.
      if let source, source.readCount <= last {
        #expect(problem == nil && last > count * 3 / 4, "read \(last) of \(count)")
        Self.end(pid)
      } else {
        #expect(problem == .endedMeanwhile(pid: pid), "read \(last) of \(count)")
      }
      _ = program.waitForEnd()
    }
  }

  @Test("A program that becomes another while it is read is another program")
  func becomesAnother() throws {
    let program = try OutsideProgram(["exec-at-signal"])
    let pid = program.pid
    let count = try readsOfAttach()
    #expect(throws: CaptureError.endedMeanwhile(pid: pid)) {
      try captureProcess(pid) { (number) throws(CaptureError) in
        Interrupted(try openProcess(number), before: count - 4) {
          let before = readWholeFile("/proc/\(pid)/cmdline")
          kill(pid, SIGUSR2)
          for _ in 0..<4_000 where readWholeFile("/proc/\(pid)/cmdline") == before { usleep(1_000) }
        }
      }
    }
  }

  @Test("A program that ends at any moment gives its whole graph or none", arguments: 0..<20)
  func anyMoment(round: Int) throws {
    let program = try OutsideProgram(["graph"])
    let pid = program.pid
    var thread = pthread_t()
    let delay = UnsafeMutablePointer<(pid: Int32, microseconds: UInt32)>.allocate(capacity: 1)
    delay.initialize(to: (pid, UInt32(round) * 6_000))
    pthread_create(
      &thread, nil,
      { context in
        guard let delay = context?.load(as: (pid: Int32, microseconds: UInt32).self) else {
          return nil
        }
        usleep(delay.microseconds)
        kill(delay.pid, SIGKILL)
        return nil
      }, delay)
    do throws(CaptureError) {
      let graph = OutsideCaptureTests.Graph(try captureProcess(pid).snapshot)
      #expect(graph.nodes.count { $0.type == "OutsideTarget.Node" } == 245)
    } catch {
      #expect([.endedMeanwhile(pid: pid), .noSuchProcess(pid: pid)].contains(error), "\(error)")
    }
    pthread_join(thread, nil)
    delay.deallocate()
    _ = program.waitForEnd()
  }

  @Test("The tool says that the program ended, and leaves no file")
  func tool() throws {
    let program = try OutsideProgram(["graph"])
    let folder = program.pid
    let output = "/tmp/memory-graph-test-\(folder).mgraph"
    kill(program.pid, SIGKILL)
    var information = siginfo_t()
    waitid(P_PID, id_t(program.pid), &information, WEXITED | WNOWAIT)
    let text = ScratchFile([])
    let status = try OutsideProgram.run(
      "memgraph", ["attach", "\(program.pid)", "-o", output], output: text.path)
    #expect(status >> 8 == 4)
    #expect(access(output, F_OK) != 0)
    #expect(
      readWholeFile(text.path) == "memgraph: process \(program.pid): there is no such process\n")
    _ = program.waitForEnd()
  }

  @Test("A twin that ends while it is read gives no snapshot, whichever read meets its end")
  func twin() throws {
    var count = 0
    var last = -1
    while last < count {
      let program = try OutsideProgram(["graph"], withAgent: true)
      let stopped = try copyProcess(program.pid)
      let state = try #require(loadImages(of: stopped.memory).address(ofSymbol: "mg_state"))
      let pid = program.pid
      let memory = Interrupted(try ProcessMemory(pid: pid, name: "twin"), before: last) {
        Self.end(pid)
      }
      if last < 0 {
        _ = try captureSnapshot(source: memory, state: state)
        count = memory.readCount - 8
        last = 0
        continue
      }
      var problem: CaptureError?
      do throws(CaptureError) {
        _ = try captureSnapshot(source: memory, state: state)
      } catch {
        problem = error
      }
      // How the heap lies decides how many reads it takes: where this one took fewer, none was interrupted.
      if memory.readCount <= last {
        #expect(problem == nil && last > count * 3 / 4, "read \(last) of \(count)")
        Self.end(pid)
      } else {
        #expect(problem == .endedMeanwhile(pid: 0), "read \(last) of \(count)")
      }
      _ = program.waitForEnd()
      last += max(1, count / 7)
    }
    #expect(count > 20)
  }
}
