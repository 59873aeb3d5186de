// What a conservative scan and the capture say differently of the same memory, each difference explained.

import Foundation
import GraphPrimitives
import HeapCapture
import HeapGraph
import SnapshotFormat
import Synchronization
import Testing

@Suite struct DifferentialTests {
  /// Why a scan without types and counts reaches what the capture calls leaked, or the other way round.
  enum Reason: String {
    /// The counts of the object are explained by others: the word is left over, or borrowed.
    case staleWord

    /// The word points into the middle of a counted object: whoever put it there borrows it.
    case borrowedInterior

    /// The word lies in a destroyed object, or is one of a task's or of libdispatch's freed memory.
    case deadMemory

    /// The type says that the reference doesn't hold.
    case weakReference

    /// The pointer has an enum's case in bits that addresses don't use, or a string's flags.
    case taggedPointer

    /// libdispatch turns the bits of a pointer over.
    case hiddenPointer

    /// Nobody counts references to it, or its destruction is under way.
    case immortal

    /// The holder's metadata is read beyond the bytes that were asked for.
    case usableSize
  }

  static let cases = [
    "actor-queue", "containers", "delegate-cycle", "dispatch-timer", "dropped-continuation",
    "enum-payload", "finished-task", "hidden-pointers", "indirect-enum", "mapped-memory",
    "nested-weak", "read-source", "sleeping-task", "task-group", "task-island", "timer-thread",
    "unmanaged-retain", "unowned-zombies", "work-item",
  ]

  @Test("Each difference from a conservative scan has a reason", arguments: cases)
  func explained(_ name: String) throws {
    let comparison = try Comparison.ofLastMark(of: name)
    #expect(comparison.objectCount > 5)
    #expect(comparison.unexplained == [])
    // The scan is no mirror of the capture: where the kind of a case is what it can't see, it differs.
    switch name {
    case "hidden-pointers":
      #expect(comparison.reasons[.taggedPointer, default: 0] > 0)
    case "nested-weak", "delegate-cycle", "containers":
      #expect(comparison.bothLeaked > 0)
    default:
      break
    }
  }

  /// The two answers about one frozen twin.
  struct Comparison: Sendable {
    var objectCount = 0
    var bothLeaked = 0
    var reasons: [Reason: Int] = [:]
    var unexplained: [String] = []

    static func ofLastMark(of name: String) throws -> Comparison {
      let last = Mutex<Result<Comparison, any Error>?>(nil)
      let reader = try TestReader(inspecting: { request, source in
        guard request.path.hasSuffix("round-3.mgraph") else { return }
        let result = Result { try Comparison(of: request, source) }
        last.withLock { $0 = result }
      })
      let program = AgentPrograms.products.appendingPathComponent("LeakCases").path
      let result = try reader.run(program, [name])
      #expect(result.status == 0, "\(result.errors)")
      guard let comparison = last.withLock({ $0 }) else { throw AgentTestError("no mark round-3") }
      return try comparison.get()
    }
  }
}

extension DifferentialTests.Comparison {
  typealias Reason = DifferentialTests.Reason

  init(of request: SnapshotRequest, _ source: ProcessMemory) throws {
    let memory = TargetMemory(source)
    let tables = try AgentTables(memory: memory, state: request.state)
    let snapshot = try captureSnapshot(source: memory.source, state: request.state)
    let sides = _Sides(
      memory: memory, snapshot: snapshot, graph: try HeapGraph(snapshot),
      scan: ConservativeScan(memory: memory, tables: tables))
    for row in 0..<snapshot.nodes.count {
      guard let kind = NodeKind(rawValue: snapshot.nodes.kind[row]), kind.isCounted,
        snapshot.nodes.state[row] != NodeState.deinited.rawValue
      else { continue }
      objectCount += 1
      let isReached = sides.graph.isReachable[row]
      let isScanned = sides.isScanned(row)
      if !isReached && !isScanned { bothLeaked += 1 }
      if isReached == isScanned { continue }
      let (reason, text) =
        isReached ? sides.whyOnlyCaptured(row) : sides.whyOnlyScanned(row)
      if let reason {
        reasons[reason, default: 0] += 1
      } else {
        unexplained.append(text)
      }
    }
  }
}

/// Both answers, and what is needed to say why they differ.
private struct _Sides {
  let memory: TargetMemory
  let snapshot: Snapshot
  let graph: HeapGraph
  let scan: ConservativeScan

  /// For each node the edge that leads to it from what the roots reach; nil for roots' targets and what
  /// nothing reaches.
  private let _parent: [(from: Int, edge: Int)?]
  private let _isFromRoot: [Bool]

  init(memory: TargetMemory, snapshot: Snapshot, graph: HeapGraph, scan: ConservativeScan) {
    self.memory = memory
    self.snapshot = snapshot
    self.graph = graph
    self.scan = scan
    var parent = [(from: Int, edge: Int)?](repeating: nil, count: snapshot.nodes.count)
    var isSeen = [Bool](repeating: false, count: snapshot.nodes.count)
    var isFromRoot = isSeen
    var pending: [Int] = []
    func follow() {
      while let row = pending.popLast() {
        let first = Int(snapshot.edges.firstEdge[row])
        for edge in first..<Int(snapshot.edges.firstEdge[row + 1])
        where EdgeInfo(rawValue: snapshot.edges.info[edge]).isStrong {
          let target = Int(snapshot.edges.target[edge])
          if isSeen[target] { continue }
          isSeen[target] = true
          parent[target] = (row, edge)
          pending.append(target)
        }
      }
    }
    for root in 0..<snapshot.roots.count {
      let target = Int(snapshot.roots.target[root])
      isFromRoot[target] = true
      if isSeen[target] { continue }
      isSeen[target] = true
      pending.append(target)
    }
    follow()
    // What counts as held without a root: immortal objects, objects in destruction.
    for row in 0..<snapshot.nodes.count where graph.isReachable[row] && !isSeen[row] {
      let holdsItself =
        snapshot.nodes.strongCount[row] == Snapshot.Nodes.uncounted
        || snapshot.nodes.state[row] == NodeState.deiniting.rawValue
      if !holdsItself { continue }
      isSeen[row] = true
      pending.append(row)
      follow()
    }
    _parent = parent
    _isFromRoot = isFromRoot
  }

  func isScanned(_ row: Int) -> Bool {
    scan.block(containing: snapshot.nodes.address[row]).map { scan.reachedBy[$0] != nil } ?? true
  }

  /// Why the capture calls a node leaked that the scan reaches: where the scan's way enters what the
  /// capture calls unreachable, the word holds nothing.
  func whyOnlyScanned(_ row: Int) -> (DifferentialTests.Reason?, String) {
    var row = row
    for _ in 0..<snapshot.nodes.count {
      guard let block = scan.block(containing: snapshot.nodes.address[row]),
        let word = scan.reachedBy[block]
      else { break }
      let holder = word.holder.map { self.row(containing: scan.blocks[$0].address, word.place) }
      if let holder, let holder, !graph.isReachable[holder],
        snapshot.nodes.state[holder] != NodeState.deinited.rawValue
      {
        row = holder
        continue
      }
      return explain(word, holder: holder ?? nil, target: row)
    }
    return (nil, "no way of the scan to \(name(row))")
  }

  private func explain(
    _ word: ConservativeScan.Word, holder: Int?, target: Int
  ) -> (DifferentialTests.Reason?, String) {
    let nodes = snapshot.nodes
    let kind = NodeKind(rawValue: nodes.kind[target]) ?? .block
    if let holder {
      if nodes.state[holder] == NodeState.deinited.rawValue { return (.deadMemory, "") }
      switch NodeKind(rawValue: nodes.kind[holder]) {
      case .runtime, .taskSlab, .task: return (.deadMemory, "")
      case .sideTable: return (.weakReference, "")
      default: break
      }
      for edge in Int(snapshot.edges.firstEdge[holder])..<Int(snapshot.edges.firstEdge[holder + 1])
      where Int(snapshot.edges.target[edge]) == target
        && !EdgeInfo(rawValue: snapshot.edges.info[edge]).isStrong
      {
        return (.weakReference, "")
      }
    }
    if kind.isCounted || kind == .cBlock || kind == .coreFoundation {
      let count = nodes.strongCount[target]
      if count != Snapshot.Nodes.uncounted, strongHolders(of: target) >= Int(count) {
        return (.staleWord, "")
      }
      if word.word != nodes.address[target] { return (.borrowedInterior, "") }
    }
    if kind == .taskSlab || kind == .sideTable { return (.deadMemory, "") }
    return (
      nil,
      "the scan reaches \(name(target)) by \(String(word.word, radix: 16)) at "
        + "\(String(word.place, radix: 16)) in \(holder.map(name) ?? "no block"); "
        + "the capture calls it leaked with \(strongHolders(of: target)) of "
        + "\(nodes.strongCount[target]) retains explained"
    )
  }

  /// Why the scan misses what the capture reaches: where the capture's way leaves what the scan reaches,
  /// the pointer is not in memory as it is.
  func whyOnlyCaptured(_ row: Int) -> (DifferentialTests.Reason?, String) {
    var row = row
    while !_isFromRoot[row], let (holder, _) = _parent[row] {
      if isScanned(holder) {
        let address = snapshot.nodes.address[row]
        let range =
          snapshot.nodes.address[
            holder]..<(snapshot.nodes.address[holder]
          + snapshot.nodes.bytes(holder))
        for place in stride(from: range.lowerBound, to: range.upperBound & ~7, by: 8) {
          guard let word = memory.word(at: place) else { continue }
          if word != address,
            word & 0x00ff_ffff_ffff_fff8 == address
              || word & 0x00ff_ffff_ffff_fff8 == address - 32
          {
            return (.taggedPointer, "")
          }
          if ~word == address { return (.hiddenPointer, "") }
        }
        // Array storage and the like use all that the allocator gave.
        for place in stride(from: range.upperBound & ~7, to: range.upperBound + 64, by: 8)
        where memory.word(at: place).map({ $0 & 0x00ff_ffff_ffff_fff8 == address }) ?? false {
          return (.usableSize, "")
        }
        return (nil, "the capture reaches \(name(row)) from \(name(holder)), the scan does not")
      }
      row = holder
    }
    if snapshot.nodes.strongCount[row] == Snapshot.Nodes.uncounted
      || snapshot.nodes.state[row] == NodeState.deiniting.rawValue
    {
      return (.immortal, "")
    }
    return (
      _isFromRoot[row] ? tagOfRoot(to: row) : nil,
      "the capture reaches \(name(row)) from a root, the scan does not"
    )
  }

  /// A root's word that carries a tag.
  private func tagOfRoot(to row: Int) -> DifferentialTests.Reason? {
    for root in 0..<snapshot.roots.count where Int(snapshot.roots.target[root]) == row {
      guard let word = memory.word(at: snapshot.roots.address[root]) else { continue }
      if word != snapshot.nodes.address[row], snapshot.roots.address[root] != 0 {
        return .taggedPointer
      }
    }
    return nil
  }

  private func strongHolders(of row: Int) -> Int {
    var count = 0
    for edge in 0..<snapshot.edges.count
    where Int(snapshot.edges.target[edge]) == row
      && EdgeInfo(rawValue: snapshot.edges.info[edge]).isStrong
    {
      count += 1
    }
    return count
  }

  /// The node that a block's word lies in: a slab is several nodes.
  private func row(containing block: UInt64, _ place: UInt64) -> Int? {
    var low = 0
    var high = snapshot.nodes.count
    while low < high {
      let middle = (low + high) / 2
      if snapshot.nodes.address[middle] <= place { low = middle + 1 } else { high = middle }
    }
    return low > 0 && snapshot.nodes.address[low - 1] >= block ? low - 1 : nil
  }

  private func name(_ row: Int) -> String {
    let type = TypeIndex(rawValue: snapshot.nodes.type[row])
    return snapshot.strings[snapshot.types.name[type.position]]
      + "@" + String(snapshot.nodes.address[row], radix: 16)
  }
}
