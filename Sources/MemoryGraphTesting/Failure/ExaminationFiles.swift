// ExaminationFiles: the snapshot and a page to look at it, made once for all failures that it shows.

internal import Commands
internal import Glibc
internal import Symbolication

/// The files of an examination.
struct ExaminationFiles {
  /// The bytes of each file, and how its name ends.
  var list: [(ending: String, bytes: [UInt8])] = []

  /// Why there is no page; nil where there is one.
  var problem: String?

  /// Makes the page of a snapshot, and reads both.
  ///
  /// - Parameter symbols: what the examination has read of the program's symbols. The page needs the same, and to read
  ///   them is most of the work.
  init(ofSnapshot path: String, symbols: Symbolizer) {
    // The page is made on this thread, before this returns.
    nonisolated(unsafe) let symbols = symbols
    let page = path + ".html"
    let problems = MemorySink()
    let status = Tool("memgraph", summary: "", verbs: [.view]).run(
      ["view", path, "--output", page, "--quiet"],
      on: Console(output: MemorySink(), errors: problems, symbolizer: { _, _ in symbols }))
    if status != .nothingFound { problem = problems.text }
    for (file, ending) in [(path, ".mgraph"), (page, ".html")] {
      if let bytes = Self._bytes(of: file) { list.append((ending, bytes)) }
    }
  }

  private static func _bytes(of path: String) -> [UInt8]? {
    guard let file = fopen(path, "rbe") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&piece, 1, piece.count, file), count > 0 {
      bytes += piece[..<count]
    }
    return bytes
  }
}
