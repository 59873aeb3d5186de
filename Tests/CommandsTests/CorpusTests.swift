// Tests with the files that fuzzers found to lead to different places (Tests/Fuzz), through the tool's verbs.

import Foundation
import SnapshotFormat
import Testing

@testable import Commands

@Suite struct CorpusTests {
  private static func files(_ corpus: String) throws -> [URL] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fuzz/Corpus/" + corpus)
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }
  }

  @Test("Verbs look into any snapshot that the reader lets through")
  func snapshots() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "corpus-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var readCount = 0
    for file in try Self.files("snapshot") {
      let bytes = try [UInt8](Data(contentsOf: file))
      guard let snapshot = try? Snapshot(bytes: bytes, verifyingChecksums: false) else { continue }
      readCount += 1
      // With checksums that are right.
      let path = folder.appending(path: "\(readCount).mgraph").path
      try snapshot.write(to: path)
      for words in [
        ["leaks", path], ["summary", path], ["cycles", path], ["tree", path], ["tasks", path],
        ["audit", path], ["stacks", path], ["paths", path, "*", "--all"], ["diff", path, path],
        ["growth", path, path, path], ["view", path, "-o", "/dev/null"],
      ] {
        let call = Call(words)
        #expect((0...4).contains(call.status.rawValue), "\(words)")
      }
    }
    #expect(readCount > 0)
  }

  @Test("Files that people write are read, or refused with the line")
  func json() throws {
    let files = try Self.files("json")
    #expect(files.count >= 20)
    var readCount = 0
    for file in files {
      let path = file.path
      _ = try? Configuration(contentsOf: path)
      let known = Call(["known", "list", path])
      #expect(known.status == .nothingFound || known.status == .unreadable, "\(path)")
      #expect(known.status == .nothingFound || known.errors.hasPrefix("memgraph: \(path)"))
      readCount += known.status == .nothingFound ? 1 : 0
      #expect((0...4).contains(Call(["verify", path, path]).status.rawValue), "\(path)")
    }
    #expect(readCount > 0)
  }
}
