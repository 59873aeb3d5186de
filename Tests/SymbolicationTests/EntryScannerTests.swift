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

  @Test(
    "The calls inlined into a function are those that a walk finds, each in the same calls",
    arguments: [Program.Build.debug, .optimized])
  func inlinedCallsAgreeWithWalk(build: Program.Build) throws {
    let file = try #require(ELFFile(path: Program.built(build).path))
    let debug = try #require(DebugInformation(file: file))
    var deepest = 0
    for unit in 0..<debug.unitCount {
      for function in debug.compiledFunctionOffsets(of: unit) {
        let scanned = try #require(
          debug.scannedInlinedCalls(inFunctionAt: function, ofUnit: unit))
        #expect(scanned == debug.walkedInlinedCalls(inFunctionAt: function))
        for call in scanned { deepest = max(deepest, call.depth) }
      }
    }
    if build == .optimized { #expect(deepest > 1) }
  }

  @Test("A call beside another one is found, and so is what was inlined into it")
  func siblingCalls() {
    let calls = [(0, 10..<20), (0, 30..<60), (1, 40..<50)].enumerated().map { place, call in
      InlinedCall(entry: UInt64(place), ranges: [call.1], depth: call.0)
    }
    let function = CompiledFunction(entry: 0, calls: calls)
    func entries(_ address: UInt64) -> [UInt64] {
      function.inlinedCalls(at: address).map(\.entry)
    }
    #expect(entries(15) == [0])
    #expect(entries(35) == [1])
    #expect(entries(45) == [1, 2])
    #expect(entries(25).isEmpty)
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
      for function in debug.compiledFunctionOffsets(of: unit) {
        let calls = debug.scannedInlinedCalls(inFunctionAt: function, ofUnit: unit) ?? []
        #expect(calls.allSatisfy { $0.entry < size })
      }
    }
  }
}
