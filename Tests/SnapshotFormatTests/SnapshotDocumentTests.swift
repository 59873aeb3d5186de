// Tests that docs/snapshot-format.md says what the code does, byte for byte.

import Foundation
import GraphPrimitives
import SnapshotFormat
import Testing

@Suite struct SnapshotDocumentTests {
  /// The snapshot of the document's worked example.
  static func example() -> Snapshot {
    var builder = SnapshotBuilder()
    builder.process = Snapshot.ProcessFacts(
      pid: 7, executable: "/bin/app", source: "twin", hasAgent: true, stackMode: "none",
      runIdentity: 1)
    let hub = builder.add(
      SnapshotBuilder.Node(
        address: 0x1000, size: 48, type: builder.type("App.Hub", module: "App"), strongCount: 1))
    let page = builder.add(
      SnapshotBuilder.Node(
        address: 0x1040, size: 32, type: builder.type("App.Page", module: "App"), generation: 2,
        strongCount: 1))
    builder.addEdge(from: hub, to: page, label: builder.label("pages", index: 3))
    builder.addEdge(from: page, to: hub, label: builder.label("hub"), strength: .weak)
    builder.addRoot(.global, to: hub, address: 0x40_4040)
    return builder.finish()
  }

  @Test("The worked example is what the writer writes")
  func example() throws {
    #expect(try blockAfter("### The file") == hexDump(Self.example().serialized()))
  }

  @Test("The worked example, typed off the document, is read as what it is said to hold")
  func exampleIsRead() throws {
    let snapshot = try Snapshot(bytes: bytes(ofHexDump: blockAfter("### The file")))
    #expect(snapshot.textDump() == (try blockAfter("### What it holds")))
  }

  @Test("The document lists the sections in the order of the file, with their widths")
  func sections() throws {
    let rows = try document().split(separator: "\n").compactMap { line -> String? in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 3, cells[0].first == "`", let width = Int(cells[1]) else { return nil }
      return "\(cells[0].filter { $0 != "`" }) \(width)"
    }
    let file = RawFile(parsing: SnapshotDamageTests.whole)
    #expect(rows == file.sections.map { "\($0.name) \($0.width)" })
  }

  private func document() throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: "docs/snapshot-format.md"), encoding: .utf8)
  }

  /// The text of the first code block after a heading.
  private func blockAfter(_ heading: String) throws -> String {
    let after = try #require(
      try document().components(separatedBy: heading + "\n").dropFirst().first)
    return try #require(after.components(separatedBy: "```\n").dropFirst().first)
  }
}

/// Bytes as `hexdump -C` shows them, the offset's first zeros left out: 16 a line, lines that repeat the
/// one before them as one `*`.
private func hexDump(_ bytes: [UInt8]) -> String {
  func digits(_ number: Int, _ width: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
  var lines: [String] = []
  var previous: ArraySlice<UInt8> = []
  for start in stride(from: 0, to: bytes.count, by: 16) {
    let row = bytes[start..<min(start + 16, bytes.count)]
    if row.elementsEqual(previous) {
      if lines.last != "*" { lines.append("*") }
    } else {
      let hex = row.map { digits(Int($0), 2) }
      let text = row.map { $0 >= 0x20 && $0 < 0x7F ? String(UnicodeScalar($0)) : "." }.joined()
      lines.append(
        "\(digits(start, 4))  \(hex.prefix(8).joined(separator: " "))  "
          + "\(hex.dropFirst(8).joined(separator: " "))  |\(text)|")
    }
    previous = row
  }
  return (lines + [digits(bytes.count, 4)]).joined(separator: "\n") + "\n"
}

private func bytes(ofHexDump dump: String) -> [UInt8] {
  var bytes: [UInt8] = []
  var row: [UInt8] = []
  for line in dump.split(separator: "\n") where line != "*" {
    let fields = line.prefix { $0 != "|" }.split(separator: " ")
    guard let start = fields.first.flatMap({ Int($0, radix: 16) }) else { continue }
    while bytes.count < start { bytes += row }
    row = fields.dropFirst().compactMap { UInt8($0, radix: 16) }
    bytes += row
  }
  return bytes
}
