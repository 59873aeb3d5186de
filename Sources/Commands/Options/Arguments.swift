// Arguments: a command line taken apart by a list of options.

/// The options and operands of one call, each checked against the option it belongs to.
package struct Arguments: Sendable {
  /// The values of each option by its name, in the order in which they were given; a flag has "".
  private var _valuesByOption: [String: [String]] = [:]

  /// What is no option, in order.
  package private(set) var operands: [String] = []

  /// Takes a command line apart.
  ///
  /// `--name value`, `--name=value`, `-o value` and `-ovalue` are understood, options may stand after
  /// operands, `--` ends them and a lone `-` is an operand. Names must be written out: an abbreviation
  /// that works today would break a script when a new option comes.
  ///
  /// - Parameters:
  ///   - words: the words after the verb.
  ///   - options: what the verb understands.
  ///   - operandsEndOptions: whether the first operand ends the options, as for a program to run,
  ///     whose own options follow it.
  /// - Throws: ``UsageError`` for the first word that fits no option.
  package init(
    parsing words: [String], options: [Option], operandsEndOptions: Bool = false
  ) throws(UsageError) {
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        return
      }
      guard word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        if operandsEndOptions {
          operands += rest
          return
        }
        continue
      }
      let option: Option
      var attached: String?
      if word.hasPrefix("--") {
        let parts = word.dropFirst(2).split(
          separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let found = options.first(where: { $0.name == name }) else {
          throw UsageError(
            "--" + name, "unknown option",
            mend: Spelling.nearest(to: name, among: options.map(\.name)).map {
              "did you mean --\($0)?"
            })
        }
        option = found
        attached = parts.count == 2 ? String(parts[1]) : nil
      } else {
        let letter = word[word.index(after: word.startIndex)]
        guard let found = options.first(where: { $0.letter == letter }) else {
          throw UsageError("-" + String(letter), "unknown option")
        }
        option = found
        attached = word.count > 2 ? String(word.dropFirst(2)) : nil
      }
      let shown = word.hasPrefix("--") ? "--" + option.name : String(word.prefix(2))
      if option.value == .flag {
        guard attached == nil else { throw UsageError(shown, "takes no value") }
        _valuesByOption[option.name] = [""]
        continue
      }
      guard let value = attached ?? rest.popFirst() else {
        throw UsageError(shown, "a value is missing", mend: "give \(shown) \(option.placeholder)")
      }
      if let objection = option.objection(to: value) { throw UsageError(shown, objection) }
      if option.isRepeatable {
        _valuesByOption[option.name, default: []].append(value)
      } else {
        _valuesByOption[option.name] = [value]
      }
    }
  }

  /// Whether an option was given.
  package func has(_ option: Option) -> Bool { _valuesByOption[option.name] != nil }

  /// The value of an option, the last one where it was given more than once.
  package func text(_ option: Option) -> String? { _valuesByOption[option.name]?.last }

  /// All values of a repeatable option.
  package func texts(_ option: Option) -> [String] { _valuesByOption[option.name] ?? [] }

  /// The value of an option that counts; nil for one that was not given, and for `all`.
  package func number(_ option: Option) -> Int? { text(option).flatMap { Int($0) } }

  /// The value of an option that is a number of bytes.
  package func bytes(_ option: Option) -> UInt64? { text(option).flatMap { Option.bytes($0) } }

  /// The value of an option in seconds.
  package func seconds(_ option: Option) -> Double? { text(option).flatMap { Double($0) } }
}

/// A command line that can't be understood.
package struct UsageError: Error, Equatable {
  /// The word or option that it is about.
  package var what: String

  /// Why it can't be understood.
  package var why: String

  /// What to write instead, where that is known.
  package var mend: String?

  package init(_ what: String, _ why: String, mend: String? = nil) {
    self.what = what
    self.why = why
    self.mend = mend
  }
}
