// What is said of places where objects come and go, and of C memory that holds objects.

import SnapshotDSL
import SnapshotFormat
import Testing

@testable import Commands

@Suite struct HeldEntriesTests {
  /// A cache, an archive and a log at a mark: the cache has lost all that it had, the others nothing.
  private static func snapshot(mark: UInt16) -> Snapshot {
    var heap = SnapshotDSL()
    heap.module("/app/App", buildID: "5eed", addresses: 0x5000..<0xA000)
    let shelf = heap.object("App.Shelf", bytes: 48)
    heap.root(.global, address: 0x5000, to: shelf)
    let archive = heap.object("App.Archive", bytes: 48)
    heap.root(.global, address: 0x5008, to: archive)
    func hold(
      _ count: Int, _ type: String, _ holder: SnapshotDSL.Node, _ field: String,
      _ generation: UInt16
    ) {
      let list = heap.storage(generation: generation)
      heap.edge(holder, field, to: list)
      for _ in 0..<count {
        heap.edge(list, "[_]", to: heap.object(type, bytes: 64, generation: generation))
      }
    }
    hold(2, "App.Line", archive, "lines", 0)
    hold(2, "App.Template", archive, "templates", 0)
    // Entries that have been replaced lie where those before did.
    if mark == 0 {
      hold(6, "App.Template", shelf, "cache", 0)
      hold(3, "App.Page", shelf, "pages", 0)
    } else {
      hold(8, "App.Template", shelf, "cache", 1)
      hold(5, "App.Page", shelf, "pages", 1)
      hold(3, "App.Template", archive, "newTemplates", 1)
      hold(1, "App.Line", archive, "newLines", 1)
    }
    for passed in 0...mark { heap.mark("mark-\(passed)", generation: passed) }
    return heap.snapshot()
  }

  @Test("What lets go of entries is not said to keep every one, and comes last")
  func turnover() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    for mark in 0...1 as ClosedRange<UInt16> {
      try Self.snapshot(mark: mark).write(to: "\(clinic.folder)/mark-\(mark).mgraph")
    }
    let output = clinic.call(["diff", "mark-0.mgraph", "mark-1.mgraph"]).output
    let titles = output.split(separator: "\n").filter { $0.contains(" × ") }.map(String.init)
    #expect(
      titles.map { $0.prefix(while: { $0 != "," }) } == [
        "1. 3 × App.Template", "2. 1 × App.Line", "3. 8 × App.Template", "4. 5 × App.Page",
      ])
    for (title, gone) in zip(titles, [0, 0, 6, 3]) {
      #expect(title.contains(gone > 0 ? "held while \(gone) others went" : "abandoned"), "\(title)")
    }
    let cuts = output.split(separator: "\n").filter { $0.contains("   cut ") }.map(String.init)
    #expect(cuts.map { $0.contains("it keeps every entry") } == [true, true, false, false])
    #expect(cuts.map { $0.contains("it does let go of entries") } == [false, false, true, true])
    let json = clinic.call(["diff", "mark-0.mgraph", "mark-1.mgraph", "--format", "json"]).output
    #expect(json.contains(#""gone": 6"#) && json.contains(#""gone": 3"#), "\(json)")
  }

  /// C memory with room for entries, of which one more is taken at each mark.
  private static func foreign(entries: Int) -> Snapshot {
    var heap = SnapshotDSL()
    heap.module("/app/App", buildID: "5eed", addresses: 0x5000..<0xA000)
    let hub = heap.object("App.Hub", bytes: 48)
    heap.root(.global, address: 0x5000, to: hub)
    let block = heap.node(
      .block, "malloc block", module: "", bytes: 1_024, stack: heap.stack(0x8120, 0x8200))
    heap.edge(hub, "handlers", to: block)
    for entry in 0..<entries {
      let importer = heap.object(
        "App.Importer", bytes: 32, generation: UInt16(entry), strongCount: 1)
      heap.edge(block, "+\(16 * entry)", to: importer, provenance: .scanned)
      heap.mark("mark-\(entry)", generation: UInt16(entry))
    }
    return heap.snapshot()
  }

  @Test("All entries of C memory are told as one, with the retain that was passed into it first")
  func foreignEntries() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    for entries in [1, 4] {
      try Self.foreign(entries: entries).write(to: "\(clinic.folder)/at-\(entries).mgraph")
    }
    let output = clinic.call(["diff", "at-1.mgraph", "at-4.mgraph"]).output
    #expect(output.contains("3 × App.Importer"), "\(output)")
    let cut = try #require(output.split(separator: "\n").first { $0.contains("   cut ") })
    #expect(cut.contains(").+* frees 4 objects"), "\(cut)")
    let retain = try #require(cut.firstRange(of: "balance Unmanaged.passRetained with release()"))
    let memory = try #require(cut.firstRange(of: "deinitialize what is in"))
    #expect(retain.lowerBound < memory.lowerBound)
    // The name can be pasted, and frees the same.
    let words = cut.split(separator: " frees ")[0].split(separator: " ").dropFirst()
    let answer = clinic.call([
      "whatif", "at-4.mgraph", "--weaken", words.joined(separator: " "),
    ]).output
    #expect(answer.contains("4 objects"), "\(answer)")
  }
}
