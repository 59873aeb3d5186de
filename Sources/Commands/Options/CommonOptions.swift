// CommonOptions: the options that all or several verbs share.

internal import GraphReport

extension Option {
  package static let format = Option(
    "format", .choice(["text", "json", "markdown"]), help: "how to write the report (default: text)"
  )
  package static let findingFormat = Option(
    "format",
    .choice(["text", "json", "markdown"] + ExchangeFormat.allCases.map(\.rawValue)),
    help: "how to write the report (default: text); junit and sarif for build hosts, github for "
      + "the log of a workflow, gitlab for a report of code quality")
  package static let sourceRoot = Option(
    "source-root", .text("DIR"),
    help: "the folder that paths in junit, sarif, github and gitlab are relative to (default: "
      + "$GITHUB_WORKSPACE, else $CI_PROJECT_DIR, else the working folder)")
  package static let output = Option(
    "output", letter: "o", .text("FILE"), help: "write the report to FILE")
  package static let color = Option(
    "color", .choice(["auto", "always", "never"]),
    help: "colours in text; auto: on a terminal only (default)")
  package static let limit = Option(
    "limit", .limit,
    help: "at most N findings or rows, or all (default: 20; all in formats for programs)")
  package static let type = Option(
    "type", .text("PATTERN"), isRepeatable: true,
    help: "only types that match, as App.View or App.*Model; can be repeated")
  package static let module = Option(
    "module", .text("NAME"), isRepeatable: true, help: "only types of this module; can be repeated")
  package static let withoutModule = Option(
    "without-module", .text("NAME"), isRepeatable: true,
    help: "no types of this module, and no findings with one on their cycle; can be repeated")
  package static let generation = Option(
    "generation", .text("NAME"), help: "only objects born between mark NAME and the mark before it")
  package static let failOn = Option(
    "fail-on", .choice(["leaks", "abandoned", "growth", "any", "none"]),
    help: "what makes the exit status 1 (default: none: nothing that is found does)")
  package static let failOnAny = Option(
    "fail-on", .choice(["leaks", "abandoned", "growth", "any", "none"]),
    help: "what makes the exit status 1 (default: any: whatever is found)")
  package static let symbols = Option(
    "symbols", .text("DIR"), isRepeatable: true,
    help: "where to look for debug files, by build id; can be repeated")
  package static let noSymbols = Option(
    "no-symbols", .flag, help: "leave addresses of code as they are")
  package static let memoryLimit = Option(
    "memory-limit", .size,
    help: "end with status 4 before more memory than SIZE is taken, as 512M or 2G")
  package static let quiet = Option(
    "quiet", letter: "q", .flag, help: "print no report and no progress; the exit status tells")
  package static let help = Option("help", letter: "h", .flag, help: "show this help")
  package static let version = Option("version", .flag, help: "show the version")
  package static let folder = Option(
    "in", .text("DIR"),
    help: "where marks are looked up by name (default: $MEMORY_GRAPH_OUT, else ./memory-graph)")
  package static let config = Option(
    "config", .text("FILE"),
    help: "fields that own nothing (default: .memgraph.json, where there is one)")
  package static let known = Option(
    "known", .text("FILE"),
    help: "findings that were accepted: shown as known, not counted (memgraph known)")
  package static let warmUp = Option(
    "warm-up", .count("N"), help: "leave out the first N marks, in which caches fill")

  /// What each verb has.
  package static let everywhere: [Option] = [.quiet, .help, .version]

  /// What each verb that writes a report has.
  package static let report: [Option] = [.format, .output, .color, .failOn]

  /// What each verb that has findings has instead.
  package static let findingReport: [Option] = [
    .findingFormat, .output, .color, .failOn, .sourceRoot,
  ]

  /// What each verb has whose findings make the exit status 1 unless something else is asked for.
  package static let failingReport: [Option] = [
    .findingFormat, .output, .color, .failOnAny, .sourceRoot,
  ]

  /// What each verb that lists types or objects has.
  package static let filters: [Option] = [
    .limit, .type, .module, .withoutModule, .generation,
  ]

  /// What each verb that names code has; it is those that analyse, so their memory can be limited.
  package static let naming: [Option] = [.symbols, .noSymbols, .memoryLimit]
}
