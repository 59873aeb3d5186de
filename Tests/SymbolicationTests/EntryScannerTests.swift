// Tests of EntryScanner: the same entries as libdw's walk, and no trap on damaged bytes.

import Foundation
import Testing

@testable import Symbolication

@Suite struct EntryScannerTests {
  @Test(
    "One pass finds what a walk down the tree finds", arguments: [Program.Build.debug, .optimized])
  func agreesWithWalk(build: Program.Build) throws {
    let file = try #require(ELFFile(path: Program.built(build).path))
    let debug = try #require(DebugInformation(file: file))
    #expect(debug.unitCount > 0)
    for unit in 0..<debug.unitCount {
      let scanned = try #require(debug.scannedFunctionOffsets(of: unit))
      #expect(scanned.count > 10)
      #expect(scanned == debug.walkedFunctionOffsets(of: unit))
    }
  }

  @Test("Damaged entries end the scan or the walk", arguments: 0..<40 as Range<UInt64>)
  func damaged(seed: UInt64) throws {
    let path = try Program.optimized.get().path
    var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    var random = Generator(seed: seed)
    let sections = try #require(ELFFile(path: path)).sections
    for name in [".debug_info", ".debug_abbrev"] {
      let section = try #require(sections.first { $0.name == name })
      for _ in 0..<Int.random(in: 0...8, using: &random) {
        let position = Int(UInt64.random(in: section.fileRange, using: &random))
        bytes[position] = .random(in: 0...255, using: &random)
      }
    }
    let copy = try Program.folder.get().appendingPathComponent("entries-\(seed)")
    try Data(bytes).write(to: copy)
    defer { try? FileManager.default.removeItem(at: copy) }
    let file = try #require(ELFFile(path: copy.path))
    guard let debug = DebugInformation(file: file) else { return }
    let size = file.contents(ofSectionNamed: ".debug_info").count
    for unit in 0..<debug.unitCount {
      let scanned = debug.scannedFunctionOffsets(of: unit) ?? []
      #expect((scanned + debug.walkedFunctionOffsets(of: unit)).allSatisfy { $0 < size })
    }
  }
}
