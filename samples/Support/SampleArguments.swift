// The command line that the samples have in common: one variant of the story, and how often.
import Glibc

/// `--variant NAME`, and where a sample has one, an option for a count, such as `--cycles 40`.
package struct SampleArguments<Variant>: Sendable
where
  Variant: RawRepresentable & CaseIterable & Sendable, Variant.RawValue == String,
  Variant.AllCases: Sendable
{
  package let variant: Variant
  package let count: Int

  /// Reads the arguments of the process. `--help` prints what there is and exits with 0; where the arguments
  /// make no sense it says so and exits with 2.
  package init(counting option: String? = nil, default count: Int = 1) {
    let program = CommandLine.arguments[0].split(separator: "/").last ?? ""
    let names = Variant.allCases.map(\.rawValue).joined(separator: "|")
    let counted = option.map { " [\($0) N]" } ?? ""
    let usage = "usage: \(program) [--variant \(names)]\(counted)\n"
    if CommandLine.arguments.dropFirst().contains("--help") {
      write(STDOUT_FILENO, usage, usage.utf8.count)
      exit(0)
    }
    do {
      self = try Self(CommandLine.arguments.dropFirst(), counting: option, default: count)
    } catch {
      let text = "\(program): \(error.what)\n\(usage)"
      write(STDERR_FILENO, text, text.utf8.count)
      exit(2)
    }
  }

  init(
    _ arguments: ArraySlice<String>, counting option: String?, default count: Int
  ) throws(SampleUsageError) {
    var rest = arguments
    var variant = Variant.allCases.first
    var chosen = count
    while let argument = rest.popFirst() {
      switch argument {
      case "--variant":
        let name = rest.popFirst() ?? ""
        guard let named = Variant(rawValue: name) else {
          throw SampleUsageError(what: "there is no variant called '\(name)'")
        }
        variant = named
      case option:
        guard let text = rest.popFirst(), let number = Int(text), number > 0 else {
          throw SampleUsageError(what: "\(argument) needs a number above 0")
        }
        chosen = number
      default:
        throw SampleUsageError(what: "unknown argument '\(argument)'")
      }
    }
    guard let variant else { throw SampleUsageError(what: "there are no variants") }
    self.variant = variant
    self.count = chosen
  }
}

struct SampleUsageError: Error {
  var what: String
}
