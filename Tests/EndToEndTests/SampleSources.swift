// SampleSources: copies of the samples' sources, changed or not, compiled by hand.
internal import Foundation

/// A folder with the sources of samples, and what was compiled from them.
final class SampleSources: Sendable {
  /// A place in a sample's source and what stands there instead.
  struct Edit: Sendable {
    var file: String
    var old: String
    var new: String
  }

  private let folder: ScratchFolder
  private let options: [String]

  /// Copies what the samples share, and compiles it.
  ///
  /// - Parameter options: Options for the compiler, `-O` for one.
  init(_ options: [String]) throws {
    folder = try ScratchFolder()
    self.options = options
    try copy("Support")
    try compile(
      "Support", as: "SampleSupport",
      [
        "-parse-as-library", "-emit-module", "-emit-library", "-static", "-o", "libSampleSupport.a",
      ])
  }

  /// Compiles a sample after some edits.
  ///
  /// - Throws: `RunFailure` where a place to edit is not there once, or the result does not compile.
  func program(_ name: String, edits: [Edit] = []) throws -> URL {
    try copy(name)
    for edit in edits {
      let file = folder.url.appendingPathComponent(name).appendingPathComponent(edit.file)
      let text = try String(contentsOf: file, encoding: .utf8)
      guard text.components(separatedBy: edit.old).count == 2 else {
        throw RunFailure(description: "\(edit.file) doesn't have once: \(edit.old)")
      }
      try text.replacing(edit.old, with: edit.new).write(
        to: file, atomically: true, encoding: .utf8)
    }
    let program = folder.url.appendingPathComponent(name + "-program")
    let hasMain = FileManager.default.fileExists(
      atPath: folder.url.appendingPathComponent(name + "/main.swift").path)
    try compile(
      name, as: name,
      (hasMain ? [] : ["-parse-as-library"])
        + ["-I", ".", "-L", ".", "-lSampleSupport", "-o", program.path])
    return program
  }

  private func copy(_ name: String) throws {
    try FileManager.default.copyItem(
      at: packageFolder.appendingPathComponent("samples/" + name),
      to: folder.url.appendingPathComponent(name))
  }

  /// Compiles all sources of a folder.
  private func compile(_ name: String, as module: String, _ more: [String]) throws {
    let sources = try FileManager.default.subpathsOfDirectory(
      atPath: folder.url.appendingPathComponent(name).path
    ).filter { $0.hasSuffix(".swift") }.sorted().map { name + "/" + $0 }
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.currentDirectoryURL = folder.url
    compiler.arguments =
      ["swiftc", "-g", "-swift-version", "6", "-package-name", "elsewhere", "-module-name", module]
      + options + more + sources
    compiler.standardOutput = FileHandle.nullDevice
    try compiler.run()
    compiler.waitUntilExit()
    guard compiler.terminationStatus == 0 else {
      throw RunFailure(description: "\(name) does not compile with \(options)")
    }
  }
}
