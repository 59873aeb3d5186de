// LeakJudge: whether a body left something behind that no root reaches.

internal import CMemoryGraphHooks
internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph

/// Runs a body, waits for what ends a moment later, and looks for leaks twice: what is on its way from one
/// holder to the next in the first look is held in the second.
struct LeakJudge: Judge {
  let scope: CheckScope
  private let _subject: CheckSubject
  private let _accepted: AcceptedFindings
  private var _runsLeft: Int
  private var _settling = Settling()
  private var _phase = Phase.first

  private enum Phase {
    case first
    case second(Set<HiddenAddress>)
    case over(CheckFailure?)
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
    case .first:
      let objects = Survivors.objects(among: scope.blocks)
      if let pause = _settling.pause(for: objects, mayGo: Survivors.hasTask(among: objects)) {
        return .wait(pause)
      }
      if objects.isEmpty { return .done(nil) }
      let (scope, accepted) = (scope, _accepted)
      let before = Set(objects.map { HiddenAddress($0.address) })
      return .examine { examination in
        let leaked = examination.leaks(of: scope, among: before)
        let told = examination.findings(causing: leaked)
        let open = try accepted.judge(told, in: examination).open
        let addresses = examination.addresses(of: leaked)
        // What is accepted here is no business of the check around this one, either.
        return open.isEmpty ? Evidence(accounted: addresses) : Evidence(suspects: addresses)
      }
    case .second(let suspects):
      let (scope, accepted, subject) = (scope, _accepted, _subject)
      return .examine { examination in
        let leaked = examination.leaks(of: scope, among: suspects)
        let judgement = try accepted.judge(examination.findings(causing: leaked), in: examination)
        var evidence = Evidence(accounted: examination.addresses(of: leaked))
        if judgement.open.isEmpty { return evidence }
        let report = LeaksReport(
          findings: judgement.open, totals: examination.totals, unattributed: .zero,
          isFiltered: true, names: examination.names)
        evidence.failure = CheckFailure(
          report.document(limit: 5), findings: judgement.open, of: subject, in: examination)
        return evidence
      }
    case .over(let failure): return .done(failure)
    }
  }

  mutating func take(_ evidence: Evidence) {
    if case .first = _phase, !evidence.suspects.isEmpty {
      _phase = .second(evidence.suspects)
    } else {
      _phase = .over(evidence.failure)
    }
  }
}

extension Examination {
  /// Leaked and destroyed nodes that are blocks of a scope: those that were alive before the snapshot and
  /// still are, so that no address stands for two blocks.
  func leaks(of scope: CheckScope, among before: Set<HiddenAddress>) -> Set<NodeIndex> {
    let after = scope.blocks.lazy.map(\.address).filter { before.contains(HiddenAddress($0)) }
    let wrong = Set(leaks.leakedNodes).union(
      leaks.findings.lazy.filter { $0.kind == .zombie }.flatMap(\.members))
    return Set(nodes(at: after)).intersection(wrong)
  }

  func addresses(of nodes: Set<NodeIndex>) -> Set<HiddenAddress> {
    Set(nodes.map { HiddenAddress(graph.address(of: $0).rawValue) })
  }
}
