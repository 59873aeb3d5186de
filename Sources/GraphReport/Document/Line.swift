// Line: a piece of text whose parts say what they are, so that each format can show it its own way.

/// A part of a line: some text and what it is.
package struct Run: Hashable, Sendable {
  /// What a piece of text is.
  package enum Role: Hashable, Sendable {
    case plain

    /// The name of a type, field, function or file.
    case code

    /// What the reader should see first.
    case strong

    /// What may be overlooked.
    case faint

    /// Something that is wrong.
    case bad

    /// Something that mends it.
    case good
  }

  package var text: String
  package var role: Role

  package init(_ text: String, _ role: Role = .plain) {
    self.text = text
    self.role = role
  }
}

/// Some runs, one after the other.
package struct Line: Hashable, Sendable, ExpressibleByStringInterpolation {
  package var runs: [Run]

  package init(_ runs: [Run]) { self.runs = runs }
  package init(_ text: String, _ role: Run.Role) { runs = [Run(text, role)] }
  package init(stringLiteral text: String) { runs = [Run(text)] }
  package init(_ text: String) { runs = [Run(text)] }

  package static func code(_ text: String) -> Line { Line(text, .code) }

  package static func + (left: Line, right: Line) -> Line { Line(left.runs + right.runs) }

  package static func += (left: inout Line, right: Line) { left.runs += right.runs }

  /// The text alone.
  package var text: String { runs.map(\.text).joined() }
}

extension Sequence<Line> {
  /// The lines as one, with a separator between them.
  package func joined(_ separator: Line) -> Line {
    var result = Line([])
    for (place, line) in enumerated() { result += place == 0 ? line : separator + line }
    return result
  }
}
