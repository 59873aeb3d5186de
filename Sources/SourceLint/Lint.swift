// Lint: reads sources and finds in them what keeps objects alive.

/// A source file: what it is called and what is in it.
package struct LintInput: Sendable {
  package var path: String
  package var text: String

  package init(path: String, text: String) {
    self.path = path
    self.text = text
  }
}

/// What the rules can't know by themselves. Patterns are as in the shell: `*ViewModel`.
package struct LintOptions: Sendable {
  /// Names of classes that are view models; what inherits from one is one, too.
  package var viewModels = ["*ViewModel"]

  /// Names of the classes whose end is the end of a view model.
  package var holders = ["*ViewModelHolder"]

  /// The rules to apply.
  package var rules = Set(Rule.allCases)

  package init() {}
}

/// Applies the rules to sources.
package enum Lint {
  /// The findings, by place. What one file declares is known in all of them.
  ///
  /// Any text will do: where it isn't Swift, nothing is found.
  ///
  /// - Complexity: O(*n* log *n*) in the size of the sources, for types of bounded size.
  package static func findings(
    in inputs: [LintInput], options: LintOptions = LintOptions()
  )
    -> [LintFinding]
  {
    let files = inputs.map { ParsedFile($0) }
    var index = DeclarationIndex()
    for file in files { index.add(file) }
    let program = Program(index: index, options: options)
    var found: Set<LintFinding> = []
    for (number, file) in files.enumerated() {
      let raw = program.findings(inFile: number).filter { options.rules.contains($0.rule) }
      found.formUnion(file.allowances.apply(to: raw, rules: options.rules, in: file))
    }
    return found.sorted {
      ($0.place, $0.rule.rawValue, $0.message) < ($1.place, $1.rule.rawValue, $1.message)
    }
  }
}
