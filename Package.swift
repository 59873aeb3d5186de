// swift-tools-version: 6.2
import Foundation
import Glibc
import PackageDescription

// The order of the targets is the order in which the data flows; docs/architecture.md has the table
// that scripts/check-layering holds against the imports.

let commonSwiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let sampleSwiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .treatAllWarnings(as: .error),
]

let commonCSettings: [CSetting] = [
  .treatAllWarnings(as: .error),
  .enableWarning("all"),
  .enableWarning("extra"),
  .enableWarning("strict-prototypes"),
]

/// Where the toolchain has SwiftSyntax as libraries, beside the library of this very manifest; nil for a toolchain
/// without. The flags that it takes stay in the lint's own targets, which no product has in it.
let syntaxFolder: String? = {
  // Piece by piece: what reads a whole file stops after the first 4 KB of this one.
  guard let stream = fopen("/proc/self/maps", "r") else { return nil }
  defer { fclose(stream) }
  var maps: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 4_096)
  while case let count = fread(&piece, 1, piece.count, stream), count > 0 {
    maps += piece[..<count]
  }
  let manifestLibrary = String(decoding: maps, as: UTF8.self).split(separator: "\n").lazy
    .compactMap { $0.firstIndex(of: "/").map($0.suffix(from:)) }
    .first { $0.contains("/lib/swift/pm/") }
  guard let manifestLibrary, let end = manifestLibrary.range(of: "/pm/") else { return nil }
  let folder = manifestLibrary[..<end.lowerBound] + "/host"
  let module = folder + "/SwiftSyntax.swiftmodule"
  return FileManager.default.fileExists(atPath: String(module)) ? String(folder) : nil
}()

extension Target {
  static func swift(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: commonSwiftSettings)
  }

  /// A program that tells a story of memory: executable, with a README of its own.
  static func sample(
    _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
  ) -> Target {
    .executableTarget(
      name: name, dependencies: ["SampleSupport"] + dependencies, path: "samples/" + name,
      exclude: ["README.md"] + exclude, swiftSettings: sampleSwiftSettings)
  }

  /// The tests of a target; `exclude` names folders of files that tests read by their path.
  static func tests(
    of name: String, _ more: [Target.Dependency] = [], exclude: [String] = []
  ) -> Target {
    .testTarget(
      name: name + "Tests", dependencies: [.byName(name: name)] + more, exclude: exclude,
      swiftSettings: commonSwiftSettings)
  }
}

let package = Package(
  name: "memory-graph",
  products: [
    .library(name: "MemoryGraphAgent", targets: ["MemoryGraphAgent"]),
    .library(name: "MemoryGraphTesting", targets: ["MemoryGraphTesting"]),
    .library(name: "MemoryGraphPreload", type: .dynamic, targets: ["MemoryGraphPreload"]),
    .executable(name: "memgraph", targets: ["memgraph"]),
    .executable(name: "graphdiff", targets: ["graphdiff"]),
    .plugin(name: "LeakCheck", targets: ["LeakCheck"]),
  ],
  targets: [
    .swift("GraphPrimitives"),

    // Inside the program under test.
    .target(name: "CMemoryGraphLayout", cSettings: commonCSettings),
    .target(
      name: "CMemoryGraphHooks", dependencies: ["CMemoryGraphLayout"], cSettings: commonCSettings),
    .target(
      name: "MemoryGraphPreload", dependencies: ["CMemoryGraphHooks"], cSettings: commonCSettings,
      // The preloaded library is C alone: Swift's start-up object and runtime must not come with it,
      // since a program with a static Swift runtime would get a second one. Packages that depend on
      // this one never build this product, so the flags do not reach them.
      linkerSettings: [
        .unsafeFlags([
          "-nostartfiles", "-static-stdlib", "-Xlinker", "--as-needed",
          // Its constructor runs before all others, so that their blocks are recorded too.
          "-Xlinker", "-z", "-Xlinker", "initfirst",
        ])
      ]),
    .swift("MemoryGraphAgent", ["CMemoryGraphHooks", "HeapCapture"]),

    // From memory to a file.
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .swift("SnapshotFormat", ["GraphPrimitives", "CZlib"]),
    .target(name: "CHeapCapture", cSettings: commonCSettings),
    .swift(
      "HeapCapture", ["GraphPrimitives", "SnapshotFormat", "CHeapCapture", "CMemoryGraphLayout"]),

    // From a file to findings.
    .swift("GraphKit", ["GraphPrimitives"]),
    .swift("HeapGraph", ["GraphPrimitives", "GraphKit", "SnapshotFormat"]),
    .swift("GraphAnalysis", ["GraphPrimitives", "GraphKit", "SnapshotFormat", "HeapGraph"]),

    // From addresses to names.
    .systemLibrary(
      name: "CLibdw", pkgConfig: "libdw", providers: [.apt(["libdw-dev", "libelf-dev"])]),
    .swift("Symbolication", ["GraphPrimitives", "SnapshotFormat", "CLibdw"]),

    // From findings to a reader.
    .swift(
      "GraphReport", ["GraphPrimitives", "SnapshotFormat", "GraphAnalysis", "Symbolication"]),
    .swift(
      "GraphViewer",
      [
        "GraphPrimitives", "SnapshotFormat", "HeapGraph", "GraphAnalysis", "Symbolication",
        "GraphReport", "CZlib",
      ]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .swift(
      "GraphExport",
      [
        "GraphPrimitives", "SnapshotFormat", "GraphKit", "HeapGraph", "GraphAnalysis",
        "Symbolication", "GraphReport", "CZlib", "CSQLite",
      ]),
    .swift(
      "Commands",
      [
        "GraphPrimitives", "SnapshotFormat", "HeapGraph", "GraphAnalysis", "Symbolication",
        "GraphReport", "GraphViewer", "HeapCapture",
      ]),

    // Inside a test.
    .swift(
      "MemoryGraphTesting",
      [
        "CMemoryGraphHooks", "MemoryGraphAgent", "GraphPrimitives", "SnapshotFormat", "GraphKit",
        "HeapGraph", "GraphAnalysis", "Symbolication", "GraphReport", "Commands",
      ]),

    // The verb that needs SQLite: not in `Commands`, so that leak checks in tests don't need it.
    .swift(
      "ExportCommand",
      [
        "GraphPrimitives", "SnapshotFormat", "HeapGraph", "GraphAnalysis", "GraphReport",
        "GraphExport", "Commands",
      ]),

    // The tools.
    .executableTarget(
      name: "memgraph", dependencies: ["Commands", "ExportCommand"],
      swiftSettings: commonSwiftSettings),
    .executableTarget(
      name: "graphdiff", dependencies: ["Commands"], swiftSettings: commonSwiftSettings),

    // `swift package leak-check`, for packages that depend on this one. It builds the tool itself.
    .plugin(
      name: "LeakCheck",
      capability: .command(
        intent: .custom(
          verb: "leak-check",
          description: "Runs the package's tests with the agent in them and says what they leak."))),

    // Samples: programs that nobody prepared for the agent. They link nothing of ours.
    .target(
      name: "CPeerConnection", path: "samples/VideoCall/CPeerConnection", cSettings: commonCSettings
    ),
    .target(
      name: "SampleSupport", path: "samples/Support", swiftSettings: sampleSwiftSettings),
    .sample("VideoCall", ["CPeerConnection"], exclude: ["CPeerConnection"]),
    .sample("Feed"),
    .sample("Sensors"),
    .sample("Subscriptions"),
    .sample("LeakCases", exclude: ["Expected"]),

    // What several test targets share: snapshots written down in a few lines.
    .target(
      name: "SnapshotDSL", dependencies: ["GraphPrimitives", "SnapshotFormat"],
      path: "Tests/Support/SnapshotDSL", swiftSettings: commonSwiftSettings),

    // The schema of the reports' JSON and a reader that holds a report against it.
    .target(
      name: "ReportSchema", path: "Tests/Support/ReportSchema", swiftSettings: commonSwiftSettings),

    // Writes large snapshots of a made-up program, for figures.
    .executableTarget(
      name: "SnapshotMaker", dependencies: ["SnapshotDSL", "SnapshotFormat", "GraphPrimitives"],
      path: "Tests/Support/SnapshotMaker", swiftSettings: commonSwiftSettings),

    // What reports looked like when somebody last found them right.
    .target(
      name: "GoldenFiles", path: "Tests/Support/GoldenFiles", swiftSettings: commonSwiftSettings),

    // A program that tests capture from outside.
    .executableTarget(
      name: "OutsideTarget", dependencies: ["SpinningCode"], path: "Tests/Support/OutsideTarget",
      swiftSettings: sampleSwiftSettings),
    .target(
      name: "SpinningCode", path: "Tests/Support/SpinningCode", cSettings: commonCSettings),

    // The same with tasks, Foundation, dispatch queues and memory of C.
    .executableTarget(
      name: "MixedTarget", path: "Tests/Support/MixedTarget", swiftSettings: sampleSwiftSettings),

    // Starts a program with fewer rights, as a container does.
    .executableTarget(
      name: "RestrictedLauncher", path: "Tests/Support/RestrictedLauncher",
      cSettings: commonCSettings),

    .tests(of: "GraphPrimitives"),
    .tests(of: "GraphKit", ["SnapshotDSL", "GraphPrimitives"]),
    .tests(of: "SnapshotFormat", ["SnapshotDSL", "GraphPrimitives"], exclude: ["Fixtures"]),
    .tests(of: "HeapGraph", ["SnapshotDSL", "GraphPrimitives", "SnapshotFormat", "GraphKit"]),
    .tests(
      of: "GraphAnalysis",
      ["SnapshotDSL", "GraphPrimitives", "SnapshotFormat", "HeapGraph", "GraphKit"]),
    .tests(of: "Symbolication", ["SnapshotDSL", "GraphPrimitives", "SnapshotFormat"]),
    .tests(
      of: "HeapCapture",
      ["SnapshotDSL", "GraphPrimitives", "SnapshotFormat", "CMemoryGraphLayout", "CHeapCapture"]),
    .tests(
      of: "MemoryGraphAgent", ["SnapshotFormat", "HeapCapture", "HeapGraph", "GraphPrimitives"]),
    .tests(
      of: "GraphReport",
      [
        "SnapshotDSL", "GraphPrimitives", "SnapshotFormat", "HeapGraph", "GraphAnalysis",
        "Symbolication",
      ]),
    .tests(of: "GraphViewer", ["SnapshotDSL", "CZlib"]),
    .tests(
      of: "Commands",
      [
        "SnapshotDSL", "ReportSchema", "GoldenFiles", "SnapshotFormat", "GraphPrimitives",
        "GraphReport", "Symbolication", "HeapCapture", "CZlib",
      ],
      exclude: ["Goldens"]),
    .tests(
      of: "GraphExport",
      [
        "SnapshotDSL", "GraphPrimitives", "SnapshotFormat", "HeapGraph", "GraphAnalysis",
        "GraphReport", "Symbolication", "CSQLite", "CZlib", "GoldenFiles",
      ],
      exclude: ["Goldens"]),
    .tests(
      of: "ExportCommand", ["SnapshotDSL", "SnapshotFormat", "Symbolication", "Commands"]),
    .tests(of: "MemoryGraphTesting", ["Feed", "CMemoryGraphHooks"]),
    // The tools and samples as processes, as a user runs them.
    .testTarget(
      name: "EndToEndTests", dependencies: ["GoldenFiles"], exclude: ["Goldens"],
      swiftSettings: commonSwiftSettings),
    // The samples' own parts, without an agent.
    .testTarget(
      name: "SampleTests", dependencies: ["Feed", "Sensors", "Subscriptions", "SampleSupport"],
      swiftSettings: commonSwiftSettings),
  ]
)

// The lint, where the toolchain ships what it needs: a program beside the tool, since the tool must start
// without these libraries, too.
if let syntaxFolder {
  let settings = commonSwiftSettings + [.unsafeFlags(["-I", syntaxFolder])]
  package.targets += [
    .target(
      name: "SourceLint", swiftSettings: settings,
      linkerSettings: [
        .unsafeFlags([
          "-L", syntaxFolder, "-Xlinker", "-rpath", "-Xlinker", syntaxFolder,
          "-lSwiftSyntax", "-lSwiftParser",
        ])
      ]),
    .target(
      name: "LintCommand", dependencies: ["SourceLint", "GraphReport", "Commands"],
      swiftSettings: settings),
    .executableTarget(
      name: "memgraph-lint", dependencies: ["LintCommand"], swiftSettings: settings),
    .testTarget(
      name: "SourceLintTests", dependencies: ["SourceLint"], swiftSettings: settings),
    .testTarget(
      name: "LintCommandTests",
      dependencies: ["LintCommand", "SourceLint", "Commands", "GoldenFiles"], exclude: ["Goldens"],
      swiftSettings: settings),
  ]
} else {
  print(
    "memory-graph: this toolchain has no SwiftSyntax in lib/swift/host; building without `memgraph lint`"
  )
}
