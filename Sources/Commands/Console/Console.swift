// Console: the outside of a call: where its text goes and the environment it was made in.

internal import Glibc
internal import GraphReport
package import SnapshotFormat
package import Symbolication

/// What a call can see of its surroundings, as a value, so that a test can make them up.
package struct Console: Sendable {
  /// Where the report goes.
  package var output: any TextSink

  /// Where errors and progress go.
  package var errors: any TextSink

  /// Where a call reads from that serves somebody.
  package var input: any ByteSource

  /// The value of an environment variable; nil where it is not set.
  package var environment: @Sendable (String) -> String?

  /// Names for the modules of a snapshot; the second argument has the folders with debug files.
  package var symbolizer: @Sendable ([Snapshot.Module], [String]) -> any Symbolizing

  package init(
    output: any TextSink, errors: any TextSink, input: any ByteSource = MemorySource(),
    environment: @escaping @Sendable (String) -> String? = { _ in nil },
    symbolizer: @escaping @Sendable ([Snapshot.Module], [String]) -> any Symbolizing = {
      Symbolizer(modules: $0, debugDirectories: $1)
    }
  ) {
    self.output = output
    self.errors = errors
    self.input = input
    self.environment = environment
    self.symbolizer = symbolizer
  }

  /// The console of this process.
  package static let process = Console(
    output: DescriptorSink(STDOUT_FILENO), errors: DescriptorSink(STDERR_FILENO),
    input: DescriptorSource(STDIN_FILENO),
    environment: { getenv($0).map { String(cString: $0) } })

  /// Says a sentence to a person on standard error, ended by a newline. What can't be written is lost.
  package func say(_ sentence: String) {
    try? errors.write(withoutControls(sentence) + "\n")
  }

  /// Says on the output what was done, ended by a newline: as it is for a program that reads it, and for a
  /// terminal without what that would obey.
  package func tell(_ text: String) throws(SinkError) {
    try output.write((output.isTerminal ? withoutControls(text) : text) + "\n")
  }

  /// Whether the locale's characters are UTF-8, so that arrows and bars can be drawn.
  package var isUTF8: Bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy
      .compactMap { environment($0) }.first { !$0.isEmpty }
    let lower = (locale ?? "").lowercased()
    return lower.contains("utf-8") || lower.contains("utf8")
  }
}
