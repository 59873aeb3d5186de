// Tests of attach and core: what they say where there is nothing to capture, or not all could be read.

import SnapshotFormat
import Testing

@testable import Commands
@testable import HeapCapture

@Suite struct CaptureVerbTests {
  struct Refusal: Sendable, CustomTestStringConvertible {
    var words: [String]
    var status: Status
    var errors: String
    var testDescription: String { words.joined(separator: " ") }
  }

  static let refusals = [
    Refusal(
      words: ["attach", "server"], status: .usage,
      errors: "memgraph: server: not the number of a process; `pidof NAME` finds it\n"),
    Refusal(
      words: ["attach", "-1"], status: .usage, errors: "memgraph: attach -1: unknown option\n"),
    Refusal(
      words: ["attach", "1073741823"], status: .impossible,
      errors: "memgraph: process 1073741823: there is no such process\n"),
    Refusal(
      words: ["core", "/nowhere/core"], status: .unreadable,
      errors: "memgraph: /nowhere/core: No such file or directory\n"),
    Refusal(
      words: ["core", "/nowhere/core", "--exe", "/nowhere/program"], status: .unreadable,
      errors: "memgraph: /nowhere/program: No such file or directory\n"),
    Refusal(
      words: ["core", "/proc/self/exe"], status: .unreadable,
      errors: "memgraph: /proc/self/exe is no core file: it is an executable or a library\n"),
    Refusal(
      words: ["core", "/dev/null"], status: .unreadable,
      errors: "memgraph: /dev/null is no core file: it is no regular file\n"),
  ]

  @Test("What can't be captured is said in one line", arguments: refusals)
  func refuses(_ refusal: Refusal) {
    let call = Call(refusal.words)
    #expect(call.status == refusal.status)
    #expect(call.errors == refusal.errors)
    #expect(call.output == "")
  }

  @Test("A partial snapshot is said to be one", arguments: [[], ["--quiet"]])
  func partial(options: [String]) throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    for isPartial in [true, false] {
      let tool = Tool(
        "tool", summary: "writes",
        verbs: [
          Verb(
            "write", operands: "FILE", operandCount: 1...1, summary: "writes a snapshot",
            examples: []
          ) { call in
            var snapshot = Clinic.cleanSnapshot
            snapshot.process.isPartial = isPartial
            try call.write(
              OutsideCapture(snapshot: snapshot, pauseNanoseconds: 0, hasAgent: true),
              to: call.arguments.operands[0], hint: "", progress: call.progress)
            return .nothingFound
          }
        ])
      let call = clinic.call(["write", "written.mgraph"] + options, of: tool)
      #expect(call.status == .nothingFound)
      #expect(
        call.errors
          == (isPartial && options.isEmpty
            ? "tool: marks/written.mgraph: blocks of the program could not be read, so the snapshot is partial;"
              + " what they may hold is not called leaked\n" : ""))
    }
  }
}
