// Tests with damaged files: whatever the bytes say, names may be missing or wrong, and nothing traps.

import Foundation
import Testing

@testable import Symbolication

@Suite(.serialized) struct DamagedFileTests {
  /// Asks a file for everything that a report asks for, all over its addresses.
  private func askEverything(of path: String) -> Int {
    guard let file = ELFFile(path: path) else { return 0 }
    _ = file.debugLink
    let symbols = ModuleSymbols(name: "App", image: file, debugFile: file)
    var answers = 0
    for row in symbols.symbols.functions.rows.prefix(300) {
      let frames = symbols.rawFrames(at: row.start)
      #expect(!frames.isEmpty)
      answers += frames.count
      answers += symbols.closure(at: row.start) == nil ? 0 : 1
      answers += symbols.captureNames(of: row.start).count
    }
    for row in symbols.symbols.variables.rows.prefix(100) {
      answers += symbols.text(row.value).count + (symbols.pointer(at: row.start) == nil ? 0 : 1)
    }
    for section in file.sections {
      for address in [section.addresses.lowerBound, section.addresses.upperBound &- 1] {
        answers += symbols.rawFrames(at: address).count
        answers += symbols.closure(at: address) == nil ? 0 : 1
      }
    }
    return answers
  }

  private func scratch(_ name: String) throws -> URL {
    try Program.folder.get().appendingPathComponent(name)
  }

  @Test("A whole file gives answers")
  func whole() throws {
    let path = try Program.optimized.get().path
    #expect(askEverything(of: path) > 300)
  }

  @Test("Truncated files")
  func truncated() throws {
    let whole = try Data(contentsOf: URL(fileURLWithPath: Program.optimized.get().path))
    let file = try scratch("truncated")
    var random = Generator(seed: 11)
    var lengths = Array(0..<70) + [whole.count - 1]
    lengths += (0..<40).map { _ in Int.random(in: 70..<whole.count, using: &random) }
    for length in lengths {
      try whole.prefix(length).write(to: file)
      _ = askEverything(of: file.path)
    }
    #expect(ELFFile(path: file.path) != nil || lengths.last ?? 0 < 64)
  }

  @Test("Files with damaged bytes", arguments: 0..<60 as Range<UInt64>)
  func damaged(seed: UInt64) throws {
    let path = try (seed % 2 == 0 ? Program.optimized : Program.debug).get().path
    var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    let sections = try #require(ELFFile(path: path)).sections
    var random = Generator(seed: seed)
    for _ in 0..<Int.random(in: 1...24, using: &random) {
      // Half of the damage where the parsers look, half anywhere.
      let section = sections.filter { $0.name.hasPrefix(".debug") || $0.name.hasSuffix("tab") }
        .randomElement(using: &random)
      var range = 0..<bytes.count
      if let section, Bool.random(using: &random), !section.fileRange.isEmpty {
        range = Int(section.fileRange.lowerBound)..<Int(section.fileRange.upperBound)
      } else if Int.random(in: 0..<4, using: &random) == 0 {
        range = 0..<64
      }
      bytes[Int.random(in: range, using: &random)] =
        [0, 0xff, 0x80, .random(in: 0...255, using: &random)]
        .randomElement(using: &random) ?? 0
    }
    let file = try scratch("damaged-\(seed)")
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let opens = ELFFile(path: file.path) != nil
    #expect(opens || askEverything(of: file.path) == 0)
    _ = askEverything(of: file.path)
  }

  @Test("What is no file of that kind isn't opened")
  func notELF() throws {
    #expect(ELFFile(path: "/nowhere") == nil)
    #expect(ELFFile(path: "/tmp") == nil)
    #expect(ELFFile(path: "/dev/zero") == nil)
    let file = try scratch("text")
    try Data("no program\n".utf8).write(to: file)
    #expect(ELFFile(path: file.path) == nil)
  }
}
