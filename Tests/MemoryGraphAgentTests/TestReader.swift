// TestReader: a reader within the test: it keeps what the agent's tables say at each mark.

import Foundation
import HeapCapture
import SnapshotFormat
import Synchronization

/// A mark as the twin's tables show it.
struct SeenMark: Sendable {
  var path: String
  var name: String
  var blocks: [HeapBlock]
  var threads: [ThreadState]
  var registrations: [Registration]
  var edges: [DeclaredEdge]
  var marks: [Snapshot.Mark]

  /// The return addresses of each block's stack, innermost first.
  var stacks: [UInt64: [UInt64]]

  /// The blocks of a size.
  func blocks(ofSize size: UInt64) -> [HeapBlock] { blocks.filter { $0.size == size } }
}

/// Listens as `memgraph run` does, and reads the twins' tables.
final class TestReader: Sendable {
  let path: String
  private let _socket: Int32
  private let _answer: ChannelAnswer?
  private let _ways: [ProcessMemory.Way]
  private let _probe: @Sendable (ProcessMemory) throws -> Void
  private let _inspect: (@Sendable (SnapshotRequest, ProcessMemory) throws -> Void)?
  private let _seen = Mutex<(marks: [SeenMark], greetings: Int)>(([], 0))

  /// - Parameters:
  ///   - answer: what the agent is told at each mark; nil: the reader ends without an answer.
  ///   - ways: the ways to the twin's memory that are tried.
  ///   - inspect: what is done at each mark instead of keeping what the tables say.
  ///   - probe: what else is to be looked at in each twin's memory.
  init(
    answering answer: ChannelAnswer? = .ok, ways: [ProcessMemory.Way] = ProcessMemory.Way.allCases,
    probing probe: @escaping @Sendable (ProcessMemory) throws -> Void = { _ in },
    inspecting inspect: (@Sendable (SnapshotRequest, ProcessMemory) throws -> Void)? = nil
  ) throws {
    _answer = answer
    _ways = ways
    _probe = probe
    _inspect = inspect
    path = try AgentPrograms.folder.get()
      .appendingPathComponent(String(UUID().uuidString.prefix(8))).path
    _socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw AgentTestError("the temporary folder's path is too long for a socket")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(_socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0, listen(_socket, 16) == 0 else {
      throw AgentTestError("no socket: \(String(cString: strerror(errno)))")
    }
    Thread.detachNewThread { [self] in _acceptAll() }
  }

  deinit { close(_socket) }

  var marks: [SeenMark] { _seen.withLock { $0.marks } }
  var greetings: Int { _seen.withLock { $0.greetings } }

  /// Runs a program under the preloaded agent, to its end.
  func run(
    _ program: String, _ arguments: [String] = [], preloading: Bool = true,
    environment more: [String: String] = [:]
  ) throws -> Command.Result {
    var environment = more
    environment["MEMORY_GRAPH_CHANNEL"] = path
    environment["MEMORY_GRAPH_OUT"] = environment["MEMORY_GRAPH_OUT"] ?? "/nowhere"
    if preloading { environment["LD_PRELOAD"] = AgentPrograms.library }
    let result = try Command([program] + arguments, environment: environment).run()
    shutdown(_socket, Int32(SHUT_RDWR))
    return result
  }

  private func _acceptAll() {
    while true {
      let connection = accept(_socket, nil, nil)
      if connection < 0 { return }
      if let (line, served) = receiveRequest(from: connection) { _serve(line, served, connection) }
      close(connection)
    }
  }

  private func _serve(_ line: String, _ served: ServedMemory?, _ connection: Int32) {
    switch ChannelMessage(line) {
    case .hello: _seen.withLock { $0.greetings += 1 }
    case .snapshot(let request):
      var answer = _answer
      do {
        let memory = try ProcessMemory(
          pid: request.twin, name: "twin", served: served, ways: _ways)
        if let _inspect {
          try _inspect(request, memory)
        } else {
          let mark = try Self._read(request, memory)
          try _probe(memory)
          _seen.withLock { $0.marks.append(mark) }
        }
      } catch {
        answer = .error(errno: EIO, sentence: "\(error)")
      }
      if let answer { _ = writeAll(answer.line, to: connection) }
    case nil:
      _ = writeAll(
        ChannelAnswer.error(errno: EPROTO, sentence: "not understood: \(line)").line, to: connection
      )
    }
  }

  private static func _read(
    _ request: SnapshotRequest, _ process: ProcessMemory
  ) throws -> SeenMark {
    let memory = TargetMemory(process)
    let tables = try AgentTables(memory: memory, state: request.state)
    var blocks: [HeapBlock] = []
    tables.forEachBlock { blocks.append($0) }
    let trie = tables.stackTrie()
    var stacks: [UInt64: [UInt64]] = [:]
    for block in blocks {
      var row = Int(tables.trieRow(ofStack: block.stack, trieCount: trie.pcs.count))
      var pcs: [UInt64] = []
      while row != 0 {
        pcs.append(trie.pcs[row])
        row = Int(trie.parents[row])
      }
      stacks[block.address] = pcs
    }
    return SeenMark(
      path: request.path, name: tables.facts.markName, blocks: blocks, threads: tables.threads(),
      registrations: tables.registrations(), edges: tables.declaredEdges(), marks: tables.marks(),
      stacks: stacks)
  }
}
