// ExitStatus: what the tool tells its caller by its exit status.

/// The exit status of the tool, as `leaks` has it.
package struct ExitStatus: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// Nothing was found.
  package static let nothingFound = ExitStatus(rawValue: 0)

  /// There are findings.
  package static let findings = ExitStatus(rawValue: 1)

  /// The command line can't be understood.
  package static let usage = ExitStatus(rawValue: 2)

  /// An input can't be read.
  package static let unreadable = ExitStatus(rawValue: 3)

  /// The tool could not do it: no permission, no space.
  package static let impossible = ExitStatus(rawValue: 4)

  /// What each tells, in the words of help and of the pages for man.
  package static let meanings: [(status: Self, text: String)] = [
    (.nothingFound, "nothing found"), (.findings, "findings"), (.usage, "bad usage"),
    (.unreadable, "an input that cannot be read"), (.impossible, "the tool could not do it"),
  ]
}
