// Tests of DebugFiles: debug information that was taken out of the program.

import Foundation
import SnapshotFormat
import Testing

@testable import Symbolication

@Suite struct DebugFilesTests {
  /// Where a debug file lies and what `--symbols` says.
  enum Place: String, Sendable, CaseIterable {
    case debugLinkBesideProgram
    case debugLinkInFolder
    case buildIDFolder
    case buildIDFolderInRoot
    case plainFile
    case wholeProgramElsewhere
  }

  @Test("A stripped program is named from its debug file", arguments: Place.allCases)
  func stripped(place: Place) throws {
    let program = try Program.debug.get()
    let folder = try Program.folder.get().appendingPathComponent(place.rawValue)
    let manager = FileManager.default
    try manager.createDirectory(at: folder, withIntermediateDirectories: true)
    let stripped = folder.appendingPathComponent("App")
    let identity = program.module().buildID
    let link = folder.appendingPathComponent("App.debug")
    try Program.run(["objcopy", "--only-keep-debug", program.path, link.path])
    try Program.run([
      "objcopy", "--strip-all", "--add-gnu-debuglink=\(link.path)", program.path, stripped.path,
    ])
    let symbols = folder.appendingPathComponent("symbols")
    let tail = "\(identity.prefix(2))/\(identity.dropFirst(2)).debug"
    let target: URL? =
      switch place {
      case .debugLinkBesideProgram: nil
      case .debugLinkInFolder: folder.appendingPathComponent(".debug/App.debug")
      case .buildIDFolder: symbols.appendingPathComponent(tail)
      case .buildIDFolderInRoot: symbols.appendingPathComponent(".build-id/\(tail)")
      case .plainFile: symbols.appendingPathComponent("some-name")
      case .wholeProgramElsewhere: symbols.appendingPathComponent("App-with-symbols")
      }
    if let target {
      try manager.createDirectory(
        at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
      try manager.moveItem(at: link, to: target)
      if place == .wholeProgramElsewhere {
        try manager.removeItem(at: target)
        try manager.copyItem(atPath: program.path, toPath: target.path)
      }
    }
    #expect(ELFFile(path: stripped.path)?.hasDebugInformation == false)
    let symbolizer = Symbolizer(
      modules: [program.module(path: stripped.path)], debugDirectories: [symbols.path])
    let whole = program.symbolizer
    for (_, function) in try program.closures() {
      let expected = whole.closure(at: function)
      let closure = symbolizer.closure(at: function)
      #expect(closure.name == expected.name)
      #expect(closure.kind == expected.kind)
      #expect(closure.line == expected.line)
      #expect(symbolizer.captureNames(of: function) == whole.captureNames(of: function))
    }
    let address = try #require(program.address { $0.hasPrefix("static App.Hub.owners : ") })
    #expect(symbolizer.variable(at: address)?.name == "static App.Hub.owners")
    #expect(symbolizer.diagnostics.isEmpty)
  }

  @Test("A debug file of another build is not used")
  func anotherBuild() throws {
    let program = try Program.debug.get()
    let folder = try Program.folder.get().appendingPathComponent("another")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let stripped = folder.appendingPathComponent("App").path
    try Program.run(["objcopy", "--strip-all", program.path, stripped])
    try FileManager.default.copyItem(
      atPath: Program.optimized.get().path, toPath: folder.appendingPathComponent("App.debug").path)
    let symbolizer = Symbolizer(
      modules: [program.module(path: stripped)], debugDirectories: [folder.path])
    let start = try #require(program.address { $0 == "App.sink(Swift.Int) -> ()" })
    #expect(symbolizer.frames(atReturnAddress: start + 4).allSatisfy { $0.line == nil })
  }

  @Test("A debug file without build ids is recognised by its checksum")
  func checksumLink() throws {
    let program = try Program.debug.get()
    let folder = try Program.folder.get().appendingPathComponent("checksum")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let plain = folder.appendingPathComponent("plain").path
    let debug = folder.appendingPathComponent("App.debug").path
    let stripped = folder.appendingPathComponent("App").path
    try Program.run(["objcopy", "--remove-section=.note.gnu.build-id", program.path, plain])
    try Program.run(["objcopy", "--only-keep-debug", plain, debug])
    try Program.run(["objcopy", "--strip-all", "--add-gnu-debuglink=\(debug)", plain, stripped])
    let start = try #require(program.address { $0 == "App.sink(Swift.Int) -> ()" })
    let module = program.module(path: stripped, buildID: "")
    let frames = Symbolizer(modules: [module]).frames(atReturnAddress: start + 4)
    #expect(frames.last?.function == "App.sink(_:)")
    #expect(frames.last?.line != nil)

    // One byte more, and it is another file.
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: debug))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data([0]))
    try handle.close()
    let refused = Symbolizer(modules: [module]).frames(atReturnAddress: start + 4)
    #expect(refused.allSatisfy { $0.line == nil })
  }

  @Test("The checksum is the one that zlib and gdb call CRC-32")
  func checksum() throws {
    let path = try Program.folder.get().appendingPathComponent("checksum-input").path
    try Data("123456789".utf8).write(to: URL(fileURLWithPath: path))
    #expect(Symbolication.checksum(ofFile: path) == 0xcbf4_3926)
    #expect(Symbolication.checksum(ofFile: "/nowhere/file") == nil)
  }
}
