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

  @Test("A generation is what was born in it and is alive now, exactly, in each verb that counts")
  func generations() throws {
    let out = try AgentPrograms.folder.get().appendingPathComponent(UUID().uuidString)
    let (result, _) = try run("generations", environment: ["MEMORY_GRAPH_OUT": out.path])
    #expect(result.status == 0 && result.errors == "")
    let lines = result.output.split(separator: "\n").map {
      $0.split(separator: " ").compactMap { Int($0) }
    }
    try #require(lines.count == 5)
    #expect(lines[4] != lines[3].dropLast() + [lines[4][4]], "older generations shrink")
    func count(_ verb: String, at mark: Int, of generation: Int, _ place: String...) throws -> Int {
      let tool = AgentPrograms.products.appendingPathComponent("memgraph").path
      let call = try Command([
        tool, verb, out.appendingPathComponent("g\(mark).mgraph").path, "--type", "*.Item",
        "--generation", "g\(generation)", "--format", "json", "--no-symbols",
      ]).run()
      #expect(call.status == 0, "\(call.errors)")
      var value = try JSONSerialization.jsonObject(with: Data(call.output.utf8))
      for name in place { value = (value as? [String: Any])?[name] ?? 0 }
      return value as? Int ?? -1
    }
    for mark in 0..<5 {
      for generation in 0...mark {
        #expect(
          try count("summary", at: mark, of: generation, "types", "count")
            == lines[mark][generation], "generation \(generation) at mark \(mark)")
      }
    }
    #expect(try count("tree", at: 4, of: 1, "tree", "objects", "count") == lines[4][1])
    #expect(try count("stacks", at: 4, of: 1, "stacks", "count") == lines[4][1])
  }

  @Test("The parts of the resident memory add up, and each is where the program put it")
  func memory() throws {
    let out = try AgentPrograms.folder.get().appendingPathComponent(UUID().uuidString)
    let (result, _) = try run("memory", environment: ["MEMORY_GRAPH_OUT": out.path])
    #expect(result.status == 0 && result.errors == "")
    let snapshot = try Snapshot(contentsOf: out.appendingPathComponent("memory.mgraph").path)
    let memory = snapshot.process.memory
    func figure(_ name: String) -> UInt64 { memory[name] ?? 0 }
    let parts = ["heapSlack", "pools", "mappedFiles", "stacks", "agent"]
    let live = figure("liveSwift") + figure("liveOther") - figure("untouched")
    #expect(parts.allSatisfy { memory[$0] != nil })
    #expect(figure("resident") == parts.reduce(live) { $0 + figure($1) })
    let megabyte: UInt64 = 1 << 20
    let said = UInt64(result.output.split(separator: "\n").last ?? "") ?? 0
    #expect(figure("resident") > said * 8 / 10 && figure("resident") < said * 12 / 10)
    #expect(figure("liveOther") >= 50 * megabyte)
    #expect(figure("untouched") >= 29 * megabyte && figure("untouched") < 32 * megabyte)
    #expect(live >= 20 * megabyte && live < 25 * megabyte)
    #expect(figure("pools") >= 10 * megabyte && figure("pools") < 14 * megabyte)
    #expect(figure("heapSlack") >= 7 * megabyte && figure("heapSlack") < 12 * megabyte)
    #expect(figure("mappedFiles") > megabyte)
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
