// FootprintTests: what an object takes in a file, and in the memory of the tool that analyses it, as numbers that may not grow.

import Foundation
import Testing

@Suite struct FootprintTests {
  /// A made-up snapshot, with two and a half references an object.
  private func makeSnapshot(of count: Int, in folder: ScratchFolder) throws -> String {
    let path = folder.url.appendingPathComponent("\(count).mgraph").path
    let made = try run("SnapshotMaker", [String(count), String(count * 5 / 2), path])
    try #require(made.status == 0, "\(made)")
    return path
  }

  /// The most memory that the tool had resident, in bytes: the mapped file is in it.
  private func peak(of words: [String]) throws -> Int {
    let script = """
      import resource, subprocess, sys
      done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
      print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
      """
    let tool = buildFolder.appendingPathComponent("memgraph").path
    let told = try run(
      URL(fileURLWithPath: "/usr/bin/python3"), ["-c", script, tool] + words)
    let numbers = told.output.split { $0.isWhitespace }.compactMap { Int($0) }
    try #require(numbers.count == 2 && numbers[0] <= 1, "\(told)")
    return numbers[1] * 1_024
  }

  // 58.5 bytes in the file, 196 in memory with it when this was written.
  @Test("An object takes so many bytes of a file, and of the tool that finds what it retains")
  func bytes() throws {
    let folder = try ScratchFolder()
    let (few, many) = (100_000, 300_000)
    let files = try [few, many].map { try makeSnapshot(of: $0, in: folder) }
    let sizes = try files.map {
      try #require(try FileManager.default.attributesOfItem(atPath: $0)[.size] as? Int)
    }
    #expect(Double(sizes[1] - sizes[0]) / Double(many - few) <= 60)
    let peaks = try files.map { try peak(of: ["tree", $0, "--no-symbols", "--quiet"]) }
    #expect(Double(peaks[1] - peaks[0]) / Double(many - few) <= 210)
    #expect(peaks[0] > sizes[0])
  }
}
