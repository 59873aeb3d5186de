// Options: the words after `swift package leak-check`.

/// What was asked for.
struct Options {
  static let help = """
    usage: swift package leak-check [OPTION...]

    Runs the tests of the package, which need no change, with the agent in them, and says
    what they leak: what no root reaches any more when the tests have ended. Fails where a
    test fails and where there are findings.

    options:
      --filter REGEX      only tests whose names match, as for swift test; can be repeated
      --skip REGEX        not these; can be repeated
      -o, --output DIR    the bundle: index.html, summary.md, report.json, snapshots
                          (default: in .build; it is said at the end)
      --fail-on WHAT      leaks, any (default) or none
      --known FILE        findings that were accepted (memgraph known)
      --format FORMAT     how to print the findings: text (default), markdown, json, junit,
                          sarif, github, gitlab
      --type PATTERN, --module NAME
                          only findings of these types or modules
      --max-size MB       the most megabytes of the bundle
      --memgraph PATH     the tool to use, instead of building it
      --help              show this help

    examples:
      swift package leak-check --filter CallTests
          Do the tests of this suite leave anything behind?
      swift package leak-check -o artifact --format github
          In a workflow, with marks beside the code.

    """

  var filters: [String] = []
  var skips: [String] = []
  var output: String?
  var failOn = "any"
  var tool: String?
  var isHelp = false

  /// A file of known findings, for the tests' own checks, too.
  var known: String?

  /// Words for `memgraph bundle`.
  var forBundle: [String] = []

  init(_ words: [String]) throws(Failure) {
    var rest = words[...]
    while let word = rest.popFirst() {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      var attached = parts.count == 2 ? String(parts[1]) : nil
      func value() throws(Failure) -> String {
        if let given = attached {
          attached = nil
          return given
        }
        guard let next = rest.popFirst() else { throw Failure("\(name): a value is missing") }
        return next
      }
      switch name {
      case "--help", "-h": isHelp = true
      case "--filter": filters.append(try value())
      case "--skip": skips.append(try value())
      case "--output", "-o": output = try value()
      case "--fail-on": failOn = try value()
      case "--memgraph": tool = try value()
      case "--known":
        known = try value()
        forBundle += [name, known ?? ""]
      case "--format", "--type", "--module", "--max-size", "--limit":
        forBundle += [name, try value()]
      default: throw Failure("\(word): unknown option")
      }
      if attached != nil { throw Failure("\(name): takes no value") }
    }
  }
}
