// Tests of the tool's ends before its time, in a process of its own: too much memory, and signals.

import Foundation
import Glibc
import SnapshotFormat
import Testing

@testable import Commands

@Suite(.serialized) struct EndingTests {
  private static let tool = URL(
    fileURLWithPath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? ""
  ).deletingLastPathComponent().appendingPathComponent("memgraph")

  /// Starts the tool, with signals as a terminal's are; its standard error goes to a file.
  private func start(_ words: [String], errors: String = "/dev/null") throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["--default-signal=INT,TERM,HUP", Self.tool.path] + words
    process.standardOutput = FileHandle.nullDevice
    let file = try #require(FileHandle(forWritingAtPath: errors))
    process.standardError = file
    try process.run()
    return process
  }

  @Test("More memory than --memory-limit allows is an end with status 4, a sentence, and no file")
  func memoryLimit() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let snapshot = clinic.folder + "/call-3.mgraph"
    let before = try FileManager.default.contentsOfDirectory(atPath: clinic.folder).sorted()
    let errors = clinic.folder + "-errors"
    defer { try? FileManager.default.removeItem(atPath: errors) }
    try #require(FileManager.default.createFile(atPath: errors, contents: nil))
    let process = try start(
      ["view", snapshot, "--memory-limit", "1K", "-o", clinic.folder + "/report.html"],
      errors: errors)
    process.waitUntilExit()
    let said = try String(contentsOfFile: errors, encoding: .utf8)
    #expect(process.terminationReason == .exit && process.terminationStatus == 4)
    #expect(
      said
        == "memgraph: view: it needs more memory than --memory-limit 1K allows; give more, or use a machine that has more\n"
    )
    let after = try FileManager.default.contentsOfDirectory(atPath: clinic.folder).sorted()
    #expect(after == before)
    let enough = try start(["summary", snapshot, "--memory-limit", "2G"])
    enough.waitUntilExit()
    #expect(enough.terminationStatus == 0)
  }

  @Test(
    "A signal ends the tool as it does without leftovers to remove",
    arguments: [SIGINT, SIGTERM, SIGHUP])
  func signals(number: Int32) throws {
    // A pipe that nobody writes to: the tool waits when it opens it.
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "memory-graph-ending-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let pipe = folder.appendingPathComponent("pipe.json").path
    try #require(mkfifo(pipe, 0o600) == 0)
    let process = try start(["known", "list", pipe])
    // It can be opened for writing once the tool reads it, which then waits for what never comes.
    let pid = process.processIdentifier
    var writing: Int32 = -1
    for _ in 0..<4_000 where writing < 0 {
      writing = open(pipe, O_WRONLY | O_NONBLOCK)
      if writing < 0 { usleep(5_000) }
    }
    try #require(writing >= 0)
    defer { close(writing) }
    kill(pid, number)
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == number)
  }
}
