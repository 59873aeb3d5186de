// Units: numbers as people read them; the one place where reports convert and round.

package import GraphPrimitives

/// Writes numbers for people.
package enum Units {
  /// A number of bytes with its unit: `1 byte`, `840 bytes`, `1.4 KB`, `128 MB`.
  ///
  /// A KB has 1,024 bytes, an MB 1,024 KB, as in `leaks` and `heap`. Below 100 units there is one
  /// decimal. Rounded half up, away from zero for negative numbers.
  package static func bytes(_ count: ByteCount) -> String {
    let value = count.rawValue.magnitude
    let sign = count.rawValue < 0 ? "-" : ""
    if value < 1024 { return sign + "\(value) byte" + (value == 1 ? "" : "s") }
    var unit: UInt64 = 1024
    for name in ["KB", "MB", "GB", "TB", "PB", "EB"] {
      let last = name == "EB"
      let (whole, rest) = value.quotientAndRemainder(dividingBy: unit)
      let tenths = whole * 10 + (rest * 10 + unit / 2) / unit
      if tenths < 1000 { return sign + "\(tenths / 10).\(tenths % 10) \(name)" }
      let rounded = whole + (rest >= unit / 2 ? 1 : 0)
      if rounded < 1024 || last { return sign + "\(rounded) \(name)" }
      unit *= 1024
    }
    return sign + "\(value) bytes"
  }

  /// A time in milliseconds with two decimals: `0.24 ms`.
  package static func milliseconds(_ nanoseconds: UInt64) -> String {
    let (whole, rest) = ((nanoseconds + 5_000) / 10_000).quotientAndRemainder(dividingBy: 100)
    return "\(number(Int(clamping: whole))).\(rest < 10 ? "0" : "")\(rest) ms"
  }

  /// A number with its thousands set apart: `1,000,000`.
  package static func number(_ value: Int) -> String {
    let digits = String(value.magnitude)
    var text = ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return (value < 0 ? "-" : "") + text
  }

  /// A number that is an estimate: `~1,200`.
  package static func estimate(_ value: Int) -> String { "~" + number(value) }

  /// A number with its sign: `+4`, `-1`, `0`.
  package static func signed(_ value: Int) -> String { (value > 0 ? "+" : "") + number(value) }

  /// A number and what it counts: `1 object`, `12 objects`.
  package static func count(_ value: Int, _ noun: String, plural: String? = nil) -> String {
    number(value) + " " + (value == 1 ? noun : plural ?? noun + "s")
  }

  /// A quotient with its sign and one decimal at most: `+4`, `+3.7`, `-0.5`; what would be nothing so has the first
  /// decimal that is: `+0.03`.
  package static func signedQuotient(_ value: Int, over divisor: Int) -> String {
    precondition(divisor > 0, "a quotient over nothing")
    let tenths = (value.magnitude * 10 + UInt(divisor) / 2) / UInt(divisor)
    let sign = value > 0 ? "+" : value < 0 ? "-" : ""
    if tenths == 0, value != 0 {
      var (scale, decimals) = (UInt(100), 2)
      while (value.magnitude * scale + UInt(divisor) / 2) / UInt(divisor) == 0 {
        (scale, decimals) = (scale * 10, decimals + 1)
      }
      let digit = (value.magnitude * scale + UInt(divisor) / 2) / UInt(divisor)
      return sign + "0." + String(repeating: "0", count: decimals - 1) + String(digit)
    }
    let whole = number(Int(tenths / 10))
    return sign + whole + (tenths % 10 == 0 ? "" : ".\(tenths % 10)")
  }
}
