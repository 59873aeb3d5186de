// Finds what the build has made beside the test bundle, and runs it.
internal import Foundation

/// The folder that the build puts its products in: the test bundle lies there as well.
let buildFolder = URL(
  fileURLWithPath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    ?? CommandLine.arguments[0]
).deletingLastPathComponent()

/// The package's own folder.
let packageFolder = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// How a program ended and what it wrote.
struct Outcome {
  /// The exit status; 128 and the signal's number where a signal ended it.
  var status: Int
  var output: String
  var errors: String
}

/// A program that could not be run at all, or that did not do what a test can't go on without.
struct RunFailure: Error, CustomStringConvertible {
  var description: String
}

/// Runs a product of the build to its end, or for two minutes.
func run(_ product: String, _ arguments: [String]) throws -> Outcome {
  try run(buildFolder.appendingPathComponent(product), arguments)
}

/// Runs a program to its end, or for so many seconds.
///
/// Blocks the calling thread, so that no more programs run at once than there are processors.
func run(_ program: URL, _ arguments: [String], atMost seconds: Int = 120) throws -> Outcome {
  let folder = try ScratchFolder()
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
  process.arguments = ["\(seconds)", program.path] + arguments
  // Files and not pipes: nothing has to be read while the program runs.
  let output = try folder.makeFile("output")
  let errors = try folder.makeFile("errors")
  process.standardOutput = output
  process.standardError = errors
  process.standardInput = FileHandle.nullDevice
  try process.run()
  process.waitUntilExit()
  let signalled = process.terminationReason == .uncaughtSignal
  return Outcome(
    status: Int(process.terminationStatus) + (signalled ? 128 : 0),
    output: try folder.read("output"), errors: try folder.read("errors"))
}

/// A folder that is removed when nobody uses it any more.
final class ScratchFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("memory-graph-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func makeFile(_ name: String) throws -> FileHandle {
    let file = url.appendingPathComponent(name)
    try Data().write(to: file)
    return try FileHandle(forWritingTo: file)
  }

  func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: url.appendingPathComponent(name)), as: UTF8.self)
  }
}
