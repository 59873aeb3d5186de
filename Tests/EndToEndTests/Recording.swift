// A sample run under the agent: what it printed and the marks that it left.
internal import Foundation

/// One run of a sample with `memgraph run`.
struct Recording {
  let outcome: Outcome
  private let folder: ScratchFolder

  init(of program: String, _ arguments: [String]) throws {
    try self.init(of: buildFolder.appendingPathComponent(program), arguments)
  }

  init(of program: URL, _ arguments: [String]) throws {
    folder = try ScratchFolder()
    outcome = try run(
      "memgraph", ["run", "--out", folder.url.path, "--", program.path] + arguments)
  }

  /// The file of a mark.
  func mark(_ name: String) -> String {
    folder.url.appendingPathComponent("\(name).mgraph").path
  }

  /// The program's own counts, line by line, from each line that has `Type=number` fields.
  var liveCounts: [[String: Int]] {
    outcome.output.split(separator: "\n").compactMap { line in
      var counts: [String: Int] = [:]
      for field in line.split(separator: " ") {
        let parts = field.split(separator: "=")
        guard parts.count == 2, let count = Int(parts[1]) else { continue }
        counts[String(parts[0])] = count
      }
      return counts.isEmpty ? nil : counts
    }
  }
}
