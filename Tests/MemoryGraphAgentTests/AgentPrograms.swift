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

  private static func compile(
    _ text: String, named name: String, swift: Bool, linkingHooks: Bool = false
  ) throws -> String {
    let folder = try folder.get()
    let source = folder.appendingPathComponent(name + ".c")
    try text.write(to: source, atomically: true, encoding: .utf8)
    let program = folder.appendingPathComponent(name).path
    var arguments = [
      "clang", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
      "-fno-builtin",
      "-pthread", source.path, "-o", program,
    ]
    if swift { arguments.append("-DLOOKS_LIKE_SWIFT") }
    if linkingHooks {
      arguments += try objects(of: ["CMemoryGraphHooks", "CMemoryGraphLayout"])
    }
    let result = try Command(arguments).run()
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

  init(_ arguments: [String], environment: [String: String] = [:]) {
    self.arguments = arguments
    self.environment = environment
  }

  /// Runs it to its end.
  func run() throws -> Result {
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
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    let status =
      process.terminationReason == .exit
      ? process.terminationStatus : 128 + process.terminationStatus
    return Result(
      status: status, output: try String(contentsOf: output, encoding: .utf8),
      errors: try String(contentsOf: errors, encoding: .utf8))
  }
}
