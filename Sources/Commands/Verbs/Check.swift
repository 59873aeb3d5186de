// check: validates a file.

internal import GraphReport

extension Verb {
  package static let check = Verb(
    "check", operands: "SNAP", operandCount: 1...1,
    summary: "whether a file is a whole and valid snapshot, and what is in it",
    discussion: """
      Reads everything and verifies the checksums. Exits with 3 and says what is wrong
      where the file can't be read.
      """,
    options: [.format, .output, .color, .memoryLimit, .folder],
    examples: [
      Example("memgraph check marks/call-5.mgraph", "Is the file good, and how large is it?"),
      Example(
        "memgraph check exit.mgraph --quiet", "The exit status alone, for a script."),
    ]
  ) { call in
    let progress = call.progress
    defer { progress.finish() }
    let inspection = try call.inspect(call.arguments.operands[0], progress: progress)
    try call.write(
      CheckReport(inspection.input), of: [inspection.input], inspection, progress: progress)
    return .nothingFound
  }
}
