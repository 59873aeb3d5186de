// Tests of capture where no process may trace another: the agent's snapshots are whole all the same.

import Glibc
import GraphPrimitives
import SnapshotFormat
import Testing

@testable import HeapCapture

@Suite(.serialized) struct NoTraceTests {
  /// What a program is forbidden.
  struct Restriction: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var options: [String] = []
    var isDumpable = true
    /// Whether only root can set it up, who then is another user.
    var needsRoot = false
  }

  /// A user without privileges.
  static let nobody = "65534"

  static let restrictions = [
    Restriction(testDescription: "no ptrace and no process_vm_readv", options: ["--no-trace"]),
    Restriction(
      testDescription: "not dumpable, another user", options: ["--user", nobody],
      isDumpable: false, needsRoot: true),
    Restriction(
      testDescription: "not dumpable, another user, no process_vm_readv",
      options: ["--no-trace", "--user", nobody], isDumpable: false, needsRoot: true),
  ]

  /// Whether a program of the build folder can be run by another user.
  static let isReachableByOthers: Bool = {
    var path = OutsideProgram.folder
    while !path.isEmpty {
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & 0o001 != 0 else { return false }
      path = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }
    return true
  }()

  @Test("The agent's snapshot has the graph that a tracer sees", arguments: restrictions)
  func sameGraph(under restriction: Restriction) throws {
    if restriction.needsRoot, geteuid() != 0 || !Self.isReachableByOthers { return }
    let program = try OutsideProgram(
      ["graph"] + (restriction.isDumpable ? [] : ["undumpable"]), withAgent: true,
      restrictions: restriction.options)
    let twin = try Snapshot(contentsOf: try program.mark("twin"))
    // This process is under no restriction.
    let attached = try captureProcess(program.pid)
    #expect(twin.process.source == "twin" && attached.snapshot.process.source == "pid")
    #expect(!twin.process.isPartial)
    #expect(twin.process.executable == attached.snapshot.process.executable)
    #expect(twin.modules == attached.snapshot.modules)
    #expect(twin.process.memory["resident"] ?? 0 > 1 << 20)
    let graphs = OutsideCaptureTests.programParts(twin: twin, attached: attached.snapshot)
    #expect(graphs.attached.difference(from: graphs.twin) == [])
    #expect(graphs.twin.nodes.count { $0.type == "OutsideTarget.Node" } == 245)
    #expect(program.children() == [], "the twin is gone")
    #expect(program.finish().status == 0)
  }

  @Test("A twin that serves no more gives nothing, and no signal")
  func nobodyServes() throws {
    var ends: [Int32] = [-1, -1]
    #expect(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
    close(ends[0])
    let served = ServedMemory(socket: ends[1])
    #expect(served.bytes(of: .maps) == nil)
    var word: UInt64 = 7
    #expect(withUnsafeMutableBytes(of: &word) { served.read(0x1000, into: $0) } == 0)
    #expect(throws: CaptureError.self) {
      try ProcessMemory(pid: getpid(), name: "twin", served: served)
    }
  }

  @Test("What is no answer ends the reading, whatever it is")
  func nonsense() throws {
    for seed in 0..<200 as Range<UInt64> {
      var ends: [Int32] = [-1, -1]
      #expect(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
      var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
      func random(below limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
      }
      // Messages of all lengths, whose headers say this and that.
      for _ in 0..<random(below: 8) {
        let bytes = (0..<random(below: 200)).map { at in
          UInt8(at == 0 ? random(below: 200) : at < 8 ? 0 : random(below: 256))
        }
        _ = send(ends[0], bytes, bytes.count, 0)
      }
      shutdown(ends[0], Int32(SHUT_WR))
      let served = ServedMemory(socket: ends[1])
      var buffer = [UInt8](repeating: 0, count: 64 + 8)
      let count = buffer.withUnsafeMutableBytes {
        served.read(0, into: UnsafeMutableRawBufferPointer(rebasing: $0[..<64]))
      }
      #expect((0...64).contains(count))
      #expect(buffer[64...].allSatisfy { $0 == 0 })
      _ = served.bytes(of: .maps)
      close(ends[0])
    }
  }
}
