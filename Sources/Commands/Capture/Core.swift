// core: a snapshot of a program that left a core file.

internal import HeapCapture

extension Verb {
  package static let core = Verb(
    "core", operands: "FILE", operandCount: 1...1,
    summary: "makes a snapshot of the core file of a Swift program",
    discussion: """
      Core files leave out code and constants: they are read from the executable and the
      libraries, which have to be of the versions that ran (the build id decides). Where
      the executable has moved, name it with --exe.
      Without the agent in the program there are no stacks, marks and generations, and
      sizes are those that the allocator gave, not those asked for.
      """,
    options: [
      Option("exe", .text("PATH"), help: "the executable that left the core file"),
      Option(
        "output", letter: "o", .text("FILE"),
        help: "write the snapshot to FILE (default: the core file's name with .mgraph)"),
    ],
    examples: [
      Example("memgraph core core.4711", "Writes core.4711.mgraph into the current folder."),
      Example(
        "memgraph core /var/crash/core --exe build/MyServer -o crash.mgraph",
        "The core file of a program whose executable lies elsewhere by now."),
    ]
  ) { call in
    let path = call.arguments.operands[0]
    let progress = call.progress
    defer { progress.finish() }
    progress.report(step: "reading \(path)", done: 0, total: 0)
    let capture: OutsideCapture
    do throws(CaptureError) {
      capture = try captureCoreFile(path, executable: call.arguments.text(.executable))
    } catch {
      throw CommandError(coreError: error, path: path)
    }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    try call.write(
      capture, to: call.arguments.text(.output) ?? name + ".mgraph",
      hint: "they come with a program that ran under `memgraph run`", progress: progress)
    return .nothingFound
  }
}

extension Option {
  fileprivate static let executable = Option("exe", .text("PATH"), help: "")
}

extension CommandError {
  /// Why a core file gives no snapshot.
  fileprivate init(coreError error: CaptureError, path: String) {
    switch error {
    case .cannotOpen, .notACoreFile, .damagedCoreFile, .truncatedCoreFile, .missingFile:
      // These name the file themselves.
      self.init(sentence: "\(error)", status: .unreadable)
    case .notSwift:
      self.init(path, "\(error)", status: .unreadable)
    default:
      self.init(path, "\(error)", status: .impossible)
    }
  }
}
