// Tests with the files that a fuzzer found to lead to different places in the reader (Tests/Fuzz).

import Foundation
import SnapshotFormat
import Testing

@Suite struct CorpusTests {
  @Test("What fuzzing has come upon is refused, or is a valid snapshot")
  func snapshots() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fuzz/Corpus/snapshot")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 20)
    var readCount = 0
    for file in files {
      let bytes = try [UInt8](Data(contentsOf: file))
      _ = try? Snapshot(bytes: bytes)
      guard let snapshot = try? Snapshot(bytes: bytes, verifyingChecksums: false) else { continue }
      readCount += 1
      try snapshot.validate()
      _ = snapshot.textDump()
      for ofNames in [false, true] { try snapshot.stripped(ofNames: ofNames).validate() }
      // Again a file that is read, and says the same.
      #expect(try Snapshot(bytes: snapshot.serialized()).textDump() == snapshot.textDump())
    }
    #expect(readCount > 0 && readCount < files.count)
  }
}
