// Tests of what the errors say, and of files and folders that the system or the user gets wrong.

import Foundation
import SnapshotDSL
import SnapshotFormat
import Testing

@Suite struct SnapshotErrorTests {
  struct Description: Sendable, CustomTestStringConvertible {
    var error: SnapshotError
    var text: String
    var testDescription: String { text }
  }

  static let descriptions = [
    Description(
      error: .file(path: "marks/a.mgraph", operation: "open", errno: ENOENT),
      text: "marks/a.mgraph: can't open: No such file or directory; check the path"),
    Description(
      error: .file(path: "marks/a.mgraph", operation: "open", errno: EACCES),
      text: "marks/a.mgraph: can't open: Permission denied; read it as a user who may"),
    Description(
      error: .file(path: "marks/a.mgraph", operation: "create", errno: EACCES),
      text: "marks/a.mgraph: can't create: Permission denied; choose a folder that you may write to"
    ),
    Description(
      error: .file(path: "marks/a.mgraph", operation: "create", errno: ENOENT),
      text: "marks/a.mgraph: can't create: No such file or directory; make the folder first"),
    Description(
      error: .file(path: "marks/a.mgraph", operation: "write", errno: ENOSPC),
      text:
        "marks/a.mgraph: can't write: No space left on device; make room or choose another folder"),
    Description(
      error: .file(path: "marks", operation: "read", errno: EISDIR),
      text: "marks: can't read: Is a directory; give a file, not a folder"),
    Description(
      error: .file(path: "a.mgraph", operation: "write", errno: EIO),
      text: "a.mgraph: can't write: Input/output error"),
    Description(
      error: .notASnapshot(path: "a.pdf", found: "the file starts with \"%PDF\""),
      text:
        "a.pdf: not a memory-graph snapshot: the file starts with \"%PDF\"; give a file that ends "
        + "in .mgraph as memgraph run writes it"),
    Description(
      error: .newerVersion(path: "a.mgraph", major: 2, minor: 1),
      text:
        "a.mgraph: a snapshot of format 2.1, newer than 1.4, the newest that this version reads; "
        + "use the memgraph that wrote it, or a later one"),
    Description(
      error: .truncated(
        path: "a.mgraph", section: "edges.target", offset: 0x1C40, expected: 16, found: 4),
      text:
        "a.mgraph: cut short: edges.target at offset 0x1c40 has 16 bytes, the file only 4 of them; "
        + "copy the whole file again, or take a new snapshot"),
    Description(
      error: .checksum(path: "a.mgraph", section: "edges.info", offset: 0x40),
      text:
        "a.mgraph: damaged: the checksum of edges.info at offset 0x40 does not match its bytes; "
        + "copy the file again, or take a new snapshot"),
    Description(
      error: .missingSection(path: "a.mgraph", section: "edges.info"),
      text:
        "a.mgraph: incomplete: there is no section edges.info, which every snapshot has; take a "
        + "new snapshot"),
    Description(
      error: .unknownSection(path: "a.mgraph", section: "edges.color", offset: 0x40),
      text:
        "a.mgraph: from a newer version: section edges.color at offset 0x40 must be understood to "
        + "read the file; use the memgraph that wrote it, or a later one"),
    Description(
      error: .malformed(path: "", section: "nodes.type", offset: 4, reason: "row 1 is not a row"),
      text:
        "damaged: nodes.type at offset 0x4: row 1 is not a row; copy the file again, or take a new "
        + "snapshot"),
  ]

  @Test("An error says what, where, why and what to do", arguments: descriptions)
  func description(_ description: Description) {
    #expect("\(description.error)" == description.text)
  }

  // MARK: Files that are no snapshots

  struct Foreign: Sendable, CustomTestStringConvertible {
    var bytes: [UInt8]
    var found: String
    var testDescription: String { found }
  }

  static let foreign = [
    Foreign(bytes: [], found: "the file is empty"),
    Foreign(bytes: Array("%PDF-1.7\n".utf8), found: "the file starts with \"%PDF-1.7\""),
    Foreign(
      bytes: Array("{\"schema\": 1}".utf8),
      found: #"the file starts with "{\"schema""#),
    Foreign(bytes: Array("Hi".utf8), found: "the file starts with \"Hi\""),
    Foreign(
      bytes: [0x7F, 0x45, 0x4C, 0x46, 2], found: "the file starts with the bytes 7F 45 4C 46 02"),
    Foreign(
      bytes: Array(SnapshotDamageTests.whole[..<7]),
      found: "the file starts with the bytes 89 4D 47 52 41 50 48"),
    Foreign(
      bytes: [0x89, 0x4D, 0x47, 0x52, 0x41, 0x50, 0x48, 0x0D, 0x0A],
      found: "the file starts with the bytes 89 4D 47 52 41 50 48 0D"),
  ]

  @Test("A file of another kind is refused with what it starts with", arguments: foreign)
  func foreignFile(_ foreign: Foreign) throws {
    try withScratchFolder { folder in
      let path = folder + "/a.mgraph"
      try Data(foreign.bytes).write(to: URL(filePath: path))
      let expected = SnapshotError.notASnapshot(path: path, found: foreign.found)
      #expect(throws: expected) { try Snapshot(contentsOf: path) }
    }
  }

  @Test("Folders, pipes, devices and missing files are refused at once")
  func notAFile() throws {
    try withScratchFolder { folder in
      let missing = folder + "/none.mgraph"
      #expect(throws: SnapshotError.file(path: missing, operation: "open", errno: ENOENT)) {
        try Snapshot(contentsOf: missing)
      }
      #expect(throws: SnapshotError.file(path: folder, operation: "read", errno: EISDIR)) {
        try Snapshot(contentsOf: folder)
      }
      let pipe = folder + "/pipe"
      try #require(mkfifo(pipe, 0o600) == 0)
      let found = "it is a pipe or a device, not a file"
      #expect(throws: SnapshotError.notASnapshot(path: pipe, found: found)) {
        try Snapshot(contentsOf: pipe)
      }
      #expect(throws: SnapshotError.notASnapshot(path: "/dev/null", found: found)) {
        try Snapshot(contentsOf: "/dev/null")
      }
    }
  }

  // MARK: Places that can't be written to

  @Test(
    "A folder that is not there, a folder's own path and a device are refused; nothing is replaced")
  func unwritablePath() throws {
    try withScratchFolder { folder in
      let snapshot = randomBuilder(seed: 3).finish()
      let missing = folder + "/none/a.mgraph"
      #expect(throws: SnapshotError.file(path: missing, operation: "create", errno: ENOENT)) {
        try snapshot.write(to: missing)
      }
      #expect(throws: SnapshotError.file(path: folder, operation: "write", errno: EISDIR)) {
        try snapshot.write(to: folder)
      }
      let pipe = folder + "/pipe"
      try #require(mkfifo(pipe, 0o600) == 0)
      #expect(throws: SnapshotError.file(path: pipe, operation: "write", errno: EOPNOTSUPP)) {
        try snapshot.write(to: pipe)
      }
      let long = folder + "/" + String(repeating: "a", count: 300)
      #expect(throws: SnapshotError.file(path: long, operation: "rename", errno: ENAMETOOLONG)) {
        try snapshot.write(to: long)
      }
      let left = try contents(of: folder)
      #expect(left == ["pipe"])
    }
  }

  @Test("In a folder without permission to write nothing is made")
  func unwritableFolder() async {
    // In a process of its own, which gives up root's right to write anywhere.
    await #expect(processExitsWith: .success) {
      try withScratchFolder { folder in
        try #require(chmod(folder, 0o555) == 0)
        if geteuid() == 0 { try #require(seteuid(65_534) == 0) }
        let path = folder + "/a.mgraph"
        #expect(throws: SnapshotError.file(path: path, operation: "create", errno: EACCES)) {
          try randomBuilder(seed: 3).finish().write(to: path)
        }
        let left = try contents(of: folder)
        #expect(left == [])
        if getuid() == 0 { try #require(seteuid(0) == 0) }
      }
    }
  }

  @Test("Where there is no room the old file stays, nothing else does, and the process lives on")
  func noRoom() async {
    // In a process of its own, whose files may not grow beyond what the old snapshot has.
    await #expect(processExitsWith: .success) {
      try withScratchFolder { folder in
        let path = folder + "/a.mgraph"
        let old = SnapshotDSL().snapshot()
        try old.write(to: path)
        var limit = rlimit(rlim_cur: 1_000, rlim_max: 1_000)
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
        #expect(throws: SnapshotError.file(path: path, operation: "write", errno: EFBIG)) {
          try randomBuilder(seed: 3).finish().write(to: path)
        }
        let left = try contents(of: folder)
        #expect(left == ["a.mgraph"])
        let kept = try Snapshot(contentsOf: path)
        #expect(kept.serialized() == old.serialized())
      }
    }
  }

  @Test("On a full disk the old file stays and nothing else does", .enabled(if: mayMount))
  func fullDisk() throws {
    try withScratchFolder { folder in
      try #require(mount("none", folder, "tmpfs", 0, "size=64k") == 0)
      defer { umount(folder) }
      let path = folder + "/a.mgraph"
      let old = SnapshotDSL().snapshot()
      try old.write(to: path)
      var large = SnapshotBuilder()
      let type = large.type("App.T")
      for row in 1...4_000 as ClosedRange<UInt64> {
        large.add(SnapshotBuilder.Node(address: row * 16, size: 16, type: type))
      }
      #expect(throws: SnapshotError.file(path: path, operation: "write", errno: ENOSPC)) {
        try large.finish().write(to: path)
      }
      #expect(try contents(of: folder) == ["a.mgraph"])
      #expect(try Snapshot(contentsOf: path).serialized() == old.serialized())
    }
  }

  /// Whether this process may mount a disk: root outside most containers.
  static let mayMount: Bool = {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
    let capabilities = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
    let mayAdministrate: UInt64 = 1 << 21
    return capabilities & mayAdministrate != 0
  }()
}
