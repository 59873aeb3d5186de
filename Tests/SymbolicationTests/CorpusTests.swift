// Tests with the executables that a fuzzer found to lead to different places in the readers (Tests/Fuzz).

import Foundation
import Testing

@testable import Symbolication

@Suite struct CorpusTests {
  @Test("What fuzzing has come upon is refused, or gives what names it has")
  func executables() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fuzz/Corpus/elf")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 20)
    var readCount = 0
    for path in files.map(\.path) {
      guard let file = ELFFile(path: path) else { continue }
      readCount += 1
      _ = file.debugLink
      let symbols = ModuleSymbols(name: "App", image: file, debugFile: file)
      for row in symbols.symbols.functions.rows.prefix(30) {
        #expect(!symbols.rawFrames(at: row.start).isEmpty)
        _ = symbols.closure(at: row.start)
        _ = symbols.captureNames(of: row.start)
      }
      for section in file.sections.prefix(64) {
        for address in [section.addresses.lowerBound, section.addresses.upperBound &- 1] {
          _ = symbols.rawFrames(at: address)
        }
      }
    }
    #expect(readCount > 0 && readCount < files.count)
  }
}
