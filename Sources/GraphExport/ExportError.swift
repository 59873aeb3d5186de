// ExportError: why an export could not be written.

/// Why an export could not be written, beyond what the taker of its bytes throws.
package struct ExportError: Error, Equatable {
  /// What could not be done: a file, a library.
  package var subject: String

  /// Why, in a sentence without a full stop.
  package var reason: String

  init(_ subject: String, _ reason: String) {
    self.subject = subject
    self.reason = reason
  }
}
