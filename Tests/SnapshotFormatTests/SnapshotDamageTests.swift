// Tests of reading files that are no good: each is refused with the right error, none crashes.

import GraphPrimitives
import SnapshotDSL
import SnapshotFormat
import Testing

@Suite struct SnapshotDamageTests {
  /// A file with every section.
  static let whole: [UInt8] = {
    var heap = SnapshotDSL()
    heap.module("/app/App", buildID: "ab12", addresses: 0x1000..<0x2000)
    let thread = heap.thread("main")
    heap.mark("call 1", generation: 1)
    heap.builder.note("a thread did not stop")
    heap.builder.process.memory = ["resident": 1 << 20, "liveSwift": 4_096]
    let stack = heap.stack(0x1010, 0x1020)
    let hub = heap.object("App.Hub", generation: 1, stack: stack, name: "hub")
    let big = heap.block(bytes: 5 << 32)
    heap.edge(hub, "listeners[3]", to: hub)
    heap.edge(hub, "buffer", to: big, strength: .unmanaged, provenance: .scanned)
    heap.root(.stack, address: 0x7FFF_0000, to: hub, pc: 0x1015, thread: thread)
    heap.describe(hub, id: 1, frames: [0x1021])
    heap.fill(big, count: 1, of: 4, text: 1)
    heap.declare("App.Hub", "parent", .constant)
    var snapshot = heap.snapshot()
    snapshot.sampling = Snapshot.Sampling(interval: 512, node: Column([0]), bytes: Column([30]))
    return snapshot.serialized()
  }()

  @Test("The file under test has every section")
  func everySection() {
    #expect(RawFile(parsing: Self.whole).sections.count == 55)
    #expect(RawFile(parsing: Self.whole).bytes() == Self.whole)
  }

  @Test("Every damaged byte is noticed, in the padding too", arguments: [false, true])
  func damagedByte(isOneBit: Bool) {
    for place in Self.whole.indices {
      var file = Self.whole
      file[place] ^= isOneBit ? 1 << (place % 8) : 0xFF
      if (try? Snapshot(bytes: file)) != nil { Issue.record("byte \(place) was not noticed") }
    }
  }

  @Test(
    "Without checksums a damaged byte gives an error or a valid snapshot",
    arguments: [0x01, 0xFF] as [UInt8])
  func flippedByteUnverified(mask: UInt8) throws {
    for place in Self.whole.indices {
      var file = Self.whole
      file[place] ^= mask
      _useUnverified(file)
    }
  }

  @Test(
    "Without checksums random damage gives an error or a valid snapshot",
    arguments: 0..<200 as Range<UInt64>)
  func randomDamage(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let original = seed % 2 == 0 ? Self.whole : randomBuilder(seed: seed).finish().serialized()
    for _ in 0..<10 {
      var file = original
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let place = Int.random(in: 0..<file.count, using: &random)
        let value = random.pick([0, 1, 0x7F, 0xFF, UInt8.random(in: 0...255, using: &random)])
        for offset in place..<min(place + random.pick([1, 2, 4, 8]), file.count) {
          file[offset] = value
        }
      }
      _useUnverified(file)
    }
  }

  /// Reads a file and, where that works, every row of it.
  private func _useUnverified(_ file: [UInt8]) {
    guard let snapshot = try? Snapshot(bytes: file, verifyingChecksums: false) else { return }
    if (try? snapshot.validate()) == nil { Issue.record("a snapshot that is not valid was read") }
    if snapshot.textDump().isEmpty { Issue.record("a snapshot without a process was read") }
  }

  @Test("A file that is cut short anywhere is refused", arguments: [true, false])
  func truncated(verifyingChecksums: Bool) {
    for length in Self.whole.indices {
      let start = Array(Self.whole[..<length])
      if (try? Snapshot(bytes: start, verifyingChecksums: verifyingChecksums)) != nil {
        Issue.record("\(length) bytes were read as a whole file")
      }
    }
  }

  // MARK: Single faults

  struct Fault: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var error: SnapshotError

    /// Makes the fault; the file gets checksums that match.
    var make: @Sendable (inout RawFile) -> Void
  }

  static let faults = [
    Fault(
      testDescription: "a newer major version",
      error: .newerVersion(path: "a.mgraph", major: 2, minor: 7)
    ) {
      $0.major = 2; $0.minor = 7
    },
    Fault(
      testDescription: "major version 0",
      error: .malformed(
        path: "a.mgraph", section: "header", offset: 8, reason: "there is no format 0.4")
    ) { $0.major = 0 },
    Fault(
      testDescription: "too many sections",
      error: .malformed(
        path: "a.mgraph", section: "header", offset: 24,
        reason: "4097 sections, more than the 4096 there may be")
    ) { $0.sectionCount = 4_097 },
    Fault(
      testDescription: "a table longer than the file",
      error: .truncated(
        path: "a.mgraph", section: "section table", offset: 64, expected: 192_000,
        found: UInt64(whole.count - 64))
    ) { $0.sectionCount = 4_000 },
    // With one section more the table ends at the multiple of 64 at which the sections began.
    Fault(
      testDescription: "a section that must be understood",
      error: .unknownSection(
        path: "a.mgraph", section: "edges.color", offset: UInt64(whole.count))
    ) { $0.sections.append(.init(name: "edges.color", width: 4, flags: 1, bytes: [1, 2, 3, 4])) },
    Fault(
      testDescription: "a required section left out",
      error: .missingSection(path: "a.mgraph", section: "edges.target")
    ) { file in file.sections.removeAll { $0.name == "edges.target" } },
    Fault(
      testDescription: "a section twice",
      error: .malformed(
        path: "a.mgraph", section: "section table", offset: 64 + 55 * 48,
        reason: "section marks is there twice")
    ) { $0.sections.append(.init(name: "marks", width: 1, flags: 0, bytes: [0, 0, 0, 0])) },
    Fault(
      testDescription: "a section without a name",
      error: .malformed(
        path: "a.mgraph", section: "section table", offset: 64 + 48, reason: "a section has no name"
      )
    ) { $0.sections[1].name = "" },
    Fault(
      testDescription: "rows of another width",
      error: .malformed(
        path: "a.mgraph", section: "nodes.address", offset: UInt64(RawFile.aligned(64 + 55 * 48)),
        reason: "rows of 4 bytes instead of 8")
    ) { $0.sections[0].width = 4 },
    Fault(
      testDescription: "part of a row",
      error: .malformed(
        path: "a.mgraph", section: "section table", offset: 64 + 32,
        reason: "section nodes.address has 13 bytes, which is no number of rows of 8 bytes")
    ) { $0.sections[0].bytes.removeLast(3) },
    Fault(
      testDescription: "a section that does not start at a multiple of 64",
      error: .malformed(
        path: "a.mgraph", section: "section table", offset: 64 + 54 * 48 + 24,
        reason: "section diagnostics starts at 0x10001, which is not a free multiple of 64")
    ) { $0.sections[54].offset = 0x10001 },
    Fault(
      testDescription: "two sections in one place",
      error: .malformed(
        path: "a.mgraph", section: "section table", offset: 64 + 48 + 24,
        reason: "section nodes.size starts at 0xac0, which is not a free multiple of 64")
    ) { $0.sections[1].offset = UInt64(RawFile.aligned(64 + 55 * 48)) },
    Fault(
      testDescription: "a section past the end",
      error: .truncated(
        path: "a.mgraph", section: "diagnostics", offset: UInt64(whole.count), expected: 37,
        found: 0)
    ) { $0.sections[54].offset = UInt64(whole.count) },
    Fault(
      testDescription: "a section that ends past every file's end",
      error: .malformed(
        path: "a.mgraph", section: "section table", offset: 64 + 54 * 48 + 32,
        reason: "section diagnostics has 18446744073709551615 bytes, more than a file can have")
    ) { $0.sections[54].length = .max },
    Fault(
      testDescription: "bytes after the end",
      error: .malformed(
        path: "a.mgraph", section: "the file", offset: UInt64(whole.count - 64),
        reason: "64 bytes follow the end of the snapshot")
    ) { $0.fileSize = UInt64(whole.count - 64) },
    Fault(
      testDescription: "a file shorter than it says",
      error: .truncated(
        path: "a.mgraph", section: "the file", offset: 0, expected: UInt64(whole.count + 64),
        found: UInt64(whole.count))
    ) { $0.fileSize = UInt64(whole.count + 64) },
  ]

  @Test("A fault is called by its name, with or without checksums", arguments: faults)
  func fault(_ fault: Fault) {
    var file = RawFile(parsing: Self.whole)
    fault.make(&file)
    let bytes = file.bytes()
    for verifyingChecksums in [true, false] {
      #expect(throws: fault.error) {
        try Snapshot(bytes: bytes, path: "a.mgraph", verifyingChecksums: verifyingChecksums)
      }
    }
  }

  @Test("An unknown section that is not required is skipped; its checksum is verified")
  func unknownOptionalSection() throws {
    var file = RawFile(parsing: Self.whole)
    file.minor = 5
    file.sections.insert(
      .init(name: "nodes.color", width: 3, flags: 2, bytes: [1, 2, 3, 4, 5, 6]), at: 5)
    var bytes = file.bytes()
    #expect(try Snapshot(bytes: bytes).serialized() == Self.whole)
    let offset: UInt64 = RawFile.number(bytes, 64 + 5 * 48 + 24)
    bytes[Int(offset)] ^= 1
    #expect(throws: SnapshotError.checksum(path: "", section: "nodes.color", offset: offset)) {
      try Snapshot(bytes: bytes)
    }
  }

  @Test("What samples there are must be understood by whoever reads the file")
  func samplesAreDemanding() throws {
    let file = RawFile(parsing: Self.whole)
    for name in ["sampling", "samples.node", "samples.bytes"] {
      #expect(file.sections[try #require(file.index(of: name))].flags & 1 == 1)
    }
    #expect(file.sections[try #require(file.index(of: "marks"))].flags & 1 == 0)
    var without = file
    without.sections.removeAll { $0.name == "sampling" }
    #expect(throws: SnapshotError.self) { try Snapshot(bytes: without.bytes()) }
  }

  @Test("A flipped byte of a section is reported with the section and its offset")
  func sectionChecksum() {
    var file = Self.whole
    let offset: UInt64 = RawFile.number(file, 64 + 11 * 48 + 24)
    file[Int(offset)] ^= 1
    #expect(throws: SnapshotError.checksum(path: "b", section: "edges.target", offset: offset)) {
      try Snapshot(bytes: file, path: "b")
    }
  }

  // MARK: Values that only a newer version knows

  struct NewValue: Sendable, CustomTestStringConvertible {
    var section: String
    var value: UInt8
    var readAs: UInt8
    var read: @Sendable (Snapshot) -> UInt8
    var testDescription: String { "\(section) \(value)" }
  }

  static let newValues = [
    NewValue(section: "nodes.kind", value: 13, readAs: NodeKind.block.rawValue) {
      $0.nodes.kind[0]
    },
    NewValue(section: "nodes.state", value: 3, readAs: NodeState.live.rawValue) {
      $0.nodes.state[0]
    },
    NewValue(
      section: "edges.info", value: 0x14, readAs: EdgeInfo(.strong, .reflected).rawValue
    ) { $0.edges.info[0] },
    NewValue(section: "edges.info", value: 0x31, readAs: EdgeInfo(.weak, .scanned).rawValue) {
      $0.edges.info[0]
    },
    NewValue(section: "roots.info", value: 0xFF, readAs: EdgeInfo(.strong, .scanned).rawValue) {
      $0.roots.info[0]
    },
    NewValue(section: "roots.kind", value: 8, readAs: RootKind.runtime.rawValue) {
      $0.roots.kind[0]
    },
  ]

  @Test(
    "A value of a newer minor version becomes a harmless one and is counted; else it is damage",
    arguments: newValues)
  func newValue(_ new: NewValue) throws {
    var file = RawFile(parsing: Self.whole)
    let index = try #require(file.index(of: new.section))
    file.sections[index].bytes[0] = new.value
    #expect {
      try Snapshot(bytes: file.bytes())
    } throws: { error in
      guard case .malformed(_, let section, _, let reason) = error as? SnapshotError else {
        return false
      }
      return section == new.section && reason.hasPrefix("row 0 is \(new.value), which is no ")
    }
    file.minor = 5
    let snapshot = try Snapshot(bytes: file.bytes())
    #expect(new.read(snapshot) == new.readAs)
    let diagnostic = try #require(snapshot.diagnostics.last)
    #expect(diagnostic.count == 1)
    #expect(diagnostic.text.contains("that this version does not know"))
    #expect(snapshot.diagnostics.count == 2)
  }

  // MARK: Streams

  struct StreamFault: Sendable, CustomTestStringConvertible {
    var section: String
    var bytes: [UInt8]
    var place: UInt64
    var reason: String
    var testDescription: String { "\(section): \(reason)" }
  }

  static let streamFaults = [
    StreamFault(
      section: "marks", bytes: [], place: 0, reason: "a record needs 4 bytes and 0 are left"),
    StreamFault(
      section: "marks", bytes: [255, 255, 255, 255, 0], place: 4,
      reason: "4294967295 records don't fit into the 1 bytes that follow"),
    StreamFault(
      section: "threads", bytes: [1, 0, 0, 0] + [UInt8](repeating: 9, count: 24), place: 12,
      reason: "a record needs 151587081 bytes and 16 are left"),
    StreamFault(
      section: "modules", bytes: [0, 0, 0, 0, 7], place: 4, reason: "1 bytes follow the last record"
    ),
    StreamFault(
      section: "diagnostics", bytes: [1, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 255, count: 8),
      place: 16, reason: "a count is 2^63 or more"),
    StreamFault(
      section: "process",
      bytes: [UInt8](repeating: 0, count: 32) + [2, 0, 0, 0]
        + [1, 0, 0, 0, 65] + [UInt8](repeating: 0, count: 8)
        + [1, 0, 0, 0, 65] + [UInt8](repeating: 1, count: 8),
      place: 62, reason: "the figure \"A\" is there twice"),
    StreamFault(
      section: "sampling", bytes: [0, 0, 0, 0, 0, 0, 0, 0], place: 8, reason: "the interval is 0"),
    StreamFault(
      section: "process", bytes: [1, 2, 3], place: 0,
      reason: "a record needs 4 bytes and 3 are left"),
  ]

  @Test("A stream with a fault is refused at its place", arguments: streamFaults)
  func streamFault(_ fault: StreamFault) throws {
    var file = RawFile(parsing: Self.whole)
    let index = try #require(file.index(of: fault.section))
    file.sections[index].bytes = fault.bytes
    let bytes = file.bytes()
    let offset: UInt64 = RawFile.number(bytes, 64 + index * 48 + 24)
    #expect(
      throws: SnapshotError.malformed(
        path: "", section: fault.section, offset: offset + fault.place, reason: fault.reason)
    ) { try Snapshot(bytes: bytes) }
  }
}
