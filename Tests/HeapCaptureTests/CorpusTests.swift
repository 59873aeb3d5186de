// Tests with the core files that a fuzzer found to lead to different places in the reader (Tests/Fuzz).

import Foundation
import Testing

@testable import HeapCapture

@Suite struct CorpusTests {
  @Test("What fuzzing has come upon is refused, or read without harm")
  func cores() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fuzz/Corpus/core")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 20)
    var readCount = 0
    for file in files {
      guard let core = try? CoreFile(path: file.path) else { continue }
      readCount += 1
      let memory = TargetMemory(CoreMemory(core, executable: nil))
      for mapping in memory.source.mappings.prefix(64) {
        _ = memory.bytes(at: mapping.start, count: min(mapping.count, 1 << 20))
        _ = memory.word(at: mapping.end &- 8)
      }
      _ = loadImages(of: memory)
      #expect(throws: CaptureError.self) { try captureCoreFile(file.path) }
    }
    #expect(readCount > 0 && readCount < files.count)
  }
}
