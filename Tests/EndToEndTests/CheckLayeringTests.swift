// The layering check on small trees of its own: it must fail where a tree breaks the table.
internal import Foundation
internal import Testing

@Suite struct CheckLayeringTests {
  struct Tree: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var files: [String: String]
    /// What the check has to say; `nil` where it has to pass.
    var complaint: String?
  }

  static let table = """
    | target | its one job | imports of ours | of the system |
    |---|---|---|---|
    | `CBase` (C) | a header | – | – |
    | `Lower` | lies below | `CBase` | `Glibc` |
    | `Upper` | stands above | `Lower` | – |

    """

  static let sound = [
    "docs/architecture.md": table,
    "Sources/CBase/include/base.h": "int base(void);\n",
    "Sources/Lower/Lower.swift": "internal import CBase\npackage import Glibc\n",
    "Sources/Upper/Upper.swift": "public import Lower\n",
    "Tests/LowerTests/LowerTests.swift": "",
    "Tests/UpperTests/UpperTests.swift": "",
  ]

  static let trees = [
    Tree(testDescription: "a sound tree", files: [:], complaint: nil),
    Tree(
      testDescription: "an import that points back",
      files: ["Sources/Lower/More.swift": "@testable import Upper\n"],
      complaint: "Lower imports Upper"),
    Tree(
      testDescription: "a system module that isn't allowed",
      files: ["Sources/Upper/More.swift": "import struct Foundation.URL\n"],
      complaint: "Upper imports Foundation"),
    Tree(
      testDescription: "an import that is only reachable through another",
      files: ["Sources/Upper/Deep/More.swift": "internal import CBase\n"],
      complaint: "Upper imports CBase"),
    Tree(
      testDescription: "a permission that nobody uses",
      files: ["Sources/Lower/Lower.swift": "internal import CBase\n"],
      complaint: "Lower may import Glibc"),
    Tree(
      testDescription: "a header of another target",
      files: [
        "Sources/COther/include/other.h": "#include \"base.h\"\n",
        "docs/architecture.md": table.replacing(
          "| `Lower` | lies", with: "| `COther` (C) | another | – | – |\n| `Lower` | lies"),
      ],
      complaint: "COther imports CBase"),
    Tree(
      testDescription: "a target without a row",
      files: ["Sources/Extra/Extra.swift": ""], complaint: "Extra has no row"),
    Tree(
      testDescription: "a row without a target",
      files: [
        "docs/architecture.md": table.replacing("`Upper`", with: "`Upper`, `Gone`")
      ],
      complaint: "Gone has a row"),
    Tree(
      testDescription: "a library without tests",
      files: ["Tests/UpperTests/UpperTests.swift": "-"], complaint: "Upper has no tests"),
  ]

  @Test("A tree that breaks the table is refused by name", arguments: trees)
  func check(_ tree: Tree) throws {
    let folder = try ScratchFolder()
    for (path, text) in Self.sound.merging(tree.files, uniquingKeysWith: { $1 }) where text != "-" {
      let file = folder.url.appendingPathComponent(path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    let scripts = folder.url.appendingPathComponent("scripts")
    try FileManager.default.createDirectory(at: scripts, withIntermediateDirectories: true)
    let script = scripts.appendingPathComponent("check-layering")
    try FileManager.default.copyItem(
      at: packageFolder.appendingPathComponent("scripts/check-layering"), to: script)

    let outcome = try run(script, [])
    if let complaint = tree.complaint {
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains(complaint))
      #expect(outcome.errors.split(separator: "\n").count == 1)
    } else {
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
  }
}
