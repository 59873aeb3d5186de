// Tests of exports as a whole: what they were when somebody last found them right, the same bytes each time, no piece too large.

import Foundation
import GoldenFiles
import GraphAnalysis
import GraphReport
import Testing

@testable import GraphExport

@Suite struct ExportGoldenTests {
  @Test("Formats of text are as they were last found right")
  func goldens() throws {
    let last = try [Shop.marks()[1]]
    try expectGolden(Shop.text(.heapsnapshot, of: last), named: "shop.heapsnapshot")
    try expectGolden(Shop.text(.collapsed, of: last), named: "stacks.collapsed")
    try expectGolden(
      Shop.text(.collapsed, of: last) {
        $0.profile = .path
        $0.value = .objects
      }, named: "paths.collapsed")
    for table in ExportTable.allCases {
      try expectGolden(
        Shop.text(.csv, of: Shop.marks()) { $0.table = table }, named: table.rawValue + ".csv")
    }
    try expectGolden(Shop.text(.json, of: Shop.marks()), named: "tables.json")
    let finding = try #require(try last[0].leaks().findings.first)
    let diagram = Diagram(ofFinding: VerifyReport.Row(finding, names: last[0].names).json)
    try expectGolden(Shop.text(.dot, of: last) { $0.diagram = diagram }, named: "cycle.dot")
    try expectGolden(Shop.text(.mermaid, of: last) { $0.diagram = diagram }, named: "cycle.mmd")
  }

  @Test("The same snapshots give the same bytes", arguments: ExportFormat.allCases)
  func sameBytes(_ format: ExportFormat) throws {
    func write() throws -> [UInt8] {
      let marks = try Shop.marks()
      let snapshots = format.snapshotCount.contains(2) ? marks : [marks[1]]
      guard format.needsFile else { return try Shop.bytes(format, of: snapshots).bytes }
      return try SQLiteFile(snapshots).bytes
    }
    let first = try write()
    #expect(try first == write())
    #expect(!first.isEmpty || format == .dot || format == .mermaid)
  }

  @Test("What a format can't say is told, and what it can isn't", arguments: ExportFormat.allCases)
  func notes(_ format: ExportFormat) throws {
    guard !format.needsFile else { return }
    let notes = try Shop.bytes(format, of: [Shop.marks()[1]]).notes
    switch format {
    case .heapsnapshot:
      #expect(notes.count == 2)
      #expect(notes[0].contains("2 unowned references and 3 unmanaged ones"))
      #expect(notes[1].contains("1 larger object"))
    case .perfetto:
      #expect(notes.count == 1)
      // Two unowned, three weak, three unmanaged, and the one of the destroyed object.
      #expect(notes[0].contains("9 others"))
    case .hprof:
      #expect(notes.count == 2)
      #expect(notes[0].contains("one size for all objects of a class"))
      #expect(notes[1].contains("9 others"))
    case .pprof, .csv, .json, .collapsed, .dot, .mermaid, .sqlite: #expect(notes.isEmpty)
    }
    if format == .pprof {
      #expect(try Shop.bytes(format, of: [Shop.marks()[1]]) { $0.profile = .path }.notes.count == 1)
    }
  }

  @Test("A stream passes on pieces, never the whole")
  func pieces() throws {
    var sizes: [Int] = []
    let stream = ExportStream { sizes.append($0.count) }
    for number in 0..<100_000 {
      stream.put(decimal: number)
      stream.put(byte: 10)
      try stream.checkpoint()
    }
    try stream.flush()
    #expect(sizes.count > 5 && sizes.allSatisfy { $0 < 1 << 17 })
    #expect(sizes.reduce(0, +) == stream.count)
  }

  @Test(
    "What the taker throws ends the export, whatever the format", arguments: ExportFormat.allCases)
  func fullDisk(_ format: ExportFormat) throws {
    struct Full: Error {}
    guard !format.needsFile, format != .dot, format != .mermaid else { return }
    #expect(throws: Full.self) {
      _ = try GraphExport.write(
        ExportRequest(format: format), of: [Shop.marks()[1]], to: ExportStream { _ in throw Full() }
      )
    }
  }

  @Test("A snapshot without anything can be exported", arguments: ExportFormat.allCases)
  func empty(_ format: ExportFormat) throws {
    let nothing = try Shop.exported(EmptySnapshot.make())
    if format.needsFile {
      #expect(try SQLiteFile([nothing]).rows("SELECT count(*) FROM objects") == [["0"]])
    } else {
      _ = try Shop.bytes(format, of: [nothing])
    }
  }

  @Test("Numbers are written in digits, of every count of them")
  func decimals() throws {
    var powers: [UInt64] = [1]
    while powers.count < 20 { powers.append(powers[powers.count - 1] * 10) }
    for number in powers.flatMap({ [$0 - 1, $0, $0 + 1, $0 / 3] }) + [.max] {
      #expect(try Self.written { $0.put(decimal: number) } == String(number))
    }
    for number in [-1, -10, Int.max, Int.min] {
      #expect(try Self.written { $0.put(decimal: number) } == String(number))
    }
    let edges = (0..<64).map { UInt64(1) << UInt64($0) }
    for number in edges + edges.map({ $0 - 1 }) + [.max] {
      #expect(try Self.written { $0.put(hex: number) } == "0x" + String(number, radix: 16))
    }
  }

  private static func written(_ put: (ExportStream) -> Void) throws -> String {
    var bytes: [UInt8] = []
    let stream = ExportStream { bytes += $0 }
    put(stream)
    try stream.flush()
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("A text is encoded once for its row, whatever the order in which rows are asked for")
  func repeatedTexts() {
    var texts = RepeatedTexts()
    var encoded: [String] = []
    for (row, text) in [(3, "three"), (0, ""), (3, "three"), (1, "one"), (0, ""), (700, "é")] {
      var found = ""
      texts.withBytes(
        of: row, text,
        as: { text, stream in
          encoded.append(text)
          stream.put(json: text)
        }
      ) { found = String(decoding: $0, as: UTF8.self) }
      #expect(found == "\"\(text)\"")
    }
    #expect(encoded == ["three", "", "one", "é"])
  }
}
