// Program: small Swift programs that the tests compile, and what they say of themselves.

import Foundation
import SnapshotFormat

@testable import Symbolication

/// A compiled program whose names the tests look up.
struct Program: Sendable {
  /// Where the program is.
  let path: String

  /// Where the loader is supposed to have put it.
  static let bias: UInt64 = 0x5555_5540_0000

  /// How a program is compiled.
  enum Build: String, Sendable, CaseIterable {
    case debug
    case optimized
    case withoutDebugInformation
  }

  static let debug = Result { try compile(.debug) }
  static let optimized = Result { try compile(.optimized) }
  static let withoutDebugInformation = Result { try compile(.withoutDebugInformation) }

  static func built(_ build: Build) throws -> Program {
    switch build {
    case .debug: try debug.get()
    case .optimized: try optimized.get()
    case .withoutDebugInformation: try withoutDebugInformation.get()
    }
  }

  /// A folder for this run's files, removed by the system's own tidying.
  static let folder: Result<URL, any Error> = Result {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("memory-graph-symbols-\(getpid())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    atexit { Program.removeFolder() }
    return folder
  }

  private static func removeFolder() {
    if let folder = try? folder.get() { try? FileManager.default.removeItem(at: folder) }
  }

  static let source: Result<URL, any Error> = Result {
    let file = try folder.get().appendingPathComponent("Call.swift")
    try ProgramSource.text.write(to: file, atomically: true, encoding: .utf8)
    return file
  }

  private static func compile(_ build: Build) throws -> Program {
    let folder = try folder.get()
    let source = try source.get()
    let path = folder.appendingPathComponent(build.rawValue).path
    let flags =
      switch build {
      case .debug: ["-Onone", "-g"]
      case .optimized: ["-O", "-g"]
      case .withoutDebugInformation: ["-Onone"]
      }
    // A name without a folder, as build systems often give: reports must have the folder all the same.
    try run(
      ["-C", folder.path, "swiftc"] + flags + [
        "-module-name", "App", "-parse-as-library", source.lastPathComponent, "-o", path,
        "-Xlinker", "--build-id=sha1",
      ])
    return Program(path: path)
  }

  /// The module as a snapshot would describe it.
  func module(path: String? = nil, buildID: String? = nil) -> Snapshot.Module {
    Snapshot.Module(
      path: path ?? self.path, buildID: buildID ?? ELFFile(path: self.path)?.buildID ?? "none",
      bias: Program.bias, start: Program.bias, end: Program.bias + 0x100_0000)
  }

  /// A symbolizer that knows the program alone.
  var symbolizer: Symbolizer { Symbolizer(modules: [module()]) }

  /// The functions of closure values, by name, as the running program has them.
  func closures() throws -> [String: UInt64] {
    var result: [String: UInt64] = [:]
    for line in try Program.run([path]).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2, let offset = UInt64(words[1], radix: 16) {
        result[String(words[0])] = Program.bias + offset
      }
    }
    return result
  }

  /// The address of a symbol whose demangled text passes a test, in the program's memory.
  func address(where matches: (String) -> Bool) -> UInt64? {
    guard let file = ELFFile(path: path) else { return nil }
    // The names lie in the file.
    return withExtendedLifetime(file) {
      let symbols = SymbolTable(files: [file])
      for row in symbols.functions.rows + symbols.variables.rows {
        if let text = demangleSwift(row.value), matches(text) { return Program.bias + row.start }
      }
      return nil
    }
  }

  /// The line of the source that ends with a marker: `// marker`.
  static func line(_ marker: String) -> Int? {
    ProgramSource.text.split(separator: "\n", omittingEmptySubsequences: false)
      .firstIndex { $0.hasSuffix("// " + marker) }.map { $0 + 1 }
  }

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// Runs a program that is found as a shell finds it and gives what it wrote.
  @discardableResult
  static func run(_ arguments: [String], input: String? = nil) throws -> String {
    let folder = try folder.get()
    let output = folder.appendingPathComponent("output-\(UUID().uuidString)")
    let errors = folder.appendingPathComponent("errors-\(UUID().uuidString)")
    let inputFile = folder.appendingPathComponent("input-\(UUID().uuidString)")
    defer {
      for file in [output, errors, inputFile] { try? FileManager.default.removeItem(at: file) }
    }
    for file in [output, errors] {
      try Data().write(to: file)
    }
    try Data((input ?? "").utf8).write(to: inputFile)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    process.standardInput = try FileHandle(forReadingFrom: inputFile)
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      let said = try String(contentsOf: errors, encoding: .utf8)
      throw Failure(
        description: "\(arguments.joined(separator: " ")): \(process.terminationStatus): \(said)")
    }
    return try String(contentsOf: output, encoding: .utf8)
  }
}
