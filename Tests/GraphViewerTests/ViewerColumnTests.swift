// Tests of the columns' encodings, by the examples of docs/viewer-format.md and a decoder.

import SnapshotDSL
import Testing

@testable import GraphViewer

@Suite struct ViewerColumnTests {
  @Test("Small numbers are what the document says")
  func examples() {
    var column = ViewerColumn("x", .z32)
    for value in [0, -1, 1, -2] { column.append(signed: Int64(value)) }
    #expect(column.bytes == [0, 1, 2, 3])
    var unsigned = ViewerColumn("x", .u32)
    for value in [0, 127, 128, 300] { unsigned.append(value) }
    #expect(unsigned.bytes == [0, 0x7F, 0x80, 1, 0xAC, 2])
    #expect(unsigned.count == 4)
  }

  @Test("Numbers of every size come back")
  func roundTrip() {
    var random = SeededGenerator(seed: 53)
    var unsigned = ViewerColumn("x", .u53)
    var signed = ViewerColumn("x", .z53)
    var values: [UInt64] = [0, UInt64(UInt32.max), ViewerColumn.largest]
    for _ in 0..<1_000 {
      values.append(
        UInt64.random(in: 0...ViewerColumn.largest, using: &random)
          >> UInt64.random(in: 0...52, using: &random))
    }
    let limit = Int64(ViewerColumn.largest >> 1)
    let differences = values.map { Int64($0) / 2 * ($0 % 2 == 0 ? 1 : -1) } + [limit, -limit]
    for value in values { unsigned.append(value) }
    for value in differences { signed.append(signed: value) }
    #expect(decoded(unsigned.bytes) == values)
    #expect(
      decoded(signed.bytes).map { Int64($0 >> 1) ^ -Int64($0 & 1) } == differences)
  }

  @Test("What no double holds becomes the nearest that one does")
  func clamps() {
    var column = ViewerColumn("x", .u53)
    column.append(UInt64.max)
    #expect(decoded(column.bytes) == [ViewerColumn.largest])
    var signed = ViewerColumn("x", .z53)
    signed.append(signed: .min)
    signed.append(signed: .max)
    let limit = Int64(ViewerColumn.largest >> 1)
    #expect(decoded(signed.bytes).map { Int64($0 >> 1) ^ -Int64($0 & 1) } == [-limit, limit])
  }

  private func decoded(_ bytes: [UInt8]) -> [UInt64] {
    var values: [UInt64] = []
    var value: UInt64 = 0
    var shift: UInt64 = 0
    for byte in bytes {
      value |= UInt64(byte & 0x7F) << shift
      shift += 7
      if byte & 0x80 == 0 {
        values.append(value)
        (value, shift) = (0, 0)
      }
    }
    return values
  }
}
