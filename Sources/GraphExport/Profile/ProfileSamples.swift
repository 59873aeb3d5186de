// ProfileSamples: what is alive, summed up by stack or by the way that holds it.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat
internal import Symbolication

/// What a profile is told by.
package enum ProfileKind: String, CaseIterable, Sendable {
  /// Where objects were allocated.
  case stack

  /// What holds them: the way from a root as a stack.
  case path
}

/// What is alive of some snapshots, summed up by frames, type and generation.
///
/// Not thread-safe.
struct ProfileSamples {
  /// Objects that are alike.
  struct Key: Hashable {
    /// The snapshot that they are of.
    var snapshot: Int

    /// The call that made them, or the place where they are held; -1 for unknown.
    var call: Int

    /// The row of their name.
    var name: UInt32

    /// nil for unknown.
    var generation: UInt16?
    var isLeaked: Bool
  }

  let kind: ProfileKind

  /// The sums in the order in which their first objects were met.
  private(set) var samples: [(key: Key, cost: Cost)] = []

  /// Whether the sums are estimates, since allocations were sampled.
  private(set) var areEstimates = false

  private(set) var objectNames = ObjectNames()
  private(set) var marks: [GenerationNames] = []
  private var _referenceNames = ReferenceNames()
  private var _code = CodeTree()
  private var _places = RetainPlaces()

  /// Sums up.
  ///
  /// - Complexity: O(*V*) by stack, O(*V* + *E*) by path.
  init(_ snapshots: [ExportedSnapshot], by kind: ProfileKind) throws {
    self.kind = kind
    areEstimates = kind == .stack && snapshots.contains { $0.graph.snapshot.sampling != nil }
    var births: [BirthCost] = []
    var rowByKey: [Key: Int] = [:]
    var callsBySnapshot: [[Int]] = []
    for exported in snapshots {
      objectNames.startSnapshot(exported.graph)
      _referenceNames.startSnapshot(exported.graph)
      _code.startSnapshot()
      marks.append(GenerationNames(exported.names))
      let graph = exported.graph
      switch kind {
      case .stack:
        callsBySnapshot.append(
          graph.nodes.map { Int(_code.call(of: graph.stack(of: $0), names: exported.names)) })
      case .path:
        try _places.add(
          exported, objectNames: &objectNames, referenceNames: &_referenceNames)
        callsBySnapshot.append(_places.placeByNode.map { Int($0) })
      }
    }
    if kind == .stack {
      let shown = _code.callsWithoutAllocators()
      for place in callsBySnapshot.indices {
        for node in callsBySnapshot[place].indices {
          let call = callsBySnapshot[place][node]
          callsBySnapshot[place][node] = call == 0 ? -1 : Int(shown[call])
        }
      }
    }
    for (place, exported) in snapshots.enumerated() {
      let graph = exported.graph
      var isLeaked = [Bool](repeating: false, count: graph.nodeCount)
      for node in try exported.leaks().leakedNodes { isLeaked[node.position] = true }
      objectNames.startSnapshot(graph)
      for node in liveNodes(of: graph) {
        let key = Key(
          snapshot: place, call: callsBySnapshot[place][node.position],
          name: objectNames.row(of: node, graph: graph, names: exported.names),
          generation: graph.snapshot.sampling == nil || graph.snapshot.knowsBirth(of: node)
            ? graph.snapshot.nodes.generation[node.position] : nil,
          isLeaked: isLeaked[node.position])
        if areEstimates {
          let cost = graph.birthCost(of: node)
          if cost.samples == 0 { continue }
          if let row = rowByKey[key] {
            births[row] += cost
          } else {
            rowByKey[key] = samples.count
            samples.append((key, .zero))
            births.append(cost)
          }
        } else if let row = rowByKey[key] {
          samples[row].cost += graph.cost(of: node)
        } else {
          rowByKey[key] = samples.count
          samples.append((key, graph.cost(of: node)))
        }
      }
    }
    for row in births.indices { samples[row].cost = births[row].rounded }
  }

  /// The frames of a sample, innermost first; outermost that it is an estimate.
  ///
  /// - Complexity: O(frames).
  func frames(of key: Key) -> [ProfileFrame] {
    var frames: [ProfileFrame] = []
    var call = key.call
    switch kind {
    case .stack:
      if call < 0 { return areEstimates ? [.unknown, .estimate] : [.unknown] }
      while call > 0 {
        frames.append(.code(Int(_code.frameByCall[call])))
        call = Int(_code.callers[call])
      }
      if areEstimates { frames.append(.estimate) }
    case .path:
      frames.append(.object(Int(key.name)))
      while call >= 0 {
        frames.append(.place(_places.tree.steps[call].field))
        call = _places.tree.parents[call]
      }
    }
    return frames
  }

  /// What a frame is called, and where it is in the source.
  func source(of frame: ProfileFrame) -> SourceFrame {
    switch frame {
    case .unknown: return Self.plain("(no stack is known)")
    case .estimate: return Self.plain("(estimated from samples)")
    case .object(let row): return Self.plain(objectNames.names[row].name)
    case .place(let text): return Self.plain(_places.text(numbered: text))
    case .code(let row):
      var frame = _code.frames[row]
      frame.function = Names.sourceSpelling(of: frame.function)
      return frame
    }
  }

  private static func plain(_ text: String) -> SourceFrame {
    SourceFrame(function: text, file: nil, line: nil, module: nil, isInlined: false)
  }
}

/// One frame of a sample.
enum ProfileFrame: Hashable {
  /// A function on a stack, by its row.
  case code(Int)

  /// What holds, by the number of its text.
  case place(Int)

  /// What is held, by the row of its name.
  case object(Int)

  /// Outermost where the sum is an estimate.
  case estimate

  /// In place of a stack that nobody took.
  case unknown
}
