// Tests of JSONValue: its text is JSON, in order, and any other reader understands it.

import Foundation
import Testing

@testable import GraphReport

@Suite struct JSONValueTests {
  @Test("Members keep their order; nil ones are left out")
  func order() {
    let value = JSONValue.members([
      "z": 1, "a": nil, "b": [true, .null, "x"], "e": [], "o": .members([:]),
    ])
    #expect(
      value.text == """
        {
          "z": 1,
          "b": [
            true,
            null,
            "x"
          ],
          "e": [],
          "o": {}
        }

        """)
  }

  @Test("Strings come back as they were", arguments: 0..<20 as Range<UInt64>)
  func strings(_ seed: UInt64) throws {
    var state = seed
    let scalars = (0..<200).compactMap { _ -> Unicode.Scalar? in
      state = state &* 6_364_136_223_846_793_005 &+ 1
      // ASCII with its controls mostly, some of everything else.
      return Unicode.Scalar(UInt32((state >> 33) % (state >> 60 < 12 ? 0x80 : 0x11_0000)))
    }
    let string = String(String.UnicodeScalarView(scalars))
    let text = JSONValue.array([.string(string)]).text
    let read = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String]
    #expect(read == [string])
  }
}

@Suite struct JSONInHTMLTests {
  @Test("No text in it can end a script element, and it reads as the same value")
  func safe() throws {
    let text = "</script><!-- & \u{2028}\u{2029} \"\\ \n 🧨 שלום"
    let value = JSONValue.object([
      .init(text, .array([.string(text), .integer(-3), .bool(true), .null])),
      .init("b", .object([])),
    ])
    let html = value.textInHTML
    for character in ["<", ">", "&", "\u{2028}", "\u{2029}", "\n"] {
      #expect(!html.contains(character))
    }
    let read = try JSONDecoder().decode(
      [String: [String?]].self,
      from: Data(
        JSONValue.object([.init(text, .array([.string(text)]))]).textInHTML.utf8))
    #expect(read == [text: [text]])
    #expect(html.hasSuffix("-3,true,null],\"b\":{}}"))
  }
}
