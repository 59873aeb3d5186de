// SamplingTests: an agent that records a sample of the allocations: what stays exact, and how good estimates are.

import Foundation
import GraphPrimitives
import HeapGraph
import SnapshotFormat
import Testing

@Suite struct SamplingTests {
  private static let tool = AgentPrograms.products.appendingPathComponent("memgraph").path
  private static let interval = 4_096.0

  /// One run of the program: the folder of its snapshots, and what it says is alive at each mark.
  private static let recorded = Result {
    let out = try AgentPrograms.folder.get().appendingPathComponent(UUID().uuidString)
    let result = try Command([
      tool, "run", "--sample", "4K", "--out", out.path, "--", try AgentPrograms.sampled.get(),
    ]).run()
    guard result.status == 0, result.errors == "" else { throw AgentTestError(result.errors) }
    let truth = result.output.split(separator: "\n").map { line in
      line.split(separator: " ").compactMap { Int($0) }
    }
    return (out, truth)
  }

  private func memgraph(_ words: String...) throws -> Command.Result {
    try Command([Self.tool] + words).run()
  }

  private func json(_ words: String...) throws -> [String: Any] {
    let result = try Command([Self.tool] + words + ["--format", "json"]).run()
    let document = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return try #require(document as? [String: Any], "\(result.errors)")
  }

  /// Six standard deviations of an estimate of how many blocks of a size there are: a run in 500 million is farther off.
  private func bound(count: Int, bytes: Int) -> Double {
    let share = 1 - exp(-Double(bytes) / Self.interval)
    return 6 * (Double(count) * (1 - share) / share).squareRoot()
  }

  @Test("Estimates by size, generation and place are as good as the number of their samples says")
  func estimates() throws {
    let (out, truth) = try Self.recorded.get()
    let snapshot = try Snapshot(contentsOf: out.appendingPathComponent("m1.mgraph").path)
    let graph = try HeapGraph(snapshot)
    let sampling = try #require(snapshot.sampling)
    #expect(sampling.interval == 4_096)
    var (countBySize, estimateBySize): ([Int: Int], [Int: Double]) = ([:], [:])
    var smallByGeneration = [0.0, 0.0]
    for node in graph.nodes {
      let bytes = Int(graph.size(of: node).rawValue)
      let weight = snapshot.birthWeight(of: node)
      countBySize[bytes, default: 0] += 1
      estimateBySize[bytes, default: 0] += weight
      if weight > 0, bytes == 24, graph.kind(of: node) == .block {
        smallByGeneration[graph.generation(of: node).position] += weight
      }
    }
    for (bytes, count) in countBySize where count >= 50 {
      let off = abs((estimateBySize[bytes] ?? 0) - Double(count))
      // Asked for were up to 15 bytes less.
      let allowed = bound(count: count, bytes: max(bytes - 15, 1)) + Double(count) * 0.02
      #expect(off <= allowed, "\(count) of \(bytes) bytes, \(off) off")
    }
    for (generation, estimate) in smallByGeneration.enumerated() {
      let count = truth[generation][0] - (generation == 0 ? 0 : truth[0][0])
      #expect(abs(estimate - Double(count)) <= bound(count: count, bytes: 24))
    }

    // By place: large blocks have samples all but surely, so there the estimate is the number.
    var found: [String: (count: Int, bytes: Int)] = [:]
    func collect(_ call: [String: Any]) throws {
      #expect(call["estimated"] as? Bool == true)
      #expect((call["samples"] as? Int ?? 0) > 0)
      if let name = call["function"] as? String {
        found[name] = (call["count"] as? Int ?? 0, call["bytes"] as? Int ?? 0)
      }
      for callee in call["callees"] as? [[String: Any]] ?? [] { try collect(callee) }
    }
    let report = try json("stacks", out.appendingPathComponent("m1.mgraph").path)
    try collect(try #require(report["stacks"] as? [String: Any]))
    let kinds = [("makeSmall", 24), ("makeMiddle", 500), ("makeLarge", 100_000)]
    for (kind, (name, bytes)) in kinds.enumerated() {
      let estimate = try #require(found.first { $0.key.contains(name) }).value
      let count = truth[1][2 * kind]
      #expect(abs(Double(estimate.count - count)) <= bound(count: count, bytes: bytes) + 1)
    }
    #expect(found.first { $0.key.contains("makeLarge") }?.value.bytes == truth[1][5])
  }

  @Test("Objects, leaks and holders are as exact as without sampling")
  func graph() throws {
    let (out, _) = try Self.recorded.get()
    let path = out.appendingPathComponent("m1.mgraph").path
    let leaks = try memgraph("leaks", path)
    #expect(leaks.status == 1)
    #expect(leaks.output.contains("200 leaked objects in 1 group"), "\(leaks.output)")
    #expect(leaks.output.contains("100 × Sampled.Controller, leaked in a cycle"))
    #expect(leaks.output.contains("cut    Sampled.Client.done frees 200 objects"))
    let pages = try memgraph("paths", path, "Sampled.Page")
    #expect(pages.output.contains("static Sampled.Shelf.shared → Sampled.Shelf.pages"))
    let totals = try json("summary", path)["totals"] as? [String: Any]
    let byType = (totals?["live"] as? [String: Any])?["byType"] as? [String: [String: Any]]
    #expect(byType?["Sampled.Page"]?["count"] as? Int == 4_000)
  }

  @Test("What is no sample has neither a generation nor a stack, and no verb says that it had")
  func unknown() throws {
    let (out, _) = try Self.recorded.get()
    let path = out.appendingPathComponent("m1.mgraph").path
    let snapshot = try Snapshot(contentsOf: path)
    let graph = try HeapGraph(snapshot)
    let pages = graph.nodes.filter { graph.typeName(of: $0) == "Sampled.Page" }
    // Of 32 bytes each: some are samples, most are not.
    let known = pages.filter { snapshot.knowsBirth(of: $0) }
    #expect(!known.isEmpty && known.count < pages.count / 10)
    for node in graph.nodes where !snapshot.knowsBirth(of: node) {
      #expect(snapshot.nodes.stack[node.position] == 0)
      #expect(snapshot.nodes.generation[node.position] == 0)
    }
    for node in known { #expect(snapshot.nodes.stack[node.position] != 0) }
    let plain = try #require(pages.first { !snapshot.knowsBirth(of: $0) })
    let object = try json("object", path, graph.address(of: plain).description)
    let told = try #require(object["object"] as? [String: Any])
    #expect(told["generation"] == nil)
    #expect((told["allocation"] as? [Any])?.isEmpty == true)
    let sample = try json("object", path, graph.address(of: known[0]).description)
    #expect((sample["object"] as? [String: Any])?["generation"] is String)

    let asked = try memgraph("leaks", path, "--generation", "m0")
    #expect(asked.status == 2)
    #expect(asked.errors.contains("run without --sample"), "\(asked.errors)")
  }

  @Test("A linked program that registers and takes marks does so where its allocations are sampled")
  func linked() throws {
    let folder = try AgentPrograms.folder.get().appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let program = try AgentPrograms.swiftLinked.get()
    let result = try Command(
      ["sh", "-c", "cd '\(folder.path)' && exec '\(program)' registered"],
      environment: ["MEMORY_GRAPH_SAMPLE": "512K"]
    ).run()
    #expect(result.status == 0 && result.errors == "", "\(result.errors)")
    let lines = result.output.split(separator: "\n")
    try #require(lines.count == 3)
    #expect(lines[0].hasPrefix("[\"Ring\", \"Session\"] "))
    #expect(lines[1] == "encoder 4096")
    #expect(lines[2].hasPrefix("[\"Ring\"] "))
    let snapshot = try Snapshot(
      contentsOf: folder.appendingPathComponent("registered-1.mgraph").path)
    #expect(snapshot.sampling?.interval == 524_288)
  }
}
