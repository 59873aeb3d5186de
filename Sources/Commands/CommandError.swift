// CommandError: why a verb could not do its work, and the one place that turns errors into words.

internal import HeapCapture
internal import SnapshotFormat

/// Why a verb could not do its work, as a sentence for the reader and a status for the caller.
package struct CommandError: Error, Equatable {
  /// What follows the tool's name: `WHAT: WHY; MEND`.
  package var sentence: String

  package var status: ExitStatus

  package init(sentence: String, status: ExitStatus) {
    self.sentence = sentence
    self.status = status
  }

  /// An error about one thing.
  ///
  /// - Parameters:
  ///   - what: A file, an option, a type.
  ///   - why: Why it does not work.
  ///   - mend: What to do about it, where that is known.
  package init(_ what: String, _ why: String, mend: String? = nil, status: ExitStatus) {
    sentence = what + ": " + why + (mend.map { "; " + $0 } ?? "")
    self.status = status
  }

  /// The error of a verb in these words.
  ///
  /// - Parameter verb: what stands before an option that can't be understood; nil for a tool that
  ///   has no verbs.
  package init(_ error: any Error, verb: String?) {
    switch error {
    case let error as CommandError:
      self = error
    case let error as UsageError:
      self.init(
        verb.map { $0 + " " + error.what } ?? error.what, error.why, mend: error.mend,
        status: .usage)
    case let error as SnapshotError:
      self.init(sentence: "\(error)", status: .unreadable)
    case let error as RunError:
      self.init(error.subject, error.reason, status: .impossible)
    case let error as CaptureError:
      self.init("capture", "\(error)", status: .impossible)
    default:
      self.init(verb ?? "internal", "\(error)", status: .impossible)
    }
  }
}
