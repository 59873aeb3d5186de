// AgentPrograms: the programs that the tests of the agent run, and where they are built.

import Foundation
import HeapCapture

/// Programs that the tests build once.
enum AgentPrograms {
  /// The folder with what the package builds: the test program lies in it.
  static let products: URL = {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: own).deletingLastPathComponent()
  }()

  /// The library to preload.
  static var library: String {
    products.appendingPathComponent("libMemoryGraphPreload.so").path
  }

  /// A folder for this run's files.
  static let folder: Result<URL, any Error> = Result {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("memory-graph-agent-\(getpid())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    atexit { AgentPrograms.removeFolder() }
    return folder
  }

  private static func removeFolder() {
    if let folder = try? folder.get() { try? FileManager.default.removeItem(at: folder) }
  }

  /// `CProgram.text`, which takes what it is to do as its argument.
  static let modes = Result { try compile(CProgram.text, named: "modes", swift: true) }

  /// The same without anything of Swift.
  static let notSwift = Result { try compile(CProgram.text, named: "notswift", swift: false) }

  /// The same with the agent's hooks in the executable.
  static let linked = Result {
    try compile(CProgram.text, named: "linked", swift: true, linkingHooks: true)
  }

  /// `StackTableProgram.text`, which calls functions that nobody sees outside the agent.
  static let stackTables = Result {
    try compile(StackTableProgram.text, named: "stacktables", swift: false, linkingHooks: true)
  }

  /// `CountedProgram.text`, which allocates as often as it is told.
  static let counted = Result { try compile(CountedProgram.text, named: "counted", swift: true) }

  /// The same with the agent's hooks in it, optimized.
  static let countedLinked = Result {
    try compile(
      CountedProgram.text, named: "countedlinked", swift: true,
      linking: optimizedObjects(of: ["CMemoryGraphHooks", "CMemoryGraphLayout"]))
  }

  /// The library to preload as a release has it: what the tests were built with may not be optimized.
  static let optimizedLibrary = Result {
    let library = try folder.get().appendingPathComponent("optimized.so").path
    let objects = try optimizedObjects(
      of: ["CMemoryGraphHooks", "CMemoryGraphLayout", "MemoryGraphPreload"])
    let result = try Command(
      ["clang", "-shared", "-o", library] + objects + ["-ldl", "-lpthread"]
    ).run()
    guard result.status == 0 else { throw AgentTestError(result.errors) }
    return library
  }

  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The agent compiled as for a release, but without debug information, which valgrind 3.19 can't read.
  private static func optimizedObjects(of targets: [String]) throws -> [String] {
    let made = try folder.get().appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
    return try targets.flatMap { target in
      let sources = root.appendingPathComponent("Sources/" + target)
      return try FileManager.default.contentsOfDirectory(atPath: sources.path)
        .filter { $0.hasSuffix(".c") }.sorted().map { name in
          let object = made.appendingPathComponent(name + ".o").path
          let result = try Command(
            ["clang", "-c", "-O2", "-fPIC", "-fno-omit-frame-pointer"]
              + includes + [sources.appendingPathComponent(name).path, "-o", object]
          ).run()
          guard result.status == 0 else { throw AgentTestError(result.errors) }
          return object
        }
    }
  }

  /// `SanitizedProgramTests.program` with the agent in it, both built with a sanitizer.
  static func sanitized(by sanitizer: String) throws -> String {
    let folder = try folder.get()
    let source = folder.appendingPathComponent("sanitized-by-\(sanitizer).c")
    try SanitizedProgramTests.program.write(to: source, atomically: true, encoding: .utf8)
    let program = folder.appendingPathComponent("sanitized-by-\(sanitizer)").path
    let sources = try ["CMemoryGraphHooks", "CMemoryGraphLayout"].flatMap { target in
      let sources = root.appendingPathComponent("Sources/" + target)
      return try FileManager.default.contentsOfDirectory(atPath: sources.path)
        .filter { $0.hasSuffix(".c") }.sorted().map { sources.appendingPathComponent($0).path }
    }
    let objects = folder.appendingPathComponent("sanitized-by-\(sanitizer).objects")
    try FileManager.default.createDirectory(at: objects, withIntermediateDirectories: true)
    let compiling = [
      "clang", "-c", "-g1", "-O1", "-pthread", "-fsanitize=" + sanitizer, source.path,
    ]
    // Linked by swiftc, which knows where the sanitizer's runtime finds libdispatch.
    let result = try Command(
      [
        "sh", "-c",
        "cd '\(objects.path)' && \"$@\" && exec swiftc -sanitize=\(sanitizer) *.o -o '\(program)'",
        "sh",
      ] + compiling + includes + sources
    ).run()
    guard result.status == 0 else { throw AgentTestError(result.errors) }
    return program
  }

  private static let includes = [
    "CMemoryGraphHooks/include", "CMemoryGraphLayout/include", "CMemoryGraphHooks",
  ].map { "-I" + root.appendingPathComponent("Sources/" + $0).path }

  /// `SwiftProgram.text`, which links the agent as a package that depends on it does.
  static let swiftLinked = Result { try compileSwift(SwiftProgram.text, named: "swiftlinked") }

  /// `SampledProgram.text`.
  static let sampled = Result {
    let folder = try AgentPrograms.folder.get()
    let source = folder.appendingPathComponent("Sampled.swift")
    try SampledProgram.text.write(to: source, atomically: true, encoding: .utf8)
    let program = folder.appendingPathComponent("Sampled").path
    let result = try Command(["swiftc", "-g", source.path, "-o", program]).run()
    guard result.status == 0 else { throw AgentTestError(result.errors) }
    return program
  }

  private static func compileSwift(_ text: String, named name: String) throws -> String {
    let folder = try folder.get()
    let source = folder.appendingPathComponent(name + ".swift")
    try text.write(to: source, atomically: true, encoding: .utf8)
    let program = folder.appendingPathComponent(name).path
    var arguments = [
      "swiftc", "-g", "-parse-as-library", source.path, "-o", program, "-lz", "-I",
      products.appendingPathComponent("Modules").path,
    ]
    let moduleMaps = [
      root.appendingPathComponent("Sources/CZlib/module.modulemap").path
    ]
    let generated = ["CHeapCapture", "CMemoryGraphLayout", "CMemoryGraphHooks"].map {
      products.appendingPathComponent($0 + ".build/module.modulemap").path
    }
    for map in moduleMaps + generated { arguments += ["-Xcc", "-fmodule-map-file=" + map] }
    for target in ["CMemoryGraphLayout", "CMemoryGraphHooks"] {
      arguments += ["-Xcc", "-I" + root.appendingPathComponent("Sources/\(target)/include").path]
    }
    arguments += try objects(of: [
      "MemoryGraphAgent", "HeapCapture", "SnapshotFormat", "GraphPrimitives", "CHeapCapture",
      "CMemoryGraphHooks", "CMemoryGraphLayout",
    ])
    let result = try Command(arguments).run()
    guard result.status == 0 else { throw AgentTestError(result.output + result.errors) }
    return program
  }

  private static func compile(
    _ text: String, named name: String, swift: Bool, linkingHooks: Bool = false,
    linking more: [String] = []
  ) throws -> String {
    let folder = try folder.get()
    let source = folder.appendingPathComponent(name + ".c")
    try text.write(to: source, atomically: true, encoding: .utf8)
    let program = folder.appendingPathComponent(name).path
    let object = folder.appendingPathComponent(name + ".o").path
    var result = try Command(
      [
        "clang", "-c", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
        "-fno-builtin", "-pthread", source.path, "-o", object,
      ] + includes
    ).run()
    guard result.status == 0 else { throw AgentTestError(result.errors) }
    var arguments = ["clang", "-pthread", object, "-o", program]
    if swift {
      // One class makes it a Swift program.
      let swiftSource = folder.appendingPathComponent(name + "-marker.swift")
      try "final class Marker {}\n".write(to: swiftSource, atomically: true, encoding: .utf8)
      arguments = ["swiftc", "-parse-as-library", swiftSource.path, object, "-o", program]
    }
    if linkingHooks {
      arguments += try objects(of: ["CMemoryGraphHooks", "CMemoryGraphLayout"])
    }
    result = try Command(arguments + more).run()
    guard result.status == 0 else { throw AgentTestError(result.errors) }
    return program
  }

  /// The object files that a target was compiled to.
  static func objects(of targets: [String]) throws -> [String] {
    try targets.flatMap { target in
      let folder = products.appendingPathComponent(target + ".build")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      return names.filter { $0.hasSuffix(".o") }.sorted().map {
        folder.appendingPathComponent($0).path
      }
    }
  }
}

struct AgentTestError: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// A program to run, and what became of it.
struct Command {
  struct Result: Sendable {
    /// The exit status; 128 and the number for a signal.
    var status: Int32
    var output: String
    var errors: String
  }

  var arguments: [String]
  var environment: [String: String]
  var input = ""

  init(_ arguments: [String], environment: [String: String] = [:], input: String = "") {
    self.arguments = arguments
    self.environment = environment
    self.input = input
  }

  /// Runs it to its end.
  ///
  /// - Parameter whileRunning: called once with the process's id and the file that its output goes to.
  func run(whileRunning: (Int32, URL) throws -> Void = { _, _ in }) throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" } + arguments
    let folder = try AgentPrograms.folder.get()
    // Files and not pipes: nobody has to read while the program runs.
    let name = UUID().uuidString
    let output = folder.appendingPathComponent(name + ".out")
    let errors = folder.appendingPathComponent(name + ".err")
    for file in [output, errors] {
      guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
        throw AgentTestError("\(file.path) can not be made")
      }
    }
    let inputFile = folder.appendingPathComponent(name + ".in")
    try input.write(to: inputFile, atomically: true, encoding: .utf8)
    process.standardInput = try FileHandle(forReadingFrom: inputFile)
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    try whileRunning(process.processIdentifier, output)
    process.waitUntilExit()
    let status =
      process.terminationReason == .exit
      ? process.terminationStatus : 128 + process.terminationStatus
    return Result(
      status: status, output: try String(contentsOf: output, encoding: .utf8),
      errors: try String(contentsOf: errors, encoding: .utf8))
  }
}
