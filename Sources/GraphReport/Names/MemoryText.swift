// MemoryText: where the memory of a process is, in words.

internal import GraphPrimitives

/// The figures of a process's memory in words.
struct MemoryText {
  private let _figures: [String: UInt64]
  private let _leaked: UInt64

  /// - Parameters:
  ///   - figures: As the snapshot has them; what is no memory left out.
  ///   - leaked: The bytes of what no root reaches.
  init(_ figures: [String: UInt64], leaked: ByteCount) {
    _figures = figures
    _leaked = UInt64(max(0, leaked.rawValue))
  }

  /// What each figure means, in the order in which they are told; `untouched` is taken off.
  static let meanings: [(name: String, meaning: String)] = [
    ("liveSwift", "live Swift objects"),
    ("liveOther", "other live blocks: C, C++, libdispatch"),
    ("untouched", "of these never touched, or swapped out"),
    ("heapSlack", "held by the allocator, in no live block: not a leak"),
    ("pools", "mapped by the program or its libraries: pools, arenas of their own"),
    ("mappedFiles", "mapped files: code, data of modules, shared memory"),
    ("stacks", "stacks of threads"),
    ("agent", "the agent's own tables"),
  ]

  private func bytes(_ name: String) -> UInt64 { _figures[name] ?? 0 }

  /// Live blocks as far as they are in memory.
  private var live: UInt64 {
    asked - min(asked, bytes("untouched"))
  }

  /// What live blocks asked for, whether it is in memory or not.
  private var asked: UInt64 { bytes("liveSwift") + bytes("liveOther") }

  /// What at least is in memory of what is leaked: nobody knows whose the pages are that never were touched.
  private var leakedInMemory: UInt64 { _leaked - min(_leaked, bytes("untouched")) }

  /// Whether every part of the resident memory is known.
  private var isExplained: Bool {
    Self.meanings.allSatisfy { _figures[$0.name] != nil } && bytes("resident") > 0
  }

  /// The answer to *leak or allocator?*; nil where not all parts are known.
  var verdict: Line? {
    guard isExplained else { return nil }
    func text(_ bytes: UInt64) -> String { Units.bytes(ByteCount(Int64(clamping: bytes))) }
    let resident = bytes("resident")
    let slack = bytes("heapSlack")
    var line = Line("Leak or allocator? ", .strong)
    let blocks =
      bytes("untouched") == 0
      ? "live blocks take \(text(live)), \(text(_leaked)) of it leaked"
      : "live blocks take \(text(live)) of the \(text(asked)) that they asked for, \(text(_leaked)) of that leaked"
    line += Line(
      "Of \(text(resident)) in memory \(blocks); the allocator keeps \(text(slack)) in no live block: "
    )
    if leakedInMemory > 0, leakedInMemory >= slack, leakedInMemory * 10 >= live {
      return line + Line("the leaks, which memgraph leaks tells.", .bad)
    }
    if _leaked > live {
      return line
        + Line(
          "memgraph leaks tells the leaks, but most of their memory was never touched and costs none.",
          .bad)
    }
    let parts = Self.meanings.filter { !["liveSwift", "liveOther", "untouched"].contains($0.name) }
    let largest = parts.max { bytes($0.name) < bytes($1.name) }
    guard let largest, bytes(largest.name) > live else {
      return line
        + Line("mostly live blocks; graphdiff of two marks tells whether they become more.")
    }
    if largest.name == "heapSlack" {
      return line + Line("the allocator, which keeps what was freed for later: no leak.", .good)
    }
    return line + Line("neither: most is \(largest.meaning).", .good)
  }

  /// The parts as a table; nil where there are none.
  var table: Document.Table? {
    guard !_figures.isEmpty else { return nil }
    var rest = _figures
    var rows: [[Line]] = []
    func row(_ bytes: Int64, _ meaning: String) {
      rows.append([Line(Units.bytes(ByteCount(bytes))), Line(meaning)])
    }
    for (name, meaning) in Self.meanings {
      guard let bytes = rest.removeValue(forKey: name) else { continue }
      let value = Int64(clamping: bytes)
      if name == "untouched", value == 0 { continue }
      row(name == "untouched" ? -value : value, meaning)
    }
    let resident = rest.removeValue(forKey: "resident")
    for (name, bytes) in rest.sorted(by: { $0.key < $1.key }) {
      row(Int64(clamping: bytes), name)
    }
    if let resident {
      let known = isExplained
      row(
        Int64(clamping: resident),
        known ? "in physical memory, the sum of these" : "in physical memory, everything together")
    }
    return Document.Table(columns: [.init("bytes", .right), .init("what")], rows: rows)
  }
}
