// Tests of base64 against Foundation's.

import Foundation
import SnapshotDSL
import Testing

@testable import GraphViewer

@Suite struct Base64Tests {
  @Test("It is Foundation's, for every length")
  func equalsFoundation() {
    var random = SeededGenerator(seed: 64)
    for length in 0..<200 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      let text = String(decoding: Base64.text(of: bytes), as: UTF8.self)
      #expect(text == Data(bytes).base64EncodedString())
    }
  }

  @Test("A slice is its bytes alone")
  func slice() {
    let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7]
    let text = String(decoding: Base64.text(of: bytes[2..<6]), as: UTF8.self)
    #expect(text == Data([3, 4, 5, 6]).base64EncodedString())
  }
}
