// ViewerFile: a reader of the files that `memgraph view` writes, by docs/viewer-format.md and nothing else.

import CZlib
import Foundation
import ReportSchema
import Testing

/// A viewer file, read.
struct ViewerFile {
  let title: String

  /// The `main` element of the static part.
  let staticPart: String

  /// The summary as it stands in the file, and as a value.
  let summaryText: String
  let summary: JSON
  let chunkCount: Int

  private let _columns: [String: (encoding: String, values: [Int])]
  private let _text: [UInt8]
  let strings: [String]

  init(_ html: String) throws {
    func between(_ start: String, _ end: String) throws -> String {
      let from = try #require(html.firstRange(of: start)).upperBound
      let to = try #require(html[from...].firstRange(of: end)).lowerBound
      return String(html[from..<to])
    }
    title = try between("<title>", "</title>")
    staticPart =
      "<main id=\"static\">" + (try between("<main id=\"static\">", "</main>")) + "</main>"
    summaryText = try between("<script type=\"application/json\" id=\"summary\">", "</script>")
    summary = try JSON(parsing: summaryText)

    var bytes: [UInt8] = []
    let elements = html.split(separator: "<script type=\"text/plain\" class=\"data\">").dropFirst()
    chunkCount = elements.count
    for element in elements {
      let text = try #require(element.firstRange(of: "</script>")).lowerBound
      bytes += [UInt8](try #require(Data(base64Encoded: String(element[..<text]))))
    }
    #expect(bytes.count == summary["payload"]["bytes"].integer)
    #expect(chunkCount == summary["payload"]["chunks"].integer)
    let raw = try Self.inflated(bytes, count: try #require(summary["payload"]["rawBytes"].integer))

    var columns: [String: (encoding: String, values: [Int])] = [:]
    var text: [UInt8] = []
    var place = 0
    for column in summary["columns"].elements {
      let name = try #require(column["name"].string)
      let end = place + (try #require(column["bytes"].integer))
      let encoding = try #require(column["encoding"].string)
      if name == "string.text" {
        text = Array(raw[place..<end])
      } else {
        let values = try Self.decoded(raw[place..<end], encoding)
        #expect(values.count == column["count"].integer, "\(name)")
        columns[name] = (encoding, values)
      }
      place = end
    }
    #expect(place == raw.count, "the columns are all of the payload")
    _columns = columns
    _text = text
    var strings: [String] = []
    var start = 0
    for length in columns["string.length"]?.values ?? [] {
      strings.append(String(decoding: text[start..<(start + length)], as: UTF8.self))
      start += length
    }
    self.strings = strings
  }

  /// The values of a column; none where it is not there.
  subscript(_ name: String) -> [Int] { _columns[name]?.values ?? [] }

  func has(_ name: String) -> Bool { _columns[name] != nil }

  // MARK: - Rows

  var nodeCount: Int { self["node.type"].count }

  /// Where each node starts.
  var addresses: [Int] {
    var addresses: [Int] = []
    var end = 0
    for (gap, bytes) in zip(self["node.gap"], self["node.bytes"]) {
      addresses.append(end + gap)
      end += gap + bytes
    }
    return addresses
  }

  func typeName(of node: Int) -> String { strings[self["type.name"][self["node.type"][node]]] }

  /// What reports call a node's type.
  func reportName(of node: Int) -> String {
    strings[self["report.name"][self["type.report"][self["node.type"][node]]]]
  }

  struct Edge: Equatable {
    var row: Int
    var source: Int
    var target: Int
    var label: String
    var via: String
    var info: Int
  }

  /// All edges, those of a node together.
  var edges: [Edge] {
    var edges: [Edge] = []
    let (targets, labels, infos) = (self["edge.target"], self["edge.label"], self["edge.info"])
    for (node, degree) in self["edge.degree"].enumerated() {
      var target = node
      for _ in 0..<degree {
        let row = edges.count
        target += targets[row]
        edges.append(
          Edge(
            row: row, source: node, target: target, label: labelText(labels[row]),
            via: strings[self["label.via"][labels[row]]], info: infos[row]))
      }
    }
    return edges
  }

  private func labelText(_ row: Int) -> String {
    let name = strings[self["label.name"][row]]
    let index = self["label.index"][row]
    if index == 0 { return name }
    let element = index == 1 ? "[_]" : "[\(index - 2)]"
    return name.isEmpty || name.hasPrefix("[") ? element + name : element + "." + name
  }

  /// The functions of a stack, the innermost first.
  func functions(ofStack stack: Int) -> [String] {
    var functions: [String] = []
    var row = stack
    while row != 0 {
      functions.append(strings[self["frame.function"][self["stack.frame"][row]]])
      row -= self["stack.parent"][row]
    }
    return functions
  }

  // MARK: - Bytes

  private static func inflated(_ bytes: [UInt8], count: Int) throws -> [UInt8] {
    var input = bytes
    var output = [UInt8](repeating: 0, count: count + 1)
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    try #require(inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, size) == Z_OK)
    defer { inflateEnd(&stream) }
    let result = input.withUnsafeMutableBufferPointer { source in
      output.withUnsafeMutableBufferPointer { space in
        stream.next_in = source.baseAddress
        stream.avail_in = UInt32(source.count)
        stream.next_out = space.baseAddress
        stream.avail_out = UInt32(space.count)
        return inflate(&stream, Z_FINISH)
      }
    }
    try #require(result == Z_STREAM_END && stream.avail_out == 1)
    return Array(output[..<count])
  }

  private static func decoded(_ bytes: ArraySlice<UInt8>, _ encoding: String) throws -> [Int] {
    if encoding == "bytes" { return bytes.map { Int($0) } }
    let isSigned = encoding.hasPrefix("z")
    var values: [Int] = []
    var value: UInt64 = 0
    var shift: UInt64 = 0
    for byte in bytes {
      value |= UInt64(byte & 0x7F) << shift
      shift += 7
      guard byte & 0x80 == 0 else { continue }
      try #require(value < 1 << 53)
      values.append(isSigned ? Int(value >> 1) ^ -Int(value & 1) : Int(value))
      (value, shift) = (0, 0)
    }
    try #require(shift == 0, "a column ends where a number does")
    return values
  }
}
