// TestProgram: the program with a package's tests, and the words that choose some of them.

import Foundation
import PackagePlugin

/// The program that `swift test` runs.
struct TestProgram {
  /// The libraries that tests are written with; each needs a run of its own.
  enum Library: String, CaseIterable {
    case xctest
    case testing = "swift-testing"

    var name: String { self == .xctest ? "XCTest" : "Swift Testing" }
  }

  let program: URL

  /// Finds the program.
  ///
  /// - Parameter work: The plugin's folder, which lies in the build's.
  init(of package: Package, below work: URL) throws {
    var folder = work
    while folder.pathComponents.count > 1, folder.lastPathComponent != "plugins" {
      folder.deleteLastPathComponent()
    }
    let name = package.displayName + "PackageTests.xctest"
    program = folder.deletingLastPathComponent().appendingPathComponent("debug/" + name)
    guard FileManager.default.isExecutableFile(atPath: program.path) else {
      throw Failure("\(program.path) is not there: has the package any tests?")
    }
  }

  /// The arguments for the tests that were asked for; nil where there are none of that library.
  func words(for library: Library, _ options: Options) throws -> [String]? {
    let list = try names(of: library).filter { name in
      (options.filters.isEmpty || options.filters.contains { Self.matches(name, $0) })
        && !options.skips.contains { Self.matches(name, $0) }
    }
    if list.isEmpty { return nil }
    switch library {
    case .xctest:
      return options.filters.isEmpty && options.skips.isEmpty
        ? [] : [list.joined(separator: ",")]
    case .testing:
      return ["--testing-library", library.rawValue]
        + options.filters.flatMap { ["--filter", $0] } + options.skips.flatMap { ["--skip", $0] }
    }
  }

  private static func matches(_ name: String, _ pattern: String) -> Bool {
    name.range(of: pattern, options: .regularExpression) != nil
  }

  /// The names of all tests of a library.
  private func names(of library: Library) throws -> [String] {
    var lines: [String] = []
    _ = try Children.run(
      program,
      (library == .testing ? ["--testing-library", library.rawValue] : []) + ["--list-tests"]
    ) { lines.append($0) }
    return lines.filter { line in
      // XCTest begins its list with a sentence.
      !line.isEmpty && (!line.contains(" ") || library == .testing)
    }
  }
}
