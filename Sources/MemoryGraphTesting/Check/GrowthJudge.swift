// GrowthJudge: whether what a body leaves behind becomes more with each repetition.

internal import CMemoryGraphHooks
internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat
internal import Synchronization

/// Repeats a body and counts, after each time, the objects of each allocation stack, and how long the containers and texts
/// among them are. Where none becomes more for half of all repetitions, nothing grows. Else snapshots at five of the
/// repetitions say what grows, and who holds it.
///
/// That a container becomes longer is told where all repetitions show it: what is in it may be another response each
/// time, and five of them may happen to be longer and longer.
struct GrowthJudge: Judge {
  let scope: CheckScope
  private let _subject: CheckSubject
  private let _accepted: AcceptedFindings
  private let _limit: Int
  private let _marks: [Int]
  private var _done = 0
  private var _hasRun = false
  private var _settling = Settling()

  /// The most objects of each stack that there were so far, and when the last of these records was broken.
  private var _record: [UInt32: Int] = [:]
  private var _lastRise = 0

  /// How long containers are after each repetition, by the stack that asked for their storage and by its type.
  private var _lengths: [LengthKey: [Int]] = [:]

  private enum LengthKey: Hashable {
    case stack(UInt32)
    case type(UInt64)
  }

  private let _study = StudiedMarks()
  private var _isOver = false
  private var _answer: CheckFailure?

  init(
    _ scope: CheckScope, of subject: CheckSubject, iterations: Int, accepted: AcceptedFindings
  ) {
    self.scope = scope
    _subject = subject
    _accepted = accepted
    _limit = max(2, iterations)
    _marks = Self.marks(in: _limit)
  }

  /// Makes a judge; a problem where the file of known findings can't be read.
  static func make(
    _ scope: CheckScope, of subject: CheckSubject, iterations: Int, ignoring ignored: [String],
    known: String?
  ) -> Result<GrowthJudge, CheckProblem> {
    Result { () throws(CheckProblem) in
      GrowthJudge(
        scope, of: subject, iterations: iterations,
        accepted: try AcceptedFindings(ignoring: ignored, known: known, source: subject.source))
    }
  }

  /// The repetitions after which snapshots may be taken: the first comes after an eighth, in which caches and
  /// lazy variables are filled.
  static func marks(in iterations: Int) -> [Int] {
    let warmUp = max(1, iterations / 8)
    let steps = min(4, iterations - warmUp)
    return (0...steps).map { warmUp + $0 * (iterations - warmUp) / steps }
  }

  mutating func next() -> CheckStep {
    if _isOver { return .done(_answer) }
    if _hasRun {
      let objects = Survivors.objects(among: scope.blocks)
      if _marks.contains(_done) {
        // What a task still has is waited for where it is looked at.
        let mayGo = Survivors.hasTask(among: objects)
        if let pause = _settling.pause(for: objects, mayGo: mayGo) { return .wait(pause) }
        _hasRun = false
        if let step = _look(at: objects) { return step }
      }
      _hasRun = false
      _count(objects)
      if _isFlat { return .done(nil) }
    }
    if _done == _limit { return .done(nil) }
    _done += 1
    _hasRun = true
    _settling = Settling()
    return .run
  }

  /// Whether nothing has become more for half of all repetitions.
  private var _isFlat: Bool { _done - max(_lastRise, _marks[0]) >= _limit / 2 }

  /// Takes note of records.
  private mutating func _count(_ objects: [memory_graph_survivor]) {
    var counts: [UInt32: Int] = [:]
    for object in objects { counts[object.stack, default: 0] += 1 }
    for (stack, count) in counts where count > _record[stack] ?? 0 {
      _record[stack] = count
      _lastRise = _done
    }
    var lengths: [LengthKey: Int] = [:]
    for (object, type, length) in Survivors.lengths(of: objects) {
      lengths[.stack(object.stack), default: 0] += length
      lengths[.type(type), default: 0] += length
    }
    for (key, length) in lengths {
      var numbers = _lengths[key] ?? []
      if length > numbers.max() ?? 0 { _lastRise = _done }
      // Where there was none before it was 0; what is counted twice is counted anew.
      numbers = Array(numbers.prefix(_done - 1))
      numbers += repeatElement(0, count: _done - 1 - numbers.count)
      numbers.append(length)
      _lengths[key] = numbers
    }
  }

  /// The containers that have become longer over all repetitions.
  private func _lengthening(_ objects: [memory_graph_survivor]) -> Set<HiddenAddress> {
    func grows(_ key: LengthKey) -> Bool {
      guard let all = _lengths[key], all.count == _done else { return false }
      let numbers = Array(all.dropFirst(_marks[0] - 1))
      return zip(numbers, numbers.dropFirst()).allSatisfy { $0 <= $1 }
        && GrowthTrend(of: numbers) == .growing
    }
    var found: Set<HiddenAddress> = []
    for (object, type, _) in Survivors.lengths(of: objects)
    where grows(.stack(object.stack)) || grows(.type(type)) {
      found.insert(HiddenAddress(object.address))
    }
    return found
  }

  /// What to do at a mark with the objects that are there.
  private mutating func _look(at objects: [memory_graph_survivor]) -> CheckStep? {
    _count(objects)
    let isLast = _done == _limit
    if objects.isEmpty || _isFlat {
      if isLast || _isFlat { return .done(nil) }
      _study.addNothing(at: _done)
      return nil
    }
    // Since the last snapshot nothing became more: this mark would be like that one.
    if _study.hasSnapshot, _lastRise <= _study.lastIteration, !isLast {
      _study.repeatLast(at: _done)
      return nil
    }
    let (scope, accepted, subject, study, done) = (scope, _accepted, _subject, _study, _done)
    let before = Set(objects.map { HiddenAddress($0.address) })
    let longer = isLast ? _lengthening(objects) : []
    return .examine { examination in
      let wanted = before.intersection(scope.blocks.lazy.map { HiddenAddress($0.address) })
      study.add(examination.graph.snapshot, wanted: wanted, at: done)
      guard isLast else { return Evidence() }
      return try study.judge(examination, of: subject, accepting: accepted, longer: longer)
    }
  }

  mutating func take(_ evidence: Evidence) {
    guard _done == _limit else { return }
    _isOver = true
    _answer = evidence.failure
  }
}

/// The marks of a study: snapshots, and which blocks in them count.
private final class StudiedMarks: Sendable {
  private struct Mark: Sendable {
    var iteration: Int
    var snapshot: Snapshot?
    var wanted: Set<HiddenAddress>
  }

  private let _marks = Mutex<[Mark]>([])

  private static let cMemory: Set<NodeKind> = [.block, .cBlock, .cStorage, .coreFoundation]

  /// So few marks can't show more than a rise.
  private static let fewMarks = 4

  var hasSnapshot: Bool { _marks.withLock { $0.contains { $0.snapshot != nil } } }
  var lastIteration: Int { _marks.withLock { $0.last { $0.snapshot != nil }?.iteration ?? 0 } }

  func add(_ snapshot: Snapshot, wanted: Set<HiddenAddress>, at iteration: Int) {
    _marks.withLock {
      $0.append(Mark(iteration: iteration, snapshot: snapshot, wanted: wanted))
    }
  }

  func addNothing(at iteration: Int) {
    _marks.withLock { $0.append(Mark(iteration: iteration, snapshot: nil, wanted: [])) }
  }

  func repeatLast(at iteration: Int) {
    _marks.withLock { marks in
      guard var last = marks.last else { return }
      last.iteration = iteration
      marks.append(last)
    }
  }

  /// What grows over the marks, of which the last is an examination's.
  ///
  /// - Parameter longer: The containers that may be said to become longer.
  func judge(
    _ examination: Examination, of subject: CheckSubject, accepting accepted: AcceptedFindings,
    longer: Set<HiddenAddress>
  ) throws -> Evidence {
    let marks = _marks.withLock { $0 }
    var study = GrowthStudy()
    let checking = examination.checkingTasks
    for (place, mark) in marks.enumerated() {
      // A mark without objects of the scope: any graph does, of which nothing is counted.
      var graph = examination.graph
      if place < marks.count - 1, let snapshot = mark.snapshot { graph = try HeapGraph(snapshot) }
      let wanted = Set(mark.wanted.compactMap { graph.node(at: Address($0.address)) })
      try study.add(graph, callers: graph.tasks(numbered: checking)) { wanted.contains($0) }
    }
    var values = try study.values(
      last: examination.graph, callers: examination.graph.tasks(numbered: checking))
    values.growing.removeAll { growth in
      guard let length = growth.length else { return false }
      return !length.nodes.contains {
        longer.contains(HiddenAddress(examination.graph.address(of: $0).rawValue))
      }
    }
    let names = examination.names
    values.growing.removeAll { growth in
      // What a check can't be sure of yet: one rise in all repetitions is something that was needed for the first time, and
      // words of C memory that may be references may be old ones.
      let rises = zip(growth.costs, growth.costs.dropFirst()).count { $0.count < $1.count }
      let isUnsure =
        growth.finding.path.map { path in
          path.steps.contains {
            names.isUnsure($0) && Self.cMemory.contains(names.kind(of: $0.node))
          }
        } ?? false
      return growth.length == nil && marks.count > Self.fewMarks && rises < (isUnsure ? 3 : 2)
    }
    let told = values.growing.filter(\.isOwn).map(\.finding)
    let judged = try accepted.judge(told, in: examination)
    let fingerprints = Set(judged.open.map(\.fingerprint))
    values.growing.removeAll { !$0.isOwn || !fingerprints.contains($0.finding.fingerprint) }
    values.settled = []
    values.omittedCount = 0
    var evidence = Evidence(
      accounted: examination.addresses(of: Set(told.flatMap(\.members))))
    if values.growing.isEmpty { return evidence }
    let inputs = marks.map { mark in
      ReportInput(path: "iteration \(mark.iteration)", snapshot: examination.graph.snapshot)
    }
    let report = ReportWithKnown(
      GrowthReport(
        values, inputs: inputs, types: [], names: examination.names,
        unit: .iterations(at: marks.map(\.iteration))),
      rows: judged.expired, openCount: judged.open.count)
    evidence.failure = CheckFailure(
      report, findings: judged.open, of: subject, in: examination)
    return evidence
  }
}

extension HeapGraph {
  /// The tasks to which the runtime gave some numbers, which they keep from snapshot to snapshot.
  fileprivate func tasks(numbered ids: Set<UInt64>) -> Set<NodeIndex> {
    let tasks = snapshot.tasks
    return Set(
      (0..<tasks.count).filter { ids.contains(tasks.id[$0]) }.map {
        NodeIndex(rawValue: tasks.node[$0])
      })
  }
}
