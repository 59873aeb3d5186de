// ParsedFile: a source file as a tree, with its places and allowances.

internal import SwiftParser
internal import SwiftSyntax

/// A source file, parsed.
struct ParsedFile {
  let path: String

  /// The folder that stands for the module: what is declared in one is preferred there.
  let module: String

  /// Whether it is in a folder of tests.
  let isTest: Bool
  let tree: SourceFileSyntax
  let converter: SourceLocationConverter
  let allowances: Allowances

  init(_ input: LintInput) {
    path = input.path
    module = Self.module(of: input.path)
    isTest = input.path.split(separator: "/").dropLast().contains { $0.hasSuffix("Tests") }
    tree = Parser.parse(source: input.text)
    converter = SourceLocationConverter(fileName: input.path, tree: tree)
    allowances = Allowances(in: tree, converter)
  }

  func place(of node: some SyntaxProtocol) -> SourcePlace {
    let location = node.startLocation(converter: converter)
    return SourcePlace(file: path, line: location.line, column: location.column)
  }

  /// By convention a module is a folder in one of these; elsewhere it is the file's own folder.
  private static func module(of path: String) -> String {
    let parts = path.split(separator: "/").map(String.init)
    if let parent = parts.lastIndex(where: { ["Sources", "Tests", "samples"].contains($0) }),
      parent + 2 < parts.count
    {
      return parts[...(parent + 1)].joined(separator: "/")
    }
    return parts.dropLast().joined(separator: "/")
  }
}
