// Tests of attach and core: what they say where there is nothing to capture.

import Testing

@testable import Commands

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
}
