// FailOn: what makes the exit status of a report 1.

internal import GraphAnalysis

/// What a caller counts as a failure.
enum FailOn: String {
  case leaks
  case abandoned
  case growth
  case any
  case none

  /// What was found, by kind.
  struct Found {
    var leaks = false
    var abandoned = false
    var growth = false

    /// Findings of other kinds: over-retained objects, zombies.
    var other = false

    init(leaks: Bool = false, abandoned: Bool = false, growth: Bool = false, other: Bool = false) {
      self.leaks = leaks
      self.abandoned = abandoned
      self.growth = growth
      self.other = other
    }

    /// What findings are whose kinds are known as JSON has them.
    init(kinds: Set<String>) {
      self.init(
        leaks: !kinds.isDisjoint(with: ["leak", "zombie"]), abandoned: kinds.contains("abandoned"),
        growth: kinds.contains("abandoned"), other: kinds.contains("overRetained"))
    }
  }

  /// What a call counts as a failure.
  ///
  /// - Parameters:
  ///   - standard: What the verb does where nothing is said.
  ///   - comparesMarks: Whether the verb reads more than one snapshot, so that growth can show.
  init(_ arguments: Arguments, standard: FailOn, comparesMarks: Bool = false) throws {
    self = arguments.text(.failOn).flatMap { FailOn(rawValue: $0) } ?? standard
    if !comparesMarks, self == .abandoned || self == .growth {
      throw UsageError(
        "--fail-on \(rawValue)", "a single snapshot does not show growth",
        mend: "compare two with diff")
    }
  }

  /// The exit status for what was found.
  func status(_ found: Found) -> ExitStatus {
    let fails =
      switch self {
      case .leaks: found.leaks
      case .abandoned: found.abandoned
      case .growth: found.growth
      case .any: found.leaks || found.abandoned || found.growth || found.other
      case .none: false
      }
    return fails ? .findings : .nothingFound
  }
}
