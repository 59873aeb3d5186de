// Tests of ToolchainModules: names are written as in the source, the program's own with their module.

import GraphPrimitives
import Testing

@Suite struct ToolchainModulesTests {
  struct Spelling: Sendable {
    var name: String
    var written: String
  }

  static let spellings: [Spelling] = [
    Spelling(name: "Swift.String", written: "String"),
    Spelling(name: "Dispatch.DispatchWorkItem", written: "DispatchWorkItem"),
    Spelling(name: "App.Timer", written: "App.Timer"),
    Spelling(name: "Foundation.Timer", written: "Timer"),
    Spelling(
      name: "Swift._DictionaryStorage<Swift.String, App.Box<Foundation.Data>>",
      written: "_DictionaryStorage<String, App.Box<Data>>"),
    Spelling(name: "(Swift.Int, name: Swift.String) -> ()", written: "(Int, name: String) -> ()"),
    Spelling(
      name: "_Concurrency.AsyncStream<Swift.Int>._Storage", written: "AsyncStream<Int>._Storage"),
    // A name within another is no module, nor is the start or end of one.
    Spelling(name: "App.Swift.Cache", written: "App.Swift.Cache"),
    Spelling(name: "App.Foundation", written: "App.Foundation"),
    Spelling(name: "SwiftUI.View", written: "SwiftUI.View"),
    Spelling(name: "MySwift.View", written: "MySwift.View"),
    Spelling(name: "ÄSwift.View", written: "ÄSwift.View"),
    Spelling(name: "Swift", written: "Swift"),
    Spelling(name: "Swift.", written: "Swift."),
    Spelling(name: "Foundation.Foundation.Data", written: "Foundation.Data"),
    Spelling(
      name: "closure #1 in static Dispatch.DispatchQueue.f(_:)",
      written: "closure #1 in static DispatchQueue.f(_:)"),
    Spelling(name: "[Swift.Int]?", written: "[Int]?"),
    Spelling(name: "__C.timeval", written: "timeval"),
    Spelling(name: "", written: ""),
  ]

  @Test("Only the toolchain's modules are left out", arguments: spellings)
  func spelling(_ spelling: Spelling) {
    #expect(ToolchainModules.sourceSpelling(of: spelling.name) == spelling.written)
  }
}
