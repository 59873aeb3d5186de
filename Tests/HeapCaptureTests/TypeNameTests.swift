// Tests of names: types, modules, tuples and labels as people read them.

import GraphPrimitives
import SnapshotFormat
import Testing

@testable import HeapCapture

@Suite struct TypeNameTests {
  struct Name: Sendable, CustomTestStringConvertible {
    var demangled: String
    var readable: String
    var module: String
    var testDescription: String { demangled }
  }

  static let names = [
    Name(demangled: "main.Socket", readable: "main.Socket", module: "main"),
    Name(
      demangled: "main.(Socket in _8F3AC0)", readable: "main.Socket", module: "main"),
    Name(
      demangled: "main.(Box in _8F)<main.(Key in _8F), Swift.Int>",
      readable: "main.Box<main.Key, Swift.Int>", module: "main"),
    Name(
      demangled: "(extension in Tools):Swift.Array<Swift.Int>.Cursor",
      readable: "Swift.Array<Swift.Int>.Cursor", module: "Swift"),
    Name(
      demangled: "Swift.AsyncStream<Swift.Int>._Storage<>",
      readable: "Swift.AsyncStream<Swift.Int>._Storage", module: "Swift"),
    Name(demangled: "(Swift.Int) -> ()", readable: "(Swift.Int) -> ()", module: ""),
    Name(demangled: "(in _8F", readable: "(in _8F", module: ""),
    Name(demangled: "(extension in Tools", readable: "(extension in Tools", module: ""),
    Name(demangled: "", readable: "", module: ""),
  ]

  @Test("Names lose what only the compiler needs", arguments: names)
  func readable(_ name: Name) {
    #expect(readableTypeName(name.demangled) == name.readable)
    #expect(moduleName(ofType: name.readable) == name.module)
  }

  @Test("A tuple's labels, whatever stands in its elements")
  func tuples() {
    #expect(tupleLabels("(Swift.Int, name: Swift.String)") == [nil, "name"])
    #expect(
      tupleLabels("(a: (x: main.A, main.B), b: (Swift.Int, c: main.C) -> (d: main.D, main.E))") == [
        "a", "b",
      ])
    #expect(tupleLabels("(t: main.T<main.A, main.B>, main.U)") == ["t", nil])
    #expect(tupleLabels("main.T").isEmpty && tupleLabels("").isEmpty)
  }

  @Test("A lazy property has its own name")
  func lazyFields() {
    #expect(readableFieldName("$__lazy_storage_$_render") == "render")
    #expect(readableFieldName("_clock") == "_clock")
  }

  @Test("Each label is one row, and the rows go into a snapshot")
  func labels() {
    let table = LabelTable()
    let name = table.name("handler")
    let third = table.element(name, at: 3)
    #expect(table.element(name, at: 3) == third)
    #expect(table.label("handler", index: 3) == third)
    #expect(
      table.element(name, at: 1 << 20) == table.label("handler", index: Snapshot.Labels.anyIndex))
    let call = table.label("onClose", function: 0x1234)
    #expect(table.join(table.name("client"), name) == table.name("client.handler"))
    var builder = SnapshotBuilder()
    _ = builder.label("something else")
    let rows = table.copy(into: &builder)
    let snapshot = builder.finish()
    #expect(rows.count == table.count && rows[0] == .none)
    #expect(snapshot.strings[snapshot.labels.name[rows[third.position].position]] == "handler")
    #expect(snapshot.labels.index[rows[third.position].position] == 3)
    #expect(snapshot.labels.function[rows[call.position].position] == 0x1234)
  }
}
