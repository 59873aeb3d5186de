// Tests of profiles: taken apart by a reader of their own, their samples sum up to what is alive.

import GraphAnalysis
import GraphPrimitives
import GraphReport
import HeapGraph
import SnapshotFormat
import Testing

@testable import GraphExport

/// The fields of a message of Protocol Buffers, read without knowing what they mean.
private struct Fields {
  var numbers: [(field: Int, value: UInt64)] = []
  var pieces: [(field: Int, bytes: ArraySlice<UInt8>)] = []

  init(_ bytes: ArraySlice<UInt8>) throws {
    var rest = bytes
    while !rest.isEmpty {
      let tag = try Self.varint(&rest)
      if tag & 7 == 0 {
        numbers.append((Int(tag >> 3), try Self.varint(&rest)))
      } else {
        try #require(tag & 7 == 2)
        let length = Int(try Self.varint(&rest))
        try #require(rest.count >= length)
        pieces.append((Int(tag >> 3), rest.prefix(length)))
        rest = rest.dropFirst(length)
      }
    }
  }

  static func varint(_ bytes: inout ArraySlice<UInt8>) throws -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while let byte = bytes.popFirst() {
      value |= UInt64(byte & 0x7F) << shift
      shift += 7
      if byte < 0x80 { return value }
    }
    throw Ended()
  }

  struct Ended: Error {}

  func number(_ field: Int) -> UInt64 { numbers.first { $0.field == field }?.value ?? 0 }
  func all(_ field: Int) -> [ArraySlice<UInt8>] { pieces.filter { $0.field == field }.map(\.bytes) }
  func packed(_ field: Int) throws -> [UInt64] {
    var values: [UInt64] = []
    for piece in all(field) {
      var rest = piece
      while !rest.isEmpty { values.append(try Self.varint(&rest)) }
    }
    return values
  }
}

@Suite struct PprofTests {
  struct Sample {
    var functions: [String]
    var count: Int64
    var bytes: Int64
    var labels: [String: String]
  }

  private func samples(_ snapshots: [ExportedSnapshot], by kind: ProfileKind) throws -> [Sample] {
    let packed = try Shop.bytes(.pprof, of: snapshots) { $0.profile = kind }.bytes
    let profile = try Fields(ProtobufTests.inflated(packed, room: 1 << 20)[...])
    let texts = profile.all(6).map { String(decoding: $0, as: UTF8.self) }
    #expect(texts.first == "" && Set(texts).count == texts.count)
    var functionByID: [UInt64: String] = [:]
    for function in try profile.all(5).map({ try Fields($0) }) {
      functionByID[function.number(1)] = texts[Int(function.number(2))]
    }
    var functionByLocation: [UInt64: String] = [:]
    for location in try profile.all(4).map({ try Fields($0) }) {
      let line = try Fields(try #require(location.all(4).first))
      functionByLocation[location.number(1)] = functionByID[line.number(1)]
    }
    return try profile.all(2).map { bytes in
      let sample = try Fields(bytes)
      let values = try sample.packed(2)
      var labels: [String: String] = [:]
      for label in try sample.all(3).map({ try Fields($0) }) {
        labels[texts[Int(label.number(1))]] = texts[Int(label.number(2))]
      }
      return Sample(
        functions: try sample.packed(1).map { try #require(functionByLocation[$0]) },
        count: Int64(bitPattern: values[0]), bytes: Int64(bitPattern: values[1]), labels: labels)
    }
  }

  @Test("Samples sum up to what is alive, by type and generation", arguments: 0..<40)
  func sums(_ seed: Int) throws {
    let exported = try Shop.exported(RandomShop.make(seed: UInt64(seed) + 2_000))
    let graph = exported.graph
    let leaked = Set(try exported.leaks().leakedNodes)
    for kind in ProfileKind.allCases {
      let found = try samples([exported], by: kind)
      var wanted: [[String]: Cost] = [:]
      for node in liveNodes(of: graph) {
        wanted[
          [
            exported.names.typeName(of: node), exported.names.generation(of: node) ?? "",
            leaked.contains(node) ? "true" : "",
          ], default: .zero] += graph.cost(of: node)
      }
      var sums: [[String]: Cost] = [:]
      for sample in found {
        sums[
          [
            sample.labels["type"] ?? "", sample.labels["generation"] ?? "",
            sample.labels["leaked"] ?? "",
          ], default: .zero] += Cost(count: Int(sample.count), bytes: ByteCount(sample.bytes))
      }
      #expect(sums == wanted)
      if kind == .path {
        #expect(found.allSatisfy { $0.functions[0] == $0.labels["type"] && $0.functions.count > 1 })
      }
    }
  }

  @Test("A stack is told innermost first, without what only allocates")
  func stacks() throws {
    let found = try samples([Shop.marks()[1]], by: .stack)
    let hub = try #require(found.first { $0.labels["type"] == "App.Hub" })
    #expect(hub.functions == ["App.Hub.init()", "App.open()", "App.main()"])
    #expect(found.contains { $0.functions == ["(no stack is known)"] })
  }

  @Test("Two marks make one profile whose samples sum up to the difference")
  func difference() throws {
    let marks = try Shop.marks()
    let both = try samples(marks, by: .stack)
    let (first, last) = (try samples([marks[0]], by: .stack), try samples([marks[1]], by: .stack))
    func sum(_ samples: [Sample]) -> Int64 { samples.reduce(0) { $0 + $1.bytes } }
    #expect(sum(both) == sum(last) - sum(first))
    let base = both.filter { $0.labels["pprof::base"] == "true" }
    #expect(base.count == first.count && base.allSatisfy { $0.bytes < 0 && $0.count < 0 })
  }
}
