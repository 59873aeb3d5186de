// LeakCheck: `swift package leak-check`: the package's tests under the agent, and what they leak.

import Foundation
import PackagePlugin

/// Runs the tests of a package as they are with the agent preloaded, and makes a bundle of what they leak.
@main
struct LeakCheck: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    let options: Options
    do {
      options = try Options(arguments)
    } catch {
      throw Failure("\(error); `swift package leak-check --help` shows what there is")
    }
    if options.isHelp {
      print(Options.help)
      return
    }
    Children.watch()
    let work = context.pluginWorkDirectoryURL
    let output =
      options.output.map { URL(fileURLWithPath: $0) } ?? work.appendingPathComponent("leak-check")
    let marks = work.appendingPathComponent("marks")
    try? FileManager.default.removeItem(at: marks)

    let built = try CheckProgress.telling("building the tests") { _ in
      try packageManager.build(
        .all(includingTests: true), parameters: .init(configuration: .debug))
    }
    guard built.succeeded else {
      print(built.logText)
      throw Failure("the tests don't build")
    }
    let tests = try TestProgram(of: context.package, below: work)
    let tool = try options.tool.map { URL(fileURLWithPath: $0) } ?? buildTool(context, in: work)
    var environment: [String: String] = [:]
    if let known = options.known {
      environment["MEMORY_GRAPH_KNOWN"] = URL(fileURLWithPath: known).path
    }
    // Swift Testing takes a pipe for a terminal, and the plugin's output is always one.
    if !CheckProgress.isSeenOnTerminal { environment["NO_COLOR"] = "1" }

    var failed: [String] = []
    var runCount = 0
    for library in TestProgram.Library.allCases {
      guard let words = try tests.words(for: library, options) else { continue }
      runCount += 1
      CheckProgress.say("running the tests of \(library.name)")
      let folder = marks.appendingPathComponent(library.rawValue)
      let status = try Children.run(
        tool, ["run", "--out", folder.path, "--", tests.program.path] + words,
        environment: environment)
      // Swift Testing ends with this status where no test was to be run.
      if status != 0 && status != 69 { failed.append("\(library.name) (status \(status))") }
    }
    guard runCount > 0 else { throw Failure("no test matches") }

    CheckProgress.say("looking for leaks")
    var words = ["bundle", marks.path, "-o", output.path, "--source-root"]
    words.append(context.package.directoryURL.path)
    // The test libraries keep objects of their own for ever.
    for module in ["XCTest", "Testing"] { words += ["--without-module", module] }
    words += ["--fail-on", options.failOn] + options.forBundle
    let status = try Children.run(tool, words)
    guard failed.isEmpty else { throw Failure("tests failed: " + failed.joined(separator: ", ")) }
    switch status {
    case 0: return
    case 1: throw Failure("leaks; \(output.path)/index.html has them all")
    default: throw Failure("the leaks could not be looked for (status \(status))")
    }
  }

  /// Builds the tool and the library that it preloads, from the package that this plugin is of.
  ///
  /// They are built as a package of their own and not as what the plugin depends on: the library needs flags of the
  /// linker that SwiftPM takes from root packages only, and the tool shall be optimized.
  private func buildTool(_ context: PluginContext, in work: URL) throws -> URL {
    guard let source = Self.folder(of: "memory-graph", in: context.package) else {
      throw Failure("the package memory-graph is not among the dependencies")
    }
    let scratch = work.appendingPathComponent("tool")
    let tool = scratch.appendingPathComponent("release/memgraph")
    let isThere = FileManager.default.fileExists(atPath: tool.path)
    let what =
      isThere
      ? "looking whether memgraph is up to date"
      : "building memgraph, once; this takes some minutes (--memgraph PATH names one that is built)"
    let swift =
      (try? context.tool(named: "swift").url) ?? URL(fileURLWithPath: "/usr/bin/env")
    try CheckProgress.telling(what) { progress in
      for product in ["memgraph", "MemoryGraphPreload"] {
        let words =
          (swift.lastPathComponent == "env" ? ["swift"] : []) + [
            "build", "-c", "release", "--package-path", source.path, "--scratch-path", scratch.path,
            "--product", product,
          ]
        var said: [String] = []
        let status = try Children.run(swift, words, hearsErrors: true) { line in
          // A step: `[12/390] Compiling ...`.
          if line.hasPrefix("["), let end = line.firstIndex(of: "]") {
            progress.note("\(product) \(line[...end])")
          } else {
            said.append(line)
          }
        }
        guard status == 0 else {
          FileHandle.standardError.write(Data((said.joined(separator: "\n") + "\n").utf8))
          throw Failure("\(product) doesn't build")
        }
      }
    }
    return tool
  }

  /// The folder of a package of this name, among a package and all that it depends on.
  private static func folder(of name: String, in package: Package) -> URL? {
    if package.displayName == name { return package.directoryURL }
    return package.dependencies.lazy.compactMap { folder(of: name, in: $0.package) }.first
  }
}

/// Why the check could not be made, or what it found.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
