// Tests of capture from outside for programs built in other ways: with a static runtime, optimized,
// stripped, without reflection metadata. Each works, or says what is missing.

import Glibc
import SnapshotFormat
import Testing

@testable import HeapCapture

@Suite(.serialized) struct BuildKindsTests {
  struct Kind: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var options: [String]
    var isStripped = false

    /// What `memgraph leaks` says of the program, and with its debug file.
    var expected: [String]
    var expectedWithSymbols: [String] = []

    /// What the snapshot says is missing.
    var missing: String?
  }

  static let kinds = [
    Kind(
      testDescription: "-static-stdlib", options: ["-static-stdlib", "-g"],
      expected: ["Kinds.Node.next", "Kinds.Node.onChange", "closure #1 in Kinds.fill()"]),
    Kind(
      testDescription: "-O without debug information", options: ["-O"],
      expected: ["Kinds.Node.next", "Kinds.Node.onChange", "closure #1 in Kinds.fill()"]),
    Kind(
      testDescription: "stripped, with a debug file", options: ["-O", "-g"], isStripped: true,
      expected: [
        "Kinds.Node.next", "Kinds.Node.onChange",
        "the file has no symbols; give --symbols or don't strip it",
      ],
      expectedWithSymbols: ["closure #1 in Kinds.fill()"]),
    Kind(
      testDescription: "without reflection metadata",
      options: ["-O", "-Xfrontend", "-disable-reflection-metadata"],
      expected: ["Kinds.Node", "[unsure]", "The capture had"],
      missing: "Kinds has no reflection metadata"),
  ]

  static let source = """
    import Glibc
    final class Node {
      var next: Node?
      var onChange: (() -> Void)?
      let name: String
      init(_ name: String) { self.name = name }
    }
    final class Keeper { var kept: [Node] = [] }
    nonisolated(unsafe) var keeper = Keeper()
    @inline(never) func fill() {
      for index in 0..<6 {
        let first = Node("leaked"), second = Node("leaked too")
        first.next = second
        second.onChange = { print(first.name, index) }
        keeper.kept.append(Node("kept"))
      }
    }
    @inline(never) func clear(_ depth: Int) {
      withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) {
        $0.initializeMemory(as: UInt8.self, repeating: 0)
        if depth > 0 { clear(depth - 1) }
      }
    }
    fill()
    clear(64)
    _ = write(1, "ready\\n", 6)
    var byte: UInt8 = 0
    while read(0, &byte, 1) > 0 {}
    """

  /// A folder that goes with the instance.
  private final class Folder {
    let path: String

    init() {
      var name = Array("/tmp/memory-graph-test-XXXXXX".utf8CString)
      mkdtemp(&name)
      path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { _ = try? OutsideProgram.run("/bin/rm", ["-rf", path]) }
  }

  private func tool(_ words: [String], in folder: Folder) throws -> (status: Int32, text: String) {
    let output = folder.path + "/output"
    let status = try OutsideProgram.run("/usr/bin/env", words, output: output)
    return (status >> 8, readWholeFile(output) ?? "")
  }

  @Test(
    "Attach and core file agree, the leak is found, and what is missing is said", arguments: kinds)
  func kind(_ kind: Kind) throws {
    let folder = Folder()
    let source = folder.path + "/main.swift"
    let program = folder.path + "/Kinds"
    let file = open(source, O_WRONLY | O_CREAT, 0o600)
    let bytes = Array(Self.source.utf8)
    #expect(write(file, bytes, bytes.count) == bytes.count)
    close(file)
    var made = try tool(
      ["swiftc", "-swift-version", "6", "-module-name", "Kinds"] + kind.options
        + [source, "-o", program], in: folder)
    try #require(made.status == 0, "\(made.text)")
    if kind.isStripped {
      mkdir(folder.path + "/symbols", 0o700)
      made = try tool(
        ["objcopy", "--only-keep-debug", program, folder.path + "/symbols/Kinds.debug"], in: folder)
      try #require(made.status == 0, "\(made.text)")
      made = try tool(
        [
          "objcopy", "--strip-all", "--add-gnu-debuglink=\(folder.path)/symbols/Kinds.debug",
          program,
        ], in: folder)
      try #require(made.status == 0, "\(made.text)")
    }

    let running = try OutsideProgram([], of: program)
    let attached = try captureProcess(running.pid).snapshot
    let core = ScratchFile(try CoreWriter(of: running.pid).bytes())
    let graph = OutsideCaptureTests.Graph(attached)
    #expect(
      graph.difference(from: OutsideCaptureTests.Graph(try captureCoreFile(core.path).snapshot))
        == [])
    #expect(graph.nodes.count { $0.type == "Kinds.Node" } == 18)
    #expect(attached.process.isPartial == false)
    let diagnostics = attached.diagnostics.map(\.text)
    if let missing = kind.missing {
      #expect(diagnostics.contains { $0.contains(missing) }, "\(diagnostics)")
    } else {
      #expect(diagnostics == [])
    }
    #expect(running.finish().status == 0)

    let snapshot = folder.path + "/now.mgraph"
    try attached.write(to: snapshot)
    let memgraph = OutsideProgram.folder + "/memgraph"
    let leaks = try tool([memgraph, "leaks", snapshot], in: folder)
    #expect(leaks.status == 1)
    for text in kind.expected + ["18 leaked objects in 1 group", "6 × Kinds.Node"] {
      #expect(
        leaks.text.contains(text) || leaks.text.contains(text.replacing("×", with: "x")),
        "\(text) is not in: \(leaks.text)")
    }
    if !kind.expectedWithSymbols.isEmpty {
      let named = try tool(
        [memgraph, "leaks", snapshot, "--symbols", folder.path + "/symbols"], in: folder)
      for text in kind.expectedWithSymbols {
        #expect(named.text.contains(text), "\(text) is not in: \(named.text)")
      }
    }
  }
}
