// What the tests of the rules share: a piece of source, and where the rules find something in it.

import SourceLint

/// A line and the rule that finds something there: `4 strong-self`.
func found(
  _ text: String, file: String = "Sources/App/File.swift", options: LintOptions = LintOptions()
) -> [String] {
  found([LintInput(path: file, text: text)], options: options)
}

func found(_ inputs: [LintInput], options: LintOptions = LintOptions()) -> [String] {
  Lint.findings(in: inputs, options: options).map { "\($0.place.line) \($0.rule.rawValue)" }
}
