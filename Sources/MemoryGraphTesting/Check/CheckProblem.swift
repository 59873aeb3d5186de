// CheckProblem: why a check could not be made.

/// Why a check could not be made. It fails the test: a check that can't work must not pass.
struct CheckProblem: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
