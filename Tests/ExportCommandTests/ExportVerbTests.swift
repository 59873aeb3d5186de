// Tests of `memgraph export` as a caller meets it: formats by name and file, errors that say the mend, whole files or none.

import Foundation
import SnapshotDSL
import SnapshotFormat
import Symbolication
import Testing

@testable import Commands
@testable import ExportCommand

@Suite final class ExportVerbTests {
  private let folder: String
  private static let tool = Tool.memgraph.adding(.export, after: "view")

  init() throws {
    folder =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("export-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Self.snapshot(visits: 1).write(to: "\(folder)/visit-1.mgraph")
    try Self.snapshot(visits: 3).write(to: "\(folder)/visit-3.mgraph")
    try Self.snapshot(visits: 0).write(to: "\(folder)/clean.mgraph")
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// A hub that holds listeners, and carts that leak in a cycle.
  private static func snapshot(visits: Int) -> Snapshot {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub", bytes: 64)
    heap.root(.global, address: 0x5000, to: hub)
    for visit in 0..<visits {
      let cart = heap.object("App.Cart", generation: UInt16(visit))
      let item = heap.object("App.Item", generation: UInt16(visit))
      heap.edge(cart, "item", to: item)
      heap.edge(item, "cart", to: cart)
      heap.edge(item, "hub", to: hub, strength: .unowned)
      let listener = heap.object("App.Listener", generation: UInt16(visit))
      heap.edge(hub, "listeners[\(visit)]", to: listener)
      heap.mark("visit-\(visit + 1)", generation: UInt16(visit))
    }
    return heap.snapshot()
  }

  private struct Answer {
    var status: Int32
    var output: [UInt8]
    var errors: String
    var text: String { String(decoding: output, as: UTF8.self) }
  }

  /// Runs `memgraph export` in the folder.
  private func export(_ words: String..., terminal: Bool = false) -> Answer {
    let output = MemorySink(isTerminal: terminal)
    let errors = MemorySink()
    let words = words.map { $0.replacingOccurrences(of: "@", with: folder + "/") }
    let status = Self.tool.run(
      ["export"] + words,
      on: Console(
        output: output, errors: errors, environment: { _ in nil },
        symbolizer: { _, _ in NoSymbols() }))
    return Answer(
      status: status.rawValue, output: output.bytes,
      errors: errors.text.replacingOccurrences(of: folder + "/", with: "@"))
  }

  private func file(_ name: String) -> [UInt8]? {
    (try? Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))).map { [UInt8]($0) }
  }

  private var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  private static let snapshots = ["clean.mgraph", "visit-1.mgraph", "visit-3.mgraph"]

  @Test(
    "The file's name tells the format, or --format does; standard output has the same bytes",
    arguments: [
      ("heapsnapshot", "a.heapsnapshot"), ("pprof", "a.pb.gz"), ("perfetto", "a.pftrace"),
      ("hprof", "a.hprof"), ("sqlite", "a.db"), ("csv", "a.csv"), ("json", "a.json"),
      ("collapsed", "a.folded"),
      ("dot", "a.gv"), ("mermaid", "a.mmd"),
    ])
  func formats(_ format: String, _ name: String) throws {
    let byName = export("@visit-3.mgraph", "-o", "@" + name)
    #expect(byName.status == 0 && byName.output.isEmpty)
    let wanted = try #require(file(name))
    #expect(!wanted.isEmpty)
    for words in [["-o", "-"], []] {
      let output = MemorySink()
      let status = Self.tool.run(
        ["export", folder + "/visit-3.mgraph", "--format", format, "--quiet"] + words,
        on: Console(
          output: output, errors: MemorySink(), environment: { _ in nil },
          symbolizer: { _, _ in NoSymbols() }))
      #expect(status.rawValue == 0 && output.bytes == wanted)
    }
    #expect(names == (Self.snapshots + [name]).sorted(), "nothing else stays")
    #expect(
      export("@visit-3.mgraph", "-o", "@other", "--format", format).status == 0
        && file("other") == wanted)
  }

  @Test("A pipe gets what a file would", arguments: ["csv", "sqlite"])
  func pipe(_ format: String) throws {
    #expect(mkfifo("\(folder)/pipe", 0o600) == 0)
    // Open for both, so that neither end waits for the other.
    let pipe = open("\(folder)/pipe", O_RDWR | O_NONBLOCK)
    defer { close(pipe) }
    let wanted = export("@clean.mgraph", "--format", format).output
    // F_SETPIPE_SZ, which Glibc doesn't have for Swift: all of it must fit, since nobody reads meanwhile.
    #expect(fcntl(pipe, 1031, Int32(1 << 20)) >= wanted.count)
    #expect(export("@clean.mgraph", "--format", format, "-o", "@pipe").status == 0)
    var found = [UInt8](repeating: 0, count: 1 << 20)
    let count = read(pipe, &found, found.count)
    #expect(Array(found[..<max(0, count)]) == wanted)
    #expect(names == (Self.snapshots + ["pipe"]).sorted())
  }

  @Test(
    "Bad usage says what, why and the mend, with status 2, and writes nothing",
    arguments: [
      (
        ["@visit-3.mgraph", "--format", "heapsnap"],
        "memgraph: export --format: \"heapsnap\" is none of heapsnapshot, pprof, perfetto, hprof, sqlite, csv, "
          + "json, collapsed, dot, mermaid; did you mean heapsnapshot?\n"
      ),
      (
        ["@visit-3.mgraph"],
        "memgraph: export --format: which format is wanted; one of heapsnapshot, pprof, perfetto, hprof, sqlite, csv, "
          + "json, collapsed, dot, mermaid\n"
      ),
      (
        ["@visit-3.mgraph", "-o", "@x.bin"],
        "memgraph: export -o @x.bin: the name tells no format; give --format: one of heapsnapshot, pprof, perfetto, "
          + "hprof, sqlite, csv, json, collapsed, dot, mermaid\n"
      ),
      (
        ["@visit-1.mgraph", "@visit-3.mgraph", "-o", "@x.heapsnapshot"],
        "memgraph: export --format heapsnapshot: a file has one snapshot in it, and there are 2; export each into a "
          + "file of its own\n"
      ),
      (
        ["@visit-3.mgraph", "-o", "@x.db", "--table", "objects"],
        "memgraph: export --table: does not go with sqlite; it is for csv and json\n"
      ),
      (
        ["@visit-3.mgraph", "-o", "@x.csv", "--table", "object"],
        "memgraph: export --table object: there is no such table; did you mean objects?\n"
      ),
      (
        ["@visit-3.mgraph", "-o", "@x.db", "--by", "path"],
        "memgraph: export --by: does not go with sqlite; it is for pprof and collapsed\n"
      ),
      (
        ["@visit-3.mgraph", "-o", "@x.dot", "--finding", "1", "--path", "App.Hub"],
        "memgraph: export --finding: does not go with --path; give one of them\n"
      ),
      (
        ["@clean.mgraph", "-o", "@x.dot"],
        "memgraph: @clean.mgraph: nothing is leaked, so there is nothing to draw; --path TYPE draws what holds an "
          + "object\n"
      ),
      (
        ["@visit-3.mgraph", "-o", "@x.dot", "--path", "App.Hubb"],
        "memgraph: --path App.Hubb: no object of that type; did you mean App.Hub?\n"
      ),
      (
        ["@visit-3.mgraph", "-o", "@x.dot", "--path", "App.Cart"],
        "memgraph: --path App.Cart: no root reaches it; without --path the picture is of what keeps it\n"
      ),
    ])
  func usage(_ words: [String], _ sentence: String) {
    let errors = MemorySink()
    let output = MemorySink()
    let status = Self.tool.run(
      ["export"] + words.map { $0.replacingOccurrences(of: "@", with: folder + "/") },
      on: Console(
        output: output, errors: errors, environment: { _ in nil },
        symbolizer: { _, _ in NoSymbols() }))
    #expect(status.rawValue == 2 && output.bytes.isEmpty)
    #expect(errors.text.replacingOccurrences(of: folder + "/", with: "@") == sentence)
    #expect(names == Self.snapshots)
  }

  @Test("A finding that isn't there is told with those that are")
  func finding() throws {
    let answer = export("@visit-3.mgraph", "--format", "dot", "--finding", "feed")
    #expect(answer.status == 2)
    let known = try #require(answer.errors.firstMatch(of: /there are ([0-9a-f]{12}) \(App\.Cart\)/))
      .1
    let picture = export("@visit-3.mgraph", "--format", "dot", "--finding", String(known))
    #expect(picture.status == 0 && picture.text.contains("cut: "))
  }

  @Test("The way to an object begins at its root")
  func path() {
    let answer = export("@visit-3.mgraph", "--format", "mermaid", "--path", "App.Listener")
    #expect(answer.text.contains("n0([") && answer.text.contains("App.Listener"))
  }

  @Test("Where a file can't be written there is none, and the reason is told with status 4")
  func unwritable() {
    for name in ["a.sqlite", "a.csv", "a.heapsnapshot"] {
      let answer = export("@visit-3.mgraph", "-o", "@no/such/folder/\(name)")
      #expect(answer.status == 4)
      #expect(
        answer.errors
          == "memgraph: @no/such/folder/\(name): cannot write the report: No such file or directory\n"
      )
    }
    let full = export("@visit-3.mgraph", "--format", "csv", "-o", "/dev/full")
    #expect(full.status == 4 && full.errors.contains("No space left on device"))
    #expect(names == Self.snapshots)
  }

  @Test("A damaged snapshot is told with status 3")
  func damaged() throws {
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: folder + "/clean.mgraph"))
    let answer = export("@clean.mgraph", "-o", "@x.csv")
    #expect(answer.status == 3 && answer.errors.hasPrefix("memgraph: @clean.mgraph"))
    #expect(names == Self.snapshots)
  }

  @Test("What a format loses is told once, and not where quiet is asked for")
  func loss() {
    let answer = export("@visit-3.mgraph", "-o", "@x.heapsnapshot")
    #expect(answer.errors.split(separator: "\n").count == 1)
    #expect(answer.errors.contains("3 unowned references and 0 unmanaged ones are written as weak"))
    #expect(export("@visit-3.mgraph", "-o", "@y.heapsnapshot", "--quiet").errors.isEmpty)
    #expect(export("@visit-3.mgraph", "-o", "@x.sqlite").errors.isEmpty)
  }

  @Test("A terminal gets text, but no bytes that are none")
  func terminal() {
    for format in ["sqlite", "pprof", "perfetto", "hprof"] {
      let answer = export("@visit-3.mgraph", "--format", format, terminal: true)
      #expect(answer.status == 2 && answer.output.isEmpty)
      #expect(answer.errors.contains("\(format) is not for a terminal; give -o FILE"))
    }
    #expect(export("@visit-3.mgraph", "--format", "csv", terminal: true).status == 0)
  }

  @Test("Marks are found by name, and a table of several has all of them")
  func marks() {
    let answer = export("--in", "@", "visit-1", "visit-3", "--format", "csv", "--table", "marks")
    #expect(answer.text.split(separator: "\n").count == 1 + 1 + 3)
  }

  @Test("Help has the options and examples, in 80 columns")
  func help() throws {
    let page = export("--help").text
    #expect(page.contains("usage: memgraph export [OPTION...] SNAP [SNAP...]"))
    for line in page.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    #expect(Verb.export.examples.count == 2)
    for example in Verb.export.examples {
      let words = example.command.split(separator: " ").dropFirst(2).map(String.init)
      let arguments = try Arguments(parsing: words, options: Verb.export.allOptions)
      #expect(!arguments.operands.isEmpty && page.contains(example.command))
    }
    let overview = Help.overview(of: Self.tool)
    #expect(overview.contains("export"))
  }

  @Test("Completions and pages for man have the verb, too")
  func shells() {
    func call(_ words: String...) -> String {
      let output = MemorySink()
      _ = Self.tool.run(
        words,
        on: Console(
          output: output, errors: MemorySink(), environment: { _ in nil },
          symbolizer: { _, _ in NoSymbols() }))
      return output.text
    }
    for shell in ["bash", "zsh", "fish"] {
      #expect(call("completions", shell).contains("heapsnapshot"), "\(shell)")
    }
    #expect(call("manual", "--verbs").split(separator: "\n").contains("export"))
    #expect(call("manual", "export").contains("heapsnapshot"))
  }
}
