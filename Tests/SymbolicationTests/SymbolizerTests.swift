// Tests of Symbolizer on compiled programs: closures, methods, lines, variables, captures.

import Foundation
import SnapshotFormat
import Testing

@testable import Symbolication

@Suite struct SymbolizerTests {
  struct Expected: Sendable, CustomTestStringConvertible {
    var field: String
    var kind: ClosureName.Kind
    var name: String
    var marker: String?
    var captures: [String]
    var build = Program.Build.debug
    var testDescription: String { "\(field), \(build)" }
  }

  static let expectedInAnyBuild = [
    Expected(
      field: "final", kind: .methodReference, name: "App.SampleTap.record(_:)",
      marker: "final method", captures: ["self"]),
    Expected(
      field: "virtual", kind: .methodReference, name: "App.Base.handle(_:)",
      marker: "virtual method", captures: ["self"]),
    Expected(
      field: "existential", kind: .methodReference, name: "App.Sink.accept(_:)",
      marker: "existential method", captures: ["self"]),
    Expected(
      field: "several", kind: .closure, name: "closure #1 in App.Owner.arm(_:_:)",
      marker: "several captures", captures: ["self", "label", "tap"]),
    Expected(
      field: "single", kind: .closure, name: "closure #1 in App.Owner.armOne()",
      marker: "single capture", captures: ["self"]),
    Expected(
      field: "unused", kind: .closure, name: "closure #1 in App.Owner.armUnused(_:)",
      marker: "unused parameter", captures: ["self", "tap"]),
    Expected(
      field: "generic", kind: .closure, name: "closure #1 in App.Owner.armGeneric(_:_:)",
      marker: "generic captures", captures: ["use", "value"]),
    Expected(
      field: "local", kind: .function, name: "forward(_:) in App.Owner.armLocal(_:)",
      marker: "local function", captures: ["tap", "self"]),
    Expected(
      field: "later", kind: .closure, name: "closure #1 in App.Owner.armLater(_:)",
      marker: "asynchronous", captures: ["self", "base"]),
    // What takes no room is in no context, though it is listed among the captures.
    Expected(
      field: "roomless", kind: .closure, name: "closure #1 in App.Owner.armRoomless(_:_:)",
      marker: "captures without room", captures: ["tap", "self"]),
    // Whether it takes room is not known, and so not what comes after it.
    Expected(
      field: "phantom", kind: .closure, name: "closure #1 in App.Owner.armPhantom(_:_:)",
      marker: "perhaps without room", captures: ["self", "", ""]),
    Expected(
      field: "line", kind: .closure, name: "closure #1 in App.Owner.armLine(_:)",
      marker: "one line", captures: ["tap", "self"]),
  ]

  static let expected = [Program.Build.debug, .optimized].flatMap { build in
    expectedInAnyBuild.map { example in
      var example = example
      example.build = build
      if build == .optimized, example.field == "existential" {
        // Merged with other functions, it has no debug information left.
        example.marker = nil
        example.captures = []
      }
      if build == .optimized, example.field == "phantom" {
        // A specialization for the type that it is called with, whose size is known.
        example.captures = ["self", "tap"]
      }
      if build == .optimized, example.field == "line" {
        // The parameter is not listed any more: a capture that stands in the same line could be it.
        example.captures = []
      }
      return example
    }
  }

  @Test(
    "The function of a closure value is named, found and its captures known", arguments: expected)
  func closures(_ expected: Expected) throws {
    let program = try Program.built(expected.build)
    let function = try #require(program.closures()[expected.field])
    let symbolizer = program.symbolizer
    let closure = symbolizer.closure(at: function)
    #expect(closure.kind == expected.kind)
    #expect(closure.name == expected.name)
    #expect(closure.module == (program.path as NSString).lastPathComponent)
    #expect(closure.file == (try expected.marker.map { _ in try Program.source.get().path }))
    #expect(closure.line == expected.marker.flatMap { Program.line($0) })
    #expect(symbolizer.captureNames(of: function) == expected.captures)
    #expect(symbolizer.diagnostics.isEmpty)
  }

  @Test("The size of a context tells what it has besides the captures with a name, or lacks")
  func contextSizes() throws {
    let program = try Program.built(.debug)
    let function = try #require(
      program.address {
        $0.hasPrefix("closure #1 ") && $0.contains(") async ") && $0.contains("App.Screen.load")
      })
    func names(_ bytes: UInt64) -> [String] {
      program.symbolizer.captureNames(of: function, in: ContextSize(bytes: bytes))
    }
    // Bool, reference, reference, Int.
    #expect(names(32) == ["isLate", "base", "self", "number"])
    // The actor that the task begins on comes first. An allocator's own size is up to 15 bytes more.
    #expect(names(48) == ["", "isLate", "base", "self", "number"])
    #expect(names(32 + 8) == ["isLate", "base", "self", "number"])
    #expect(names(48 + 8) == ["", "isLate", "base", "self", "number"])
    // The optimizer has left one out.
    #expect(names(24) == [])
    // A closure that is not asynchronous has no actor.
    let several = try #require(program.closures()["several"])
    let known = program.symbolizer.captureNames(of: several)
    for bytes in [32, 48] as [UInt64] {
      #expect(
        program.symbolizer.captureNames(of: several, in: ContextSize(bytes: bytes)) == known)
    }
    #expect(program.symbolizer.captureNames(of: several, in: ContextSize(bytes: 24)) == [])
  }

  @Test("Without debug information names stay and lines go")
  func withoutDebugInformation() throws {
    let program = try Program.withoutDebugInformation.get()
    let functions = try program.closures()
    let symbolizer = program.symbolizer
    for expected in Self.expectedInAnyBuild {
      let function = try #require(functions[expected.field])
      let closure = symbolizer.closure(at: function)
      #expect(closure.name == expected.name)
      #expect(closure.kind == expected.kind)
      #expect(closure.line == nil)
      #expect(symbolizer.captureNames(of: function).isEmpty)
    }
  }

  @Test(
    "Variables are found by address, with the offset into them", arguments: Program.Build.allCases)
  func variables(build: Program.Build) throws {
    let program = try Program.built(build)
    let symbolizer = program.symbolizer
    for (text, name) in [
      ("static App.Hub.owners : ", "static App.Hub.owners"),
      ("App.before : ", "App.before"),
    ] {
      let address = try #require(program.address { $0.hasPrefix(text) })
      let start = try #require(symbolizer.variable(at: address))
      #expect(start.name == name)
      #expect(start.offset == 0)
      #expect(symbolizer.variable(at: address + 7)?.offset == 7)
      #expect(symbolizer.variable(at: address + 8)?.name != name)
    }
    let hidden = try #require(
      program.address { $0.hasPrefix("static App.Hub.(hidden in ") && $0.contains(") : ") })
    #expect(symbolizer.variable(at: hidden)?.name == "static App.Hub.hidden")
    #expect(symbolizer.variable(at: Program.bias + 1) == nil)
  }

  @Test("Inlined calls are frames, each with its own line")
  func inlinedCalls() throws {
    let program = try Program.optimized.get()
    let start = try #require(program.address { $0 == "App.outer(Swift.Int) -> ()" })
    let symbolizer = program.symbolizer
    let names = ["App.innermost(_:)", "App.middle(_:)", "App.outer(_:)"]
    let lines = ["innermost", "middle", "outer"].map { Program.line($0) }
    // Some instruction of `outer` comes from the innermost call.
    let stacks = (start..<(start + 256)).map { symbolizer.frames(atInstruction: $0) }
    let full = stacks.first { $0.count == 3 && $0[2].function == "App.outer(_:)" }
    #expect(full?.map(\.function) == names)
    #expect(full?.map(\.line) == lines)
    #expect(full?.map(\.isInlined) == [true, true, false])
    #expect(full?.allSatisfy { $0.file?.hasSuffix("/Call.swift") == true } == true)
  }

  @Test("A return address is looked up by the call before it")
  func returnAddress() throws {
    let program = try Program.debug.get()
    let start = try #require(program.address { $0 == "App.sink(Swift.Int) -> ()" })
    let symbolizer = program.symbolizer
    #expect(symbolizer.frames(atReturnAddress: start + 1).last?.function == "App.sink(_:)")
    // The byte before belongs to what lies in front.
    #expect(symbolizer.frames(atReturnAddress: start).last?.function != "App.sink(_:)")
    #expect(symbolizer.frames(atInstruction: start).last?.function == "App.sink(_:)")
  }

  @Test("Addresses outside all modules, and modules without a file, give the address")
  func unknownAddresses() throws {
    let program = try Program.debug.get()
    let gone = program.module(path: "/nowhere/Gone")
    let symbolizer = Symbolizer(modules: [gone])
    let frames = symbolizer.frames(atReturnAddress: gone.start + 0x1234)
    #expect(frames.map(\.function) == ["0x555555401234"])
    #expect(frames.first?.module == "Gone")
    #expect(symbolizer.variable(at: gone.start) == nil)
    #expect(symbolizer.closure(at: gone.start + 16).name == "closure at 0x555555400010")
    #expect(symbolizer.captureNames(of: gone.start).isEmpty)
    #expect(
      symbolizer.diagnostics == ["Gone: the file is gone or unreadable; give --symbols": 4])
    for address in [0, 1, gone.start, gone.end + 1, UInt64.max] {
      #expect(symbolizer.frames(atReturnAddress: address).first?.module == nil)
      #expect(symbolizer.variable(at: address) == nil)
    }
    let pages = Symbolizer(modules: [
      Snapshot.Module(path: "[vdso]", buildID: "", bias: 0, start: 0x1000, end: 0x2000)
    ])
    #expect(pages.frames(atReturnAddress: 0x1800).map(\.function) == ["0x1800"])
    #expect(pages.diagnostics.isEmpty)
  }

  @Test("Another build of the program is refused, and said so")
  func anotherBuild() throws {
    let program = try Program.debug.get()
    let other = try Program.optimized.get()
    let module = program.module(path: other.path)
    let symbolizer = Symbolizer(modules: [module])
    #expect(symbolizer.frames(atReturnAddress: module.start + 64).first?.line == nil)
    #expect(
      symbolizer.diagnostics == [
        "optimized: the file on disk is another build; rebuild or give --symbols": 1
      ])
  }
}
