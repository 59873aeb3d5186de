// Tests of programs whose files are not where they are said to be, or can't be read: they are found all the same, or
// it is said what is missing; nothing is called leaked for it.

import Glibc
import SnapshotFormat
import Testing

@testable import HeapCapture

@Suite(.serialized) struct UnreadableFilesTests {
  /// A folder of some name within one of this test's, with a copy of the program in it.
  private final class Place {
    let folder: String
    private let _copy: [CChar]

    /// A link to the copy, whose name is text.
    var link: String { folder + "/program" }

    init(name: [UInt8], mode: mode_t = 0o755) throws {
      var template = Array("/tmp/memory-graph-test-XXXXXX".utf8CString)
      mkdtemp(&template)
      folder = String(
        decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      chmod(folder, 0o755)
      let inner = Array(folder.utf8) + [UInt8(ascii: "/")] + name
      _copy = ((inner + Array("/OutsideTarget".utf8)) + [0]).map { CChar(bitPattern: $0) }
      guard mkdir((inner + [0]).map { CChar(bitPattern: $0) }, 0o755) == 0,
        symlink(_copy, link) == 0
      else { throw OutsideProgram.Failure(description: "no folder in \(folder)") }
      try _put(OutsideProgram.folder + "/OutsideTarget")
      chmod(link, mode)
    }

    /// Puts another file in the copy's place.
    func replace() throws { try _put("/bin/true") }

    private func _put(_ file: String) throws {
      guard try OutsideProgram.run("/bin/cp", [file, folder + "/new"]) == 0,
        rename(folder + "/new", _copy) == 0
      else { throw OutsideProgram.Failure(description: "no copy in \(folder)") }
    }

    deinit { _ = try? OutsideProgram.run("/bin/rm", ["-rf", folder]) }
  }

  /// The objects of the graph that no root reaches, those that really leak among them.
  static func unreached(_ graph: OutsideCaptureTests.Graph) -> [String] {
    var targets: [UInt64: [UInt64]] = [:]
    for edge in graph.edges.keys where EdgeInfo(rawValue: edge.info).isStrong {
      targets[edge.from, default: []].append(edge.to)
    }
    var pending = graph.roots.map(\.target)
    var reached: Set<UInt64> = []
    while let next = pending.popLast() {
      if reached.insert(next).inserted { pending += targets[next] ?? [] }
    }
    return graph.nodes.filter { !reached.contains($0.address) && $0.type == "OutsideTarget.Node" }
      .map(\.description)
  }

  private func expectWhole(_ snapshot: Snapshot, _ comment: Comment) {
    #expect(fileGaps(in: snapshot) == [], comment)
    let graph = OutsideCaptureTests.Graph(snapshot)
    #expect(graph.nodes.count { $0.type == "OutsideTarget.Node" } == 245, comment)
    #expect(graph.edges.keys.contains { $0.label.hasPrefix("children ") }, comment)
    #expect(Self.unreached(graph).count == 14, comment)
  }

  @Test("Folders may be called anything: with newlines, backslashes, or bytes that are no text")
  func names() throws {
    let names: [[UInt8]] = [
      Array("two\nlines".utf8), Array(#"a\012b"#.utf8), Array("a (deleted)".utf8),
      [0x61, 0xff, 0xfe, 0x62],
      [0xc3, 0x28, 10, 0x80],
    ]
    for name in names {
      let place = try Place(name: name)
      let program = try OutsideProgram(["graph"], of: place.link, withAgent: true)
      let comment = Comment(rawValue: String(decoding: name, as: UTF8.self).debugDescription)
      expectWhole(try captureProcess(program.pid).snapshot, comment)
      expectWhole(try Snapshot(contentsOf: try program.mark("twin")), comment)
    }
  }

  @Test("An executable that was deleted or replaced is read as it was loaded")
  func replaced() throws {
    let place = try Place(name: Array("a".utf8))
    let program = try OutsideProgram(["graph"], of: place.link, withAgent: true)
    try place.replace()
    expectWhole(try captureProcess(program.pid).snapshot, "attach")
    expectWhole(try Snapshot(contentsOf: try program.mark("twin")), "twin")
  }

  @Test("Files that only the program's mount namespace has are read there")
  func mountNamespace() throws {
    // Only root may make one.
    if geteuid() != 0 { return }
    let place = try Place(name: Array("a".utf8))
    let other = try OutsideProgram(["tick"])
    let core = try #require(
      loadImages(of: try copyProcess(other.pid).memory)
        .first { $0.module.path.hasSuffix("/libswiftCore.so") })
    let script =
      "mount -t tmpfs none \(place.folder)/a && cp \(OutsideProgram.folder)/OutsideTarget"
      + " \(core.module.path) \(place.folder)/a/ && LD_LIBRARY_PATH=\(place.folder)/a"
      + " exec \(place.folder)/a/OutsideTarget graph"
    let program = try OutsideProgram(["-m", "sh", "-c", script], of: "/usr/bin/unshare")
    #expect(access(place.folder + "/a/libswiftCore.so", F_OK) != 0)
    expectWhole(try captureProcess(program.pid).snapshot, "attach")
  }

  @Test(
    "An executable that nobody may read has its types in memory: it is said what is missing, with the mend"
  )
  func executeOnly() throws {
    // Root reads everything, and only root can make another user.
    if geteuid() != 0 || !NoTraceTests.isReachableByOthers { return }
    let place = try Place(name: Array("a".utf8), mode: 0o711)
    let program = try OutsideProgram(
      ["graph"], of: place.link, withAgent: true, restrictions: ["--user", NoTraceTests.nobody])
    let snapshot = try Snapshot(contentsOf: try program.mark("twin"))
    let gaps = fileGaps(in: snapshot)
    #expect(gaps.count == 1, "\(gaps)")
    #expect(
      gaps.first?.contains(
        "/a/OutsideTarget can't be read (Permission denied), so its functions have no names")
        == true)
    #expect(gaps.first?.contains("chmod a+r") == true)
    let graph = OutsideCaptureTests.Graph(snapshot)
    #expect(graph.nodes.count { $0.type == "OutsideTarget.Node" } == 245)
    #expect(graph.edges.keys.contains { $0.label.hasPrefix("children ") })
    #expect(Self.unreached(graph).count == 14)
  }
}
