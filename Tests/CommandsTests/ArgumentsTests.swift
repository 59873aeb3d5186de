// Tests of Arguments: how a command line is taken apart, and what is said where it can't be.

import Testing

@testable import Commands

@Suite struct ArgumentsTests {
  static let options: [Commands.Option] = [
    .format, .output, .limit, .type, .quiet, .folder,
    Option("every", .seconds, help: ""), Option("max", .count("N"), help: ""),
    .memoryLimit,
  ]

  struct Refusal: Sendable, CustomTestStringConvertible {
    var words: [String]
    var error: UsageError
    var testDescription: String { words.joined(separator: " ") }
  }

  static let refusals = [
    Refusal(
      words: ["--fromat", "json"],
      error: UsageError("--fromat", "unknown option", mend: "did you mean --format?")),
    Refusal(words: ["--frob"], error: UsageError("--frob", "unknown option")),
    Refusal(
      words: ["--form=json"],
      error: UsageError("--form", "unknown option", mend: "did you mean --format?")),
    Refusal(words: ["-x"], error: UsageError("-x", "unknown option")),
    Refusal(
      words: ["--format"],
      error: UsageError("--format", "a value is missing", mend: "give --format text|json|markdown")),
    Refusal(words: ["-o"], error: UsageError("-o", "a value is missing", mend: "give -o FILE")),
    Refusal(words: ["--quiet=yes"], error: UsageError("--quiet", "takes no value")),
    Refusal(words: ["-qo", "x"], error: UsageError("-q", "takes no value")),
    Refusal(
      words: ["--format", "jsn"],
      error: UsageError(
        "--format", "\"jsn\" is none of text, json, markdown; did you mean json?")),
    Refusal(
      words: ["--limit", "0"],
      error: UsageError("--limit", "\"0\" is neither a number of at least 1 nor the word all")),
    Refusal(
      words: ["--limit=many"],
      error: UsageError("--limit", "\"many\" is neither a number of at least 1 nor the word all")),
    Refusal(
      words: ["--max", "-3"],
      error: UsageError("--max", "\"-3\" is not a whole number of at least 1")),
    Refusal(
      words: ["--every", "0"],
      error: UsageError("--every", "\"0\" is not a number of seconds above 0")),
    Refusal(
      words: ["--every", "inf"],
      error: UsageError("--every", "\"inf\" is not a number of seconds above 0")),
    Refusal(
      words: ["--memory-limit", "0M"],
      error: UsageError("--memory-limit", "\"0M\" is no size, as 512M or 2G")),
    Refusal(
      words: ["--memory-limit", "8589934592G"],
      error: UsageError("--memory-limit", "\"8589934592G\" is no size, as 512M or 2G")),
    Refusal(
      words: ["--memory-limit", "2 G"],
      error: UsageError("--memory-limit", "\"2 G\" is no size, as 512M or 2G")),
  ]

  @Test("A size is a number of bytes, or of 1,024 to the first, second or third power of them")
  func sizes() throws {
    for (text, bytes) in [
      ("1", 1), ("3K", 3 << 10), ("512M", 512 << 20), ("2g", 2 << 30),
      ("8589934591G", 8_589_934_591 << 30),
    ] as [(String, UInt64)] {
      let arguments = try Arguments(parsing: ["--memory-limit", text], options: Self.options)
      #expect(arguments.bytes(.memoryLimit) == bytes)
    }
    for text in ["", "M", "+1", "-1", "1.5G", "1MB", "0"] {
      #expect(Commands.Option.bytes(text) == nil, "\(text)")
    }
  }

  @Test("What can't be understood is said", arguments: refusals)
  func refuses(_ refusal: Refusal) {
    #expect(throws: refusal.error) {
      try Arguments(parsing: refusal.words, options: Self.options)
    }
  }

  @Test("Values may be attached or follow, options may follow operands")
  func forms() throws {
    let arguments = try Arguments(
      parsing: ["a.mgraph", "--format=json", "-o", "x", "b.mgraph", "-oy", "--limit", "all", "-"],
      options: Self.options)
    #expect(arguments.operands == ["a.mgraph", "b.mgraph", "-"])
    #expect(arguments.text(.format) == "json")
    #expect(arguments.text(.output) == "y", "the last one counts")
    #expect(arguments.has(.limit) && arguments.number(.limit) == nil)
    #expect(!arguments.has(.quiet))
  }

  @Test("A repeatable option keeps all its values, an empty one too")
  func repeats() throws {
    let arguments = try Arguments(
      parsing: ["--type", "A", "--type=", "--type=B=C"], options: Self.options)
    #expect(arguments.texts(.type) == ["A", "", "B=C"])
    #expect(arguments.texts(.folder).isEmpty)
  }

  @Test("Two dashes end the options")
  func dashes() throws {
    let arguments = try Arguments(parsing: ["-q", "--", "--format", "--"], options: Self.options)
    #expect(arguments.operands == ["--format", "--"])
    #expect(arguments.has(.quiet) && !arguments.has(.format))
  }

  @Test("A program's own options are left alone")
  func program() throws {
    let words = ["--quiet", "prog", "--quiet", "-x", "--", "y"]
    let arguments = try Arguments(
      parsing: words, options: Self.options, operandsEndOptions: true)
    #expect(arguments.operands == ["prog", "--quiet", "-x", "--", "y"])
    let afterDashes = try Arguments(
      parsing: ["--", "prog", "--", "-x"], options: Self.options, operandsEndOptions: true)
    #expect(afterDashes.operands == ["prog", "--", "-x"])
  }

  @Test("Numbers and seconds come out as numbers")
  func numbers() throws {
    let every = Self.options[6]
    let arguments = try Arguments(
      parsing: ["--limit", "7", "--every", "0.25"], options: Self.options)
    #expect(arguments.number(.limit) == 7)
    #expect(arguments.seconds(every) == 0.25)
  }
}

@Suite struct SpellingTests {
  @Test(
    "The number of mistakes between two words",
    arguments: [
      ("", "", 0), ("a", "", 1), ("format", "fromat", 1), ("leaks", "leask", 1),
      ("leaks", "paths", 4), ("summary", "sumary", 1), ("ab", "ba", 1), ("kitten", "sitting", 3),
    ] as [(String, String, Int)])
  func mistakes(_ left: String, _ right: String, _ count: Int) {
    #expect(Spelling.mistakes(left, right) == count)
    #expect(Spelling.mistakes(right, left) == count)
  }

  @Test("A guess is made only where it is near")
  func nearest() {
    let words = ["leaks", "cycles", "paths", "object", "stacks"]
    #expect(Spelling.nearest(to: "leak", among: words) == "leaks")
    #expect(Spelling.nearest(to: "leeks", among: words) == "leaks")
    #expect(Spelling.nearest(to: "obj", among: words) == "object")
    #expect(Spelling.nearest(to: "pahts", among: words) == "paths")
    #expect(Spelling.nearest(to: "run", among: words) == nil)
    #expect(Spelling.nearest(to: "", among: words) == nil)
  }
}
