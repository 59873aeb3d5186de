// Tests of `memgraph lint` as a process: it starts the program beside it, and says what is missing.

import Foundation
import Testing

@Suite struct LintTests {
  @Test func theProgramBesideTheToolDoesTheWork() throws {
    let path = packageFolder.appendingPathComponent("samples/VideoCall").path
    let outcome = try run("memgraph", ["lint", path, "--rule=strong-delegate"])
    #expect(outcome.status == 1)
    #expect(outcome.output.hasPrefix("2 findings in 2 of "))
    #expect(try run("memgraph", ["lint", "/proc/self/nowhere"]).status == 3)
  }

  @Test func whatIsMissingIsSaid() throws {
    let folder = try ScratchFolder()
    let tool = folder.url.appendingPathComponent("memgraph")
    try FileManager.default.copyItem(at: buildFolder.appendingPathComponent("memgraph"), to: tool)
    let alone = try run(tool, ["lint", "."])
    #expect(alone.status == 4)
    #expect(alone.errors.contains("memgraph-lint is not there; build the whole package"))

    // What the loader does where it finds no libraries.
    let lint = folder.url.appendingPathComponent("memgraph-lint")
    try "#!/bin/sh\nexit 127\n".write(to: lint, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: lint.path)
    let unloadable = try run(tool, ["lint", "."])
    #expect(unloadable.status == 4)
    #expect(
      unloadable.errors.contains("the toolchain that it was built with is not there any more"))
  }
}
