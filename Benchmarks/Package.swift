// swift-tools-version: 6.2
import PackageDescription

// What `scripts/bench` measures with. A package of its own, so that nobody who depends on the main one builds it. The parts of
// the product that are measured on their own are its sources, by symbolic links: their declarations are `package`.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Benchmarks",
  targets: [
    // Of the product.
    .target(name: "GraphPrimitives", swiftSettings: settings),
    .target(name: "GraphKit", dependencies: ["GraphPrimitives"], swiftSettings: settings),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib"),
    .target(
      name: "SnapshotFormat", dependencies: ["GraphPrimitives", "CZlib"], swiftSettings: settings),
    .systemLibrary(name: "CLibdw", pkgConfig: "libdw"),
    .target(
      name: "Symbolication", dependencies: ["GraphPrimitives", "SnapshotFormat", "CLibdw"],
      swiftSettings: settings),

    .target(
      name: "HeapGraph", dependencies: ["GraphPrimitives", "GraphKit", "SnapshotFormat"],
      swiftSettings: settings),
    .target(
      name: "GraphAnalysis",
      dependencies: ["GraphPrimitives", "GraphKit", "SnapshotFormat", "HeapGraph"],
      swiftSettings: settings),

    // What it is held against, and what it is tried on.
    .target(
      name: "CReference",
      cSettings: [.treatAllWarnings(as: .error), .enableWarning("all"), .enableWarning("extra")]),
    .executableTarget(name: "Workload", swiftSettings: settings),
    .executableTarget(
      name: "Analysis", dependencies: ["CReference", "GraphKit", "GraphPrimitives"],
      swiftSettings: settings),
    .executableTarget(
      name: "Difference", dependencies: ["GraphAnalysis", "SnapshotFormat"],
      swiftSettings: settings),
    .executableTarget(
      name: "Names", dependencies: ["Symbolication", "SnapshotFormat", "GraphPrimitives"],
      swiftSettings: settings),
  ]
)
