// CostTests: what a block costs the program, as counts that are the same in each run. Times are `scripts/bench`'s.

import Foundation
import Testing

/// Bounds are a tenth or so above what was counted on x86-64 with clang 17 when they were set: what goes beyond
/// them is a change of the way that each allocation takes.
@Suite struct CostTests {
  /// Where callgrind is; the tests that count instructions need it (`scripts/setup --checks`).
  static let hasValgrind =
    ["/usr/bin/valgrind", "/usr/local/bin/valgrind"].contains {
      FileManager.default.isExecutableFile(atPath: $0)
    }

  /// Instructions of a whole run.
  private func instructions(
    of program: String, _ arguments: [String], preloading library: String? = nil,
    sampling interval: String? = nil
  ) throws -> Int {
    let folder = try AgentPrograms.folder.get()
    let file = folder.appendingPathComponent(UUID().uuidString + ".callgrind").path
    var environment: [String: String] = [:]
    if let library {
      environment = [
        "LD_PRELOAD": library, "MEMORY_GRAPH_STACKS": "fast", "MEMORY_GRAPH_OUT": folder.path,
      ]
      environment["MEMORY_GRAPH_SAMPLE"] = interval
    }
    let result = try Command(
      ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + file, program] + arguments,
      environment: environment
    ).run()
    guard result.status == 0 else { throw AgentTestError(result.errors) }
    let line = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
      .first { $0.hasPrefix("summary:") || $0.hasPrefix("totals:") }
    return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
  }

  /// Instructions that a block's birth and death cost, beyond the program's own: the difference of two runs of
  /// different length, so that the beginning and the end don't count.
  private func instructionsEach(
    of program: String, depth: Int, preloading library: String? = nil,
    sampling interval: String? = nil
  ) throws -> Double {
    let (short, long) = (2_000, 22_000)
    func cost(_ program: String, _ count: Int, _ library: String?) throws -> Int {
      try instructions(
        of: program, ["churn", "\(depth)", "\(count)"], preloading: library, sampling: interval)
    }
    let bare = try AgentPrograms.counted.get()
    let own = try cost(bare, long, nil) - cost(bare, short, nil)
    let all = try cost(program, long, library) - cost(program, short, library)
    return Double(all - own) / Double(long - short)
  }

  @Test(
    "A linked agent that is not started costs a few instructions a block",
    .enabled(if: hasValgrind, "valgrind is not installed; scripts/setup --checks does it"))
  func linked() throws {
    let each = try instructionsEach(of: try AgentPrograms.countedLinked.get(), depth: 5)
    #expect(each <= 7, "\(each) instructions each")
  }

  @Test(
    "A tracked block costs so many instructions at a depth",
    .enabled(if: hasValgrind, "valgrind is not installed; scripts/setup --checks does it"),
    arguments: [(5, 360.0), (38, 1030.0)])
  func tracked(depth: Int, bound: Double) throws {
    let each = try instructionsEach(
      of: try AgentPrograms.counted.get(), depth: depth,
      preloading: try AgentPrograms.optimizedLibrary.get())
    #expect(each <= bound, "\(each) instructions each")
  }

  @Test(
    "A block without a sample costs a few instructions, its end as few",
    .enabled(if: hasValgrind, "valgrind is not installed; scripts/setup --checks does it"))
  func unsampled() throws {
    // No sample is reached: 24,000 blocks of 40 bytes in so many.
    let each = try instructionsEach(
      of: try AgentPrograms.counted.get(), depth: 5,
      preloading: try AgentPrograms.optimizedLibrary.get(), sampling: "4G")
    #expect(each <= 36, "\(each) instructions each")
    // Less would mean that nothing was counted.
    #expect(each >= 12, "\(each) instructions each")
  }

  /// The figures that `hold` tells.
  private func held(_ count: Int, isTracked: Bool) throws -> [String: Int] {
    let folder = try AgentPrograms.folder.get().path
    let environment =
      isTracked
      ? [
        "LD_PRELOAD": try AgentPrograms.optimizedLibrary.get(), "MEMORY_GRAPH_STACKS": "fast",
        "MEMORY_GRAPH_OUT": folder,
      ] : [:]
    let result = try Command(
      [try AgentPrograms.counted.get(), "hold", "\(count)"], environment: environment
    ).run()
    #expect(result.status == 0, "\(result.errors)")
    var figures: [String: Int] = [:]
    for line in result.output.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2 { figures[String(words[0])] = Int(words[1]) }
    }
    return figures
  }

  @Test("Tracking allocates nothing from the program's allocator")
  func allocations() throws {
    let bare = try held(20_000, isTracked: false)
    let tracked = try held(20_000, isTracked: true)
    #expect(try #require(bare["taken"]) > 20_000 * 40)
    #expect(tracked["taken"] == bare["taken"])
    #expect(tracked["left"] == bare["left"])
  }

  @Test("A live block of 32 bytes takes so many bytes of the agent's tables")
  func memory() throws {
    let (few, many) = (100_000, 400_000)
    func more(isTracked: Bool) throws -> Int {
      let high = try #require(try held(many, isTracked: isTracked)["resident"])
      return high - (try #require(try held(few, isTracked: isTracked)["resident"]))
    }
    let each = Double(try more(isTracked: true) - more(isTracked: false)) / Double(many - few)
    #expect(each <= 25, "\(each) bytes each")
    // A cell for each 16 bytes of heap: less would mean that nothing was tracked.
    #expect(each >= 20, "\(each) bytes each")
  }
}
