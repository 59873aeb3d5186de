// Finding: a place in a source file, and what is wrong there.

/// A place in a source file.
package struct SourcePlace: Hashable, Sendable {
  /// The file as the caller named it.
  package var file: String

  /// From 1.
  package var line: Int

  /// From 1, in bytes of UTF-8.
  package var column: Int

  package init(file: String, line: Int, column: Int) {
    self.file = file
    self.line = line
    self.column = column
  }
}

extension SourcePlace: Comparable {
  package static func < (left: Self, right: Self) -> Bool {
    (left.file, left.line, left.column) < (right.file, right.line, right.column)
  }
}

/// A mistake that was found.
package struct LintFinding: Hashable, Sendable {
  /// Another place that has to do with it.
  package struct Related: Hashable, Sendable {
    package var place: SourcePlace
    package var text: String
  }

  package var rule: Rule
  package var place: SourcePlace

  /// What was found, in one sentence with the names of the source.
  package var message: String
  package var related: [Related] = []
}
