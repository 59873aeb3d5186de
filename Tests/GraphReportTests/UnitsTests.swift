// Tests of Units: how numbers are written.

import GraphPrimitives
import Testing

@testable import GraphReport

@Suite struct UnitsTests {
  @Test(
    "Bytes with a unit that fits",
    arguments: [
      (0, "0 bytes"), (1, "1 byte"), (-1, "-1 byte"), (1023, "1023 bytes"), (1024, "1.0 KB"),
      (1434, "1.4 KB"), (-1434, "-1.4 KB"), (102_348, "99.9 KB"), (102_350, "100 KB"),
      (102_400, "100 KB"), (1_048_063, "1023 KB"), (1_048_064, "1.0 MB"), (1_048_576, "1.0 MB"),
      (5_368_709_120, "5.0 GB"), (Int.max, "8.0 EB"), (Int.min, "-8.0 EB"),
    ] as [(Int, String)])
  func bytes(_ value: Int, _ text: String) {
    #expect(Units.bytes(ByteCount(value)) == text)
  }

  @Test(
    "A unit's text is never further off than half its last digit",
    arguments: 0..<200 as Range<UInt64>)
  func rounding(_ seed: UInt64) throws {
    // Sizes spread over all magnitudes.
    let value = Int64((seed &* 0x9E37_79B9_7F4A_7C15) >> (seed % 60 + 2))
    let text = Units.bytes(ByteCount(value))
    let parts = text.split(separator: " ")
    let number = try #require(Double(parts[0]))
    let scale: [Substring: Double] = [
      "byte": 1, "bytes": 1, "KB": 0x1p10, "MB": 0x1p20, "GB": 0x1p30, "TB": 0x1p40, "PB": 0x1p50,
      "EB": 0x1p60,
    ]
    let unit = try #require(scale[parts[1]])
    let slack = parts[0].contains(".") ? 0.0501 : 0.501
    #expect(abs(number * unit - Double(value)) <= slack * unit, "\(value) is no \(text)")
  }

  @Test(
    "Thousands stand apart",
    arguments: [
      (0, "0"), (999, "999"), (1000, "1,000"), (-1000, "-1,000"), (1_234_567, "1,234,567"),
      (Int.min, "-9,223,372,036,854,775,808"),
    ] as [(Int, String)])
  func number(_ value: Int, _ text: String) {
    #expect(Units.number(value) == text)
  }

  @Test("Counts and signs")
  func counts() {
    #expect(Units.count(1, "object") == "1 object")
    #expect(Units.count(0, "object") == "0 objects")
    #expect(Units.count(1200, "entry", plural: "entries") == "1,200 entries")
    #expect(Units.signed(4) == "+4" && Units.signed(0) == "0" && Units.signed(-4) == "-4")
    #expect(Units.signedQuotient(8, over: 2) == "+4")
    #expect(Units.signedQuotient(11, over: 3) == "+3.7")
    #expect(Units.signedQuotient(-1, over: 2) == "-0.5")
    #expect(Units.signedQuotient(0, over: 5) == "0")
    // What is some is never written as nothing.
    #expect(Units.signedQuotient(1, over: 30) == "+0.03")
    #expect(Units.signedQuotient(-1, over: 2_000) == "-0.001")
    #expect(Units.signedQuotient(1, over: 20) == "+0.1")
    #expect(Units.milliseconds(240_499) == "0.24 ms")
    #expect(Units.milliseconds(12_005_000_000) == "12,005.00 ms")
    #expect(Units.milliseconds(0) == "0.00 ms")
  }
}
