// doctor: what of this machine limits the tool.

internal import GraphReport

extension Verb {
  package static let doctor = Verb(
    "doctor", operands: "", operandCount: 0...0,
    summary: "what of this machine is missing or limits the tool, each with the mend",
    discussion: """
      Looks at what the tool needs: its own files, the toolchain's remote mirror, who may
      read whose memory, libraries, core files, the locale. Changes nothing. Exits with 1
      where there is something to mend.
      """,
    options: [.format, .output, .color],
    examples: [
      Example("memgraph doctor", "Why does attach say no?"),
      Example("memgraph doctor --format json -o machine.json", "For a report of a bug."),
    ]
  ) { call in
    let report = DoctorReport(Machine.current(console: call.console).diagnosis)
    if call.arguments.text(.format) == "json" {
      try call.write(report.json(tool: call.tool, version: toolVersion).text)
    } else {
      try call.write(report.document)
    }
    return report.hasLimits ? .findings : .nothingFound
  }
}
