// LintTool: the program that `memgraph lint` starts. It speaks as memgraph, whose verb it is.

package import Commands
internal import GraphReport
internal import SourceLint

/// The tool whose only verb is `lint`.
package enum LintTool {
  package static let tool = Tool(
    "memgraph", summary: "finds in Swift sources what keeps objects alive",
    verbs: [.lint(run: run)])

  /// Runs this process's command line and ends the process.
  package static func runProcess() -> Never {
    tool.runProcess(["lint"] + CommandLine.arguments.dropFirst())
  }

  private static func run(_ call: Invocation) throws -> ExitStatus {
    let arguments = call.arguments
    var options = LintOptions()
    if arguments.has(.viewModel) { options.viewModels = arguments.texts(.viewModel) }
    if arguments.has(.holder) { options.holders = arguments.texts(.holder) }
    if arguments.has(.lintRule) { options.rules = Set(try arguments.texts(.lintRule).map(rule)) }

    let paths = try SourceFiles.paths(in: arguments.operands)
    let inputs = try paths.map { LintInput(path: $0, text: try SourceFiles.text(of: $0)) }
    let report = LintReport(
      findings: Lint.findings(in: inputs, options: options), fileCount: inputs.count,
      inputs: arguments.operands)
    let text =
      switch arguments.text(.lintFormat) {
      case "json": report.json.text
      case "sarif": report.sarif.text
      default: report.text
      }
    if let path = arguments.text(.output) {
      try ReportFile.write(text, to: path)
    } else if !arguments.has(.quiet) {
      try call.console.output.write(text)
    }
    return report.findings.isEmpty ? .nothingFound : .findings
  }

  private static func rule(_ name: String) throws -> Rule {
    if let rule = Rule(rawValue: name) { return rule }
    let names = Rule.allCases.map(\.rawValue)
    let guess = Spelling.nearest(to: name, among: names).map { "did you mean \($0)?" }
    throw UsageError(
      "--rule", "there is no rule called \(name)",
      mend: guess ?? "one of \(names.joined(separator: ", "))")
  }
}
