// Option: what a verb's option is called, what value it takes and how help describes it.

/// An option of a verb: its names, its value and its line of help.
///
/// Verbs list their options as values; parsing and help read the same list, so neither can forget one.
package struct Option: Sendable, Hashable {
  /// What follows an option.
  package enum Value: Sendable, Hashable {
    /// Nothing: the option is there or not.
    case flag

    /// Any text; the placeholder stands for it in help.
    case text(String)

    /// One of these words.
    case choice([String])

    /// A whole number of at least 1, or `all`.
    case limit

    /// A whole number of at least 1.
    case count(String)

    /// A number of seconds above 0, which may have a fraction.
    case seconds

    /// A number of bytes above 0, which may end in K, M or G: 512M.
    case size
  }

  /// The name without its dashes: `format`.
  package let name: String

  /// The letter after a single dash, where there is one.
  package let letter: Character?

  package let value: Value

  /// What it does, in a few words that start with a small letter.
  package let help: String

  /// Whether it may be given more than once; each value counts.
  package let isRepeatable: Bool

  package init(
    _ name: String, letter: Character? = nil, _ value: Value, isRepeatable: Bool = false,
    help: String
  ) {
    self.name = name
    self.letter = letter
    self.value = value
    self.help = help
    self.isRepeatable = isRepeatable
  }

  /// What stands for the value in help, empty for a flag.
  package var placeholder: String {
    switch value {
    case .flag: ""
    case .text(let name), .count(let name): name
    case .choice(let words): words.joined(separator: "|")
    case .limit: "N"
    case .seconds: "SECONDS"
    case .size: "SIZE"
    }
  }

  /// Why a text is no value of this option; nil where it is one.
  package func objection(to text: String) -> String? {
    switch value {
    case .flag:
      return nil
    case .text(let name):
      // An empty pattern for references would match all of them.
      guard name.hasSuffix("FIELD"), !text.contains(where: { !$0.isWhitespace }) else {
        return nil
      }
      return "\"\(text)\" is no \(name): it is empty"
    case .choice(let words):
      if words.contains(text) { return nil }
      let nearest = Spelling.nearest(to: text, among: words).map { "; did you mean \($0)?" } ?? ""
      return "\"\(text)\" is none of \(words.joined(separator: ", "))" + nearest
    case .limit:
      if text == "all" || (Int(text).map { $0 > 0 } ?? false) { return nil }
      return "\"\(text)\" is neither a number of at least 1 nor the word all"
    case .count:
      if let number = Int(text), number > 0 { return nil }
      return "\"\(text)\" is not a whole number of at least 1"
    case .seconds:
      if let number = Double(text), number > 0, number.isFinite { return nil }
      return "\"\(text)\" is not a number of seconds above 0"
    case .size:
      return Self.bytes(text) == nil ? "\"\(text)\" is no size, as 512M or 2G" : nil
    }
  }

  /// The number of bytes that a size says: `512M` is 512 · 2²⁰, a number alone is bytes. nil for what is none, for
  /// 0 and for 2⁶³ or more.
  package static func bytes(_ text: String) -> UInt64? {
    let factors: [Character: UInt64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    let factor = text.last.flatMap { factors[Character($0.uppercased())] }
    let digits = factor == nil ? text[...] : text.dropLast()
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = UInt64(digits), number > 0
    else { return nil }
    let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: factor ?? 1)
    return isTooLarge || bytes > UInt64(Int64.max) ? nil : bytes
  }
}
