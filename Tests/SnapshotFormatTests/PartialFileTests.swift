// Tests of files that get their name when they are whole.

import Foundation
import Glibc
import Testing

@testable import SnapshotFormat

@Suite struct PartialFileTests {
  private func put(_ text: String, in descriptor: Int32) {
    #expect(write(descriptor, text, text.utf8.count) == text.utf8.count)
  }

  @Test(
    "Nothing can be seen of a file before it is whole, and what was there is replaced in one step")
  func unnamed() throws {
    try withScratchFolder { folder in
      for text in ["first", "second"] {
        let before = try contents(of: folder)
        let file = try PartialFile(at: folder + "/a", mode: 0o600)
        put(text, in: file.descriptor)
        #expect(try contents(of: folder) == before)
        try file.publish()
        #expect(try contents(of: folder) == ["a"])
        #expect(try String(contentsOfFile: folder + "/a", encoding: .utf8) == text)
        #expect(try permissions(of: folder + "/a") == 0o600)
      }
      let file = try PartialFile(at: folder + "/a", mode: 0o600)
      put("third", in: file.descriptor)
      file.discard()
      #expect(try contents(of: folder) == ["a"])
      #expect(try String(contentsOfFile: folder + "/a", encoding: .utf8) == "second")
    }
  }

  @Test("Where a file must have a name it has another one until then")
  func named() throws {
    try withScratchFolder { folder in
      let file = try PartialFile(at: folder + "/a", mode: 0o600, mayBeUnnamed: false)
      put("text", in: file.descriptor)
      let names = try contents(of: folder)
      #expect(names.count == 1 && names != ["a"])
      try file.publish()
      #expect(try contents(of: folder) == ["a"])
      let other = try PartialFile(at: folder + "/b", mode: 0o600, mayBeUnnamed: false)
      other.discard()
      #expect(try contents(of: folder) == ["a"])
    }
  }

  @Test("A folder at the place, or none above it, is said", arguments: [true, false])
  func impossible(mayBeUnnamed: Bool) throws {
    try withScratchFolder { folder in
      try FileManager.default.createDirectory(
        atPath: folder + "/a", withIntermediateDirectories: true)
      func make(_ path: String) throws {
        let file = try PartialFile(at: folder + path, mode: 0o600, mayBeUnnamed: mayBeUnnamed)
        try file.publish()
      }
      #expect(throws: PartialFile.Failure.self) { try make("/a") }
      #expect(try contents(of: folder) == ["a"])
      let missing = #expect(throws: PartialFile.Failure.self) { try make("/none/a") }
      #expect(missing?.errno == ENOENT && missing?.operation == "create")
    }
  }
}
