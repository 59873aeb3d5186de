// LinkedProgramTests: the Swift API, in a program that links the agent.

import Foundation
import GraphPrimitives
import HeapGraph
import SnapshotFormat
import Testing

@Suite struct LinkedProgramTests {
  /// Runs a mode of the Swift program in a folder of its own.
  private func run(
    _ mode: String, environment: [String: String] = [:]
  ) throws -> (result: Command.Result, folder: URL) {
    let folder = try AgentPrograms.folder.get().appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let program = try AgentPrograms.swiftLinked.get()
    let result = try Command(
      ["sh", "-c", "cd '\(folder.path)' && exec '\(program)' \(mode)"], environment: environment
    ).run()
    return (result, folder)
  }

  @Test("Without discovery the graph is what the program tells, until its blocks are freed")
  func registered() throws {
    let (result, folder) = try run("registered")
    #expect(result.status == 0)
    #expect(result.errors == "")
    let lines = result.output.split(separator: "\n")
    try #require(lines.count == 3)
    #expect(lines[0].hasPrefix("[\"Ring\", \"Session\"] 3 "))
    // What it was said to cost, not the 100 bytes of its handle.
    #expect(lines[1] == "encoder 4096")
    #expect(lines[2].hasPrefix("[\"Ring\"] 1 "))
    let snapshot = try Snapshot(
      contentsOf: folder.appendingPathComponent("registered-1.mgraph").path)
    #expect(snapshot.marks.map(\.name) == ["registered-1"])
  }

  @Test("Once started, all objects are known, and a snapshot ends a generation as a mark does")
  func started() throws {
    let (result, _) = try run("started")
    #expect(result.status == 0)
    #expect(result.errors == "")
    #expect(result.output == "10 [\"first\", \"started\"] started\n")
  }

  @Test("Blocks from before a late start are found, so that what they hold is not called leaked")
  func late() throws {
    let (result, folder) = try run("late")
    #expect(result.status == 0)
    #expect(result.errors == "")
    let snapshot = try Snapshot(contentsOf: folder.appendingPathComponent("late.mgraph").path)
    let graph = try HeapGraph(snapshot)
    let nodes = graph.nodes.filter { graph.typeName(of: $0).hasSuffix(".Node") }
    #expect(nodes.count == 3)
    #expect(nodes.allSatisfy { graph.isReachable[$0.position] })
    #expect(!snapshot.process.isPartial)
    #expect(snapshot.diagnostics.contains { $0.text.contains("before the agent's start") })
  }

  @Test("A folder in the environment turns marking to disk on, from the start of the program")
  func marks() throws {
    let out = try AgentPrograms.folder.get().appendingPathComponent(UUID().uuidString)
    // The folder need not exist.
    let (result, _) = try run(
      "marks", environment: ["MEMORY_GRAPH_OUT": out.path, "MEMORY_GRAPH_AT_EXIT": "1"])
    #expect(result.status == 0)
    #expect(result.errors == "")
    let files = try FileManager.default.contentsOfDirectory(atPath: out.path).sorted()
    #expect(files == ["exit.mgraph", "to-disk.mgraph"])
    let snapshot = try Snapshot(contentsOf: out.appendingPathComponent("to-disk.mgraph").path)
    #expect(snapshot.process.mark == "to disk")
    #expect(snapshot.process.hasAgent)
  }

  @Test("A snapshot that can't be written is an error, a line on standard error, and no harm")
  func fails() throws {
    let (result, _) = try run("fails")
    #expect(result.status == 0)
    #expect(
      result.output == "/nowhere/at/all.mgraph: no snapshot: No such file or directory\ngoes on\n")
    #expect(result.errors.split(separator: "\n").count == 1)
  }
}
