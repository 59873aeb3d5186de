// FreedJudge: whether all objects of some classes that a body made are gone.

internal import CMemoryGraphHooks
internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph

/// Runs a body, waits until the objects are gone, and where they stay says who holds them: leaked or not.
struct FreedJudge: Judge {
  let scope: CheckScope
  private let _classes: Set<UInt64>
  private let _subject: CheckSubject
  private var _hasRun = false
  private var _settling = Settling()
  private var _answer: CheckFailure??

  init(_ scope: CheckScope, of subject: CheckSubject, classes: [AnyClass]) {
    self.scope = scope
    _subject = subject
    _classes = Survivors.metadata(of: classes)
  }

  mutating func next() -> CheckStep {
    if !_hasRun {
      _hasRun = true
      return .run
    }
    if let _answer { return .done(_answer) }
    let blocks = scope.blocks
    let objects = Survivors.objects(of: _classes, among: blocks)
    // A task that goes on may make such an object yet.
    let waited = objects.isEmpty ? Survivors.tasks(among: blocks) : objects
    if let pause = _settling.pause(for: waited, mayGo: true) { return .wait(pause) }
    if objects.isEmpty { return .done(nil) }
    let (scope, classes, subject) = (scope, _classes, _subject)
    let before = Set(objects.map { HiddenAddress($0.address) })
    return .examine { examination in
      let after = Survivors.objects(of: classes, among: scope.blocks).map(\.address)
      let kept = Set(examination.nodes(at: after.filter { before.contains(HiddenAddress($0)) }))
      if kept.isEmpty { return Evidence() }
      return Evidence(
        accounted: examination.addresses(of: kept),
        failure: try examination.failure(keeping: kept, of: subject))
    }
  }

  mutating func take(_ evidence: Evidence) { _answer = .some(evidence.failure) }
}

extension Examination {
  /// Tells who holds objects that should be gone.
  fileprivate func failure(
    keeping kept: Set<NodeIndex>, of subject: CheckSubject
  ) throws -> CheckFailure {
    let leaked = kept.filter { !graph.isReachable[$0.position] }
    let held = try abandoned(kept.subtracting(leaked).sorted(), in: graph, maximum: 5)
    let findings = findings(causing: leaked) + held.findings
    let report = LeaksReport(
      findings: findings, totals: totals, unattributed: .zero, isFiltered: true, names: names)
    var countByType: [String: Int] = [:]
    for node in kept { countByType[names.typeName(of: node), default: 0] += 1 }
    let answer = Line(
      countByType.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
        .joined(separator: ", ") + (kept.count == 1 ? " is" : " are") + " not freed")
    return CheckFailure(report, answer: answer, findings: findings, of: subject, in: self)
  }
}
