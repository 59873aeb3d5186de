// LocatedJSONTests: the reader of hand-written JSON against Foundation's, and with damaged input.

import Foundation
import ReportSchema
import SnapshotDSL
import Testing

@testable import Commands

@Suite struct LocatedJSONTests {
  /// A random document as text.
  static func document(_ random: inout SeededGenerator, depth: Int = 0) -> String {
    let space = ["", " ", "\n", "\t \r\n"][Int.random(in: 0..<4, using: &random)]
    switch Int.random(in: (depth > 3 ? 2 : 0)..<9, using: &random) {
    case 0:
      let members = (0..<Int.random(in: 0...3, using: &random)).map { number in
        "\"n\(number)\"\(space):\(space)\(document(&random, depth: depth + 1))"
      }
      return "{\(space)" + members.joined(separator: "\(space),") + "\(space)}"
    case 1:
      let elements = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        document(&random, depth: depth + 1)
      }
      return "[\(space)" + elements.joined(separator: ",\(space)") + "]"
    case 2: return "true"
    case 3: return "false"
    case 4: return "null"
    case 5: return "\(Int.random(in: -99...99, using: &random))"
    case 6: return ["1e3", "-0", "0.25", "12.5E-2", "7e+1"].randomElement(using: &random) ?? "0"
    default:
      let parts = ["a", "é", "\\n", "\\\"", "\\\\", "\\u00e9", "\\ud83d\\ude00", "𝄞", "\\/", " "]
      return "\""
        + (0..<Int.random(in: 0...5, using: &random)).map { _ in
          parts.randomElement(using: &random) ?? ""
        }.joined() + "\""
    }
  }

  /// A value as Foundation's reader has it.
  static func json(_ located: LocatedJSON) -> JSON {
    switch located.value {
    case .null: .null
    case .bool(let value): .bool(value)
    case .number(let text):
      Int(exactly: Double(text) ?? .nan).map { .integer($0) } ?? .number(Double(text) ?? .nan)
    case .string(let text): .string(text)
    case .array(let elements): .array(elements.map(json))
    case .object(let members):
      .object(Dictionary(uniqueKeysWithValues: members.map { ($0.name, json($0.value)) }))
    }
  }

  @Test("Documents mean what Foundation says that they mean", arguments: 0..<500 as Range<UInt64>)
  func agrees(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let text = Self.document(&random)
    let own = try LocatedJSON(parsing: Array(text.utf8))
    #expect(Self.json(own) == (try JSON(parsing: text)), "\(text)")
  }

  @Test(
    "Of damaged documents those are refused that Foundation refuses, and none crashes",
    arguments: 0..<500 as Range<UInt64>)
  func damaged(seed: UInt64) {
    var random = SeededGenerator(seed: seed &+ 9_000)
    var bytes = Array(Self.document(&random).utf8)
    for _ in 0..<3 {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      let junk = Array("{}[]\",:\\u0e-.1 \n".utf8)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: bytes[place] = junk.randomElement(using: &random) ?? 0
      case 1: if bytes.count > 1 { bytes.remove(at: place) }
      default: bytes.insert(junk.randomElement(using: &random) ?? 0, at: place)
      }
    }
    // Bytes that are no UTF-8 are refused here, and repaired before Foundation sees them.
    _ = try? LocatedJSON(parsing: bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    bytes = Array(text.utf8)
    let own = try? LocatedJSON(parsing: bytes)
    let theirs = try? JSON(parsing: text)
    // Names that stand twice are refused here alone.
    if let own {
      #expect(theirs == Self.json(own), "\(text)")
    } else if theirs != nil {
      let fault = #expect(throws: LocatedJSON.Fault.self) { try LocatedJSON(parsing: bytes) }
      #expect(fault?.why.contains("twice") == true, "\(text): \(fault?.why ?? "")")
    }
  }

  @Test("Each value knows its line")
  func lines() throws {
    let text = "\n{\n \"a\": 1,\n \"b\": [\n  true\n ]\n}\n"
    let document = try LocatedJSON(parsing: Array(text.utf8))
    #expect(document.line == 2 && document["a"]?.line == 3)
    #expect(document["b"]?.elements?.first?.line == 5)
  }

  @Test("What goes too deep is refused, not followed")
  func deep() {
    let text = String(repeating: "[", count: 100_000)
    #expect(throws: LocatedJSON.Fault.self) { try LocatedJSON(parsing: Array(text.utf8)) }
  }
}
