// Tests of writing and reading snapshot files: round trips, damage of every kind, and a system that refuses.

import Foundation
import GraphPrimitives
import SnapshotDSL
import SnapshotFormat
import Testing

@Suite struct SnapshotFileTests {
  // MARK: Round trips

  @Test(
    "What is written is read, and written again as the same bytes",
    arguments: 0..<100 as Range<UInt64>)
  func roundTrip(seed: UInt64) throws {
    let snapshot = randomBuilder(seed: seed).finish()
    try snapshot.validate()
    let bytes = snapshot.serialized()
    let read = try Snapshot(bytes: bytes)
    #expect(read.textDump() == snapshot.textDump())
    #expect(read.serialized() == bytes)
    let unverified = try Snapshot(bytes: bytes, verifyingChecksums: false)
    #expect(unverified.textDump() == snapshot.textDump())
  }

  @Test("Equal builders give equal bytes", arguments: 0..<10 as Range<UInt64>)
  func determinism(seed: UInt64) {
    #expect(
      randomBuilder(seed: seed).finish().serialized()
        == randomBuilder(seed: seed).finish().serialized())
  }

  @Test("A file holds what serialized() says, and can be read by its owner alone")
  func file() throws {
    try withScratchFolder { folder in
      let snapshot = randomBuilder(seed: 7).finish()
      let path = folder + "/a.mgraph"
      try snapshot.write(to: path)
      #expect(try [UInt8](Data(contentsOf: URL(filePath: path))) == snapshot.serialized())
      #expect(try Snapshot(contentsOf: path).textDump() == snapshot.textDump())
      #expect(try permissions(of: path) == 0o600)
      #expect(try contents(of: folder) == ["a.mgraph"])
    }
  }

  @Test("Writing over a snapshot leaves the old one to those who have it mapped")
  func overwriting() throws {
    try withScratchFolder { folder in
      let first = randomBuilder(seed: 1).finish()
      let second = randomBuilder(seed: 2).finish()
      let path = folder + "/a.mgraph"
      try first.write(to: path)
      let mapped = try Snapshot(contentsOf: path)
      try second.write(to: path)
      #expect(mapped.textDump() == first.textDump())
      #expect(try Snapshot(contentsOf: path).textDump() == second.textDump())
    }
  }
}

/// Calls `body` with the path of an empty folder that is removed afterwards.
func withScratchFolder(_ body: (String) throws -> Void) throws {
  let folder = FileManager.default.temporaryDirectory.appending(
    path: "memory-graph-" + UUID().uuidString)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try body(folder.path(percentEncoded: false))
}

func contents(of folder: String) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
}

func permissions(of path: String) throws -> Int? {
  let attributes = try FileManager.default.attributesOfItem(atPath: path)
  return (attributes[.posixPermissions] as? NSNumber)?.intValue
}
