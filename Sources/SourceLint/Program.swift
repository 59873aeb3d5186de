// Program: all that is known of the sources, for the rules that look at one file.

internal import Glibc
internal import SwiftSyntax

/// The sources as the rules see them.
struct Program {
  let index: DeclarationIndex
  let options: LintOptions
  let retention: Retention

  /// Whether the sources have a holder at all: without one nobody can use it.
  let hasHolder: Bool

  init(index: DeclarationIndex, options: LintOptions) {
    self.index = index
    self.options = options
    retention = Retention(index)
    hasHolder = index.modulesByName.keys.contains { Self.matches($0, options.holders) }
  }

  /// What the rules find in a file, allowed or not.
  ///
  /// - Parameter file: its number in the index.
  func findings(inFile file: Int) -> [LintFinding] {
    let visitor = RuleVisitor(program: self, file: file)
    visitor.walk(index.files[file].tree)
    // A value that is kept in two ways is one mistake.
    var seen: Set<SourcePlace> = []
    return visitor.findings.filter { seen.insert($0.place).inserted }
  }

  /// Whether a class is a view model, by its name or that of one that it inherits from.
  func isViewModel(_ name: String, in scope: Scope) -> Bool {
    var names = [name]
    var seen: Set<String> = []
    while let next = names.popLast() {
      guard seen.insert(next).inserted else { continue }
      if Self.matches(next, options.viewModels) { return !isHolder(name) }
      names += retention.ancestry(of: next, in: scope).first?.inherited ?? []
    }
    return false
  }

  /// Whether a class is a holder of view models.
  func isHolder(_ name: String) -> Bool { Self.matches(name, options.holders) }

  /// Whether the last part of a name matches a pattern of the shell.
  private static func matches(_ name: String, _ patterns: [String]) -> Bool {
    let last = name.split(separator: ".").last.map(String.init) ?? name
    return patterns.contains { fnmatch($0, last, 0) == 0 }
  }
}
