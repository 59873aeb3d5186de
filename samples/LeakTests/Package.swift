// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "leak-tests",
  dependencies: [.package(name: "memory-graph", path: "../..")],
  targets: [
    .target(name: "Call"),
    .testTarget(
      name: "CallTests",
      dependencies: ["Call", .product(name: "MemoryGraphTesting", package: "memory-graph")]),
  ]
)
