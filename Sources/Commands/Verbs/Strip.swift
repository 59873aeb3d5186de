// strip: a snapshot to give away: without paths, and on request without names.

internal import GraphReport
internal import SnapshotFormat

extension Option {
  static let names = Option(
    "names", .flag,
    help: "take away the program's names, too: types, fields, marks, threads, modules, build ids")
  static let strippedOutput = Option(
    "output", letter: "o", .text("FILE"), help: "where the new snapshot goes; must be given")
}

extension Verb {
  package static let strip = Verb(
    "strip", operands: "SNAP", operandCount: 1...1,
    summary: "writes a copy of a snapshot to give away, without paths or names",
    discussion: """
      A snapshot holds none of the program's data, but it says where its executable and
      libraries lie, which may name people, customers and machines. The copy has the files'
      names alone; debug files are still found by build id.

      With --names the copy has no name of the program's at all: types, fields, registered
      names, marks, threads and modules are numbered, and build ids and the capture's notes
      are left out. The graph, sizes, counts and generations stay, and so do addresses of
      code. Findings are the same, with other ids, and what to do about them is said less
      well, since advice goes by names.
      """,
    options: [.names, .strippedOutput, .folder],
    examples: [
      Example(
        "memgraph strip exit.mgraph -o for-support.mgraph",
        "A copy that doesn't say where the program lies."),
      Example(
        "memgraph strip exit.mgraph --names -o shape.mgraph",
        "The graph alone, for a report to somebody else's project."),
    ]
  ) { call in
    guard let output = call.arguments.text(.strippedOutput) else {
      throw UsageError("-o", "it is missing", mend: "say where the copy goes: -o FILE")
    }
    let progress = call.progress
    defer { progress.finish() }
    let snapshot = try call.read(call.arguments.operands[0], progress: progress).snapshot
    try snapshot.stripped(ofNames: call.arguments.has(.names)).write(to: output)
    return .nothingFound
  }
}
