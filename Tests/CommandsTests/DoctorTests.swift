// Tests of the doctor: what it says of machines that lack something.

import GraphReport
import Testing

@testable import Commands

@Suite struct DoctorTests {
  /// A machine on which everything works.
  private static var whole: Machine {
    var machine = Machine()
    machine.folder = "/usr/lib/memory-graph/"
    machine.libcVersion = "2.36"
    machine.ptraceScope = 0
    machine.hasUnwinder = true
    machine.corePattern = "core"
    return machine
  }

  private static func troubles(_ change: (inout Machine) -> Void) -> [String] {
    var machine = whole
    change(&machine)
    return machine.diagnosis.filter { $0.state != .fine }
      .map { "\($0.subject) \($0.state.rawValue)" }
  }

  @Test("A machine on which everything works has nothing to mend")
  func fine() {
    #expect(!DoctorReport(Self.whole.diagnosis).hasLimits)
    #expect(
      DoctorReport(Self.whole.diagnosis).document.answer.text
        == "Nothing on this machine limits memgraph")
  }

  @Test("What is missing is named with what it is needed for, and each has a mend")
  func missing() {
    let files = ["libMemoryGraphPreload.so", "memgraph-lint", "graphdiff"]
    #expect(
      Self.troubles { $0.missingFiles = files }
        == ["run missing", "graphdiff limited", "lint limited"])
    #expect(Self.troubles { $0.folder = "/my tools/" } == ["run missing"])
    #expect(Self.troubles { $0.mirrorProblem = "not there" } == ["types and fields missing"])
    #expect(Self.troubles { $0.ptraceScope = 1 } == ["attach limited"])
    #expect(Self.troubles { ($0.ptraceScope, $0.isPrivileged) = (1, true) } == [])
    #expect(Self.troubles { ($0.ptraceScope, $0.isPrivileged) = (3, true) } == ["attach missing"])
    #expect(Self.troubles { $0.readProblem = "Operation not permitted" } == ["attach missing"])
    #expect(Self.troubles { $0.hasUnwinder = false } == ["run --stacks full limited"])
    #expect(Self.troubles { $0.libcVersion = "2.17" } == ["attach, core without the agent limited"])
    #expect(Self.troubles { $0.coreLimit = 0 } == ["core files limited"])
    #expect(Self.troubles { $0.coreLimit = 1 << 30 } == [])
    #expect(Self.troubles { $0.hasUTF8 = false } == ["characters limited"])
    var worst = Machine()
    worst.missingFiles = ["libMemoryGraphPreload.so"]
    worst.mirrorProblem = "not there"
    worst.coreLimit = 0
    for row in worst.diagnosis where row.state != .fine { #expect(row.mend?.isEmpty == false) }
    #expect(
      DoctorReport(worst.diagnosis).document.answer.text.hasPrefix("2 things that memgraph needs"))
  }

  @Test("On this machine it says something of each, as text and as JSON")
  func here() {
    let text = Call(["doctor"])
    #expect([.nothingFound, .findings].contains(text.status) && text.errors.isEmpty)
    let json = Call(["doctor", "--format", "json"])
    #expect(json.status == text.status && json.output.contains("memory-graph/doctor/1"))
    for subject in ["run", "types and fields", "attach", "core files", "lint"] {
      #expect(text.output.contains(subject) && json.output.contains("\"\(subject)\""))
    }
  }
}
