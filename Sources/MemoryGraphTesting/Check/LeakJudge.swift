// LeakJudge: whether a body left something behind that no root reaches.

internal import CMemoryGraphHooks
internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph

/// Runs a body, waits for what ends a moment later, and looks for leaks until two looks agree.
///
/// What is on its way from one holder to the next in one look is held for sure in another, and is no leak. What only a
/// word holds that may be left over, on the stack of a thread of another test, say, is looked for again: such words come
/// and go while the threads work.
struct LeakJudge: Judge {
  /// How often it is looked at the most.
  static let looks = 5

  let scope: CheckScope
  private let _subject: CheckSubject
  private let _accepted: AcceptedFindings
  private var _runsLeft: Int
  private var _settling = Settling()
  private var _phase = Phase.settling

  private enum Phase {
    case settling
    case looking(Looks)
    case over(CheckFailure?)
  }

  /// What the looks have shown so far.
  private struct Looks {
    /// The objects that were alive before the first.
    let objects: Set<HiddenAddress>

    /// Those that a look has shown to be leaked, and none after it to be held for sure.
    var suspects: Set<HiddenAddress> = []

    var count = 0
    var pause: Duration?
  }

  init(
    _ scope: CheckScope, of subject: CheckSubject, iterations: Int, accepted: AcceptedFindings
  ) {
    self.scope = scope
    _subject = subject
    _accepted = accepted
    _runsLeft = max(1, iterations)
  }

  /// Makes a judge; a problem where the file of known findings can't be read.
  static func make(
    _ scope: CheckScope, of subject: CheckSubject, iterations: Int = 1, ignoring ignored: [String],
    known: String?
  ) -> Result<LeakJudge, CheckProblem> {
    Result { () throws(CheckProblem) in
      LeakJudge(
        scope, of: subject, iterations: iterations,
        accepted: try AcceptedFindings(ignoring: ignored, known: known, source: subject.source))
    }
  }

  mutating func next() -> CheckStep {
    if _runsLeft > 0 {
      _runsLeft -= 1
      return .run
    }
    switch _phase {
    case .settling:
      let objects = Survivors.objects(among: scope.blocks)
      if let pause = _settling.pause(for: objects, mayGo: Survivors.hasTask(among: objects)) {
        return .wait(pause)
      }
      if objects.isEmpty { return .done(nil) }
      let looks = Looks(objects: Set(objects.map { HiddenAddress($0.address) }))
      _phase = .looking(looks)
      return _look(looks)
    case .looking(var looks):
      if let pause = looks.pause {
        looks.pause = nil
        _phase = .looking(looks)
        return .wait(pause)
      }
      return _look(looks)
    case .over(let failure): return .done(failure)
    }
  }

  private func _look(_ looks: Looks) -> CheckStep {
    let (scope, accepted, subject) = (scope, _accepted, _subject)
    let isLast = looks.count + 1 == Self.looks
    return .examine { examination in
      let leaked = examination.leaks(of: scope, among: looks.objects)
      let addresses = examination.addresses(of: leaked)
      let agreed = leaked.filter { looks.suspects.contains(examination.address(of: $0)) }
      let judgement = try accepted.judge(
        examination.findings(causing: agreed.isEmpty ? leaked : agreed), in: examination)
      var evidence = Evidence()
      evidence.doubtful = examination.doubtful(of: scope, among: looks.objects)
      // What is accepted here is no business of the check around this one, either.
      if judgement.open.isEmpty {
        evidence.accounted = addresses
      } else if agreed.isEmpty || !isLast && !(agreed == leaked && evidence.doubtful.isEmpty) {
        evidence.suspects = addresses
      } else {
        evidence.accounted = addresses
        let report = ReportWithKnown(
          LeaksReport(
            findings: judgement.open, totals: examination.totals, unattributed: .zero,
            isFiltered: true, names: examination.names),
          rows: judgement.expired, openCount: judgement.open.count)
        evidence.failure = CheckFailure(
          report, findings: judgement.open, of: subject, in: examination)
      }
      return evidence
    }
  }

  mutating func take(_ evidence: Evidence) {
    guard case .looking(var looks) = _phase else { return }
    looks.count += 1
    looks.suspects.formIntersection(evidence.doubtful)
    looks.suspects.formUnion(evidence.suspects)
    let isOpen = !looks.suspects.isEmpty || !evidence.doubtful.isEmpty
    if evidence.failure != nil || !isOpen || looks.count == Self.looks {
      _phase = .over(evidence.failure)
      return
    }
    // A leak is looked at again at once; a word that is left over takes its time to go.
    if !evidence.doubtful.isEmpty { looks.pause = .milliseconds(10 << looks.count) }
    _phase = .looking(looks)
  }
}

extension Examination {
  /// Leaked and destroyed nodes that are blocks of a scope: those that were alive before the snapshot and
  /// still are, so that no address stands for two blocks.
  func leaks(of scope: CheckScope, among before: Set<HiddenAddress>) -> Set<NodeIndex> {
    let wrong = Set(leaks.leakedNodes).union(
      leaks.findings.lazy.filter { $0.kind == .zombie }.flatMap(\.members))
    return Set(_living(of: scope, among: before)).intersection(wrong)
  }

  /// Nodes that are blocks of a scope and that only words hold that may be left over.
  func doubtful(of scope: CheckScope, among before: Set<HiddenAddress>) -> Set<HiddenAddress> {
    let nodes = _living(of: scope, among: before).filter {
      graph.isReachable[$0.position] && !isHeldForSure[$0.position]
    }
    return addresses(of: Set(nodes))
  }

  private func _living(of scope: CheckScope, among before: Set<HiddenAddress>) -> [NodeIndex] {
    nodes(at: scope.blocks.lazy.map(\.address).filter { before.contains(HiddenAddress($0)) })
  }

  func addresses(of nodes: Set<NodeIndex>) -> Set<HiddenAddress> {
    Set(nodes.map { address(of: $0) })
  }

  func address(of node: NodeIndex) -> HiddenAddress {
    HiddenAddress(graph.address(of: node).rawValue)
  }
}
