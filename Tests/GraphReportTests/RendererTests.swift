// Tests of TextRenderer and MarkdownRenderer: how blocks become lines.

import Testing

@testable import GraphReport

@Suite struct TextRendererTests {
  static let document = Document(
    answer: "12 leaked objects: " + Line.code("App.Model"),
    blocks: [
      .table(
        Document.Table(
          columns: [.init("count", .right), .init("type")],
          rows: [["3", Line.code("App.A")], ["1,200", Line.code("App.Longer")]], omitted: 2)),
      .item(
        Document.Item(
          number: 1, title: Line("12 × ") + Line.code("App.Model"),
          details: [
            Document.Detail(
              "cycle",
              chain: [Line.code("App.Model.handler"), "(closure #1)", Line.code("App.Model")]),
            Document.Detail("made", "App.start() at Call.swift:17"),
          ])),
      .tree([
        Document.Branch(depth: 0, cells: ["10 KB", "12"], text: "main"),
        Document.Branch(depth: 1, cells: ["1 KB", "2"], text: "work()"),
      ]),
    ])

  @Test("Unbounded text keeps each line whole")
  func wide() {
    #expect(
      TextRenderer.render(Self.document, style: TextStyle()) == """
        12 leaked objects: App.Model

          count  type
              3  App.A
          1,200  App.Longer
          … and 2 more (--limit all)

        1. 12 × App.Model
           cycle  App.Model.handler → (closure #1) → App.Model
           made   App.start() at Call.swift:17

          10 KB  12  main
           1 KB   2    work()

        """)
  }

  @Test(
    "A narrow terminal wraps chains at their arrows and text at its spaces, in ASCII where it must")
  func narrow() {
    #expect(
      TextRenderer.render(Self.document, style: TextStyle(width: 32, isUnicode: false)) == """
        12 leaked objects: App.Model

          count  type
              3  App.A
          1,200  App.Longer
          ... and 2 more (--limit all)

        1. 12 x App.Model
           cycle  App.Model.handler
                  -> (closure #1)
                  -> App.Model
           made   App.start() at
                  Call.swift:17

          10 KB  12  main
           1 KB   2    work()

        """)
  }

  @Test("Colours change nothing but escape sequences")
  func colors() {
    let colored = TextRenderer.render(Self.document, style: TextStyle(hasColor: true))
    #expect(colored.contains("\u{1B}[36mApp.Model\u{1B}[0m"))
    let plain = colored.replacing(/\x1B\[[0-9]*m/, with: "")
    #expect(plain == TextRenderer.render(Self.document, style: TextStyle()))
  }

  @Test("No line is wider than the terminal if its words are not", arguments: 24..<60)
  func widths(_ width: Int) {
    let words = (1...40).map { String(repeating: "w", count: $0 % 9 + 1) }.joined(separator: " ")
    let text = TextRenderer.render(
      Document(answer: Line(words), blocks: [.paragraph(Line(words))]),
      style: TextStyle(width: width))
    for line in text.split(separator: "\n") { #expect(line.count <= width) }
    #expect(
      text.split(whereSeparator: \.isWhitespace).joined(separator: " ") == words + " " + words)
  }
}

@Suite struct MarkdownRendererTests {
  @Test("Blocks become GitHub's Markdown")
  func blocks() {
    #expect(
      MarkdownRenderer.render(TextRendererTests.document) == """
        **12 leaked objects: `App.Model`**

        | count | type |
        | ---: | :--- |
        | 3 | `App.A` |
        | 1,200 | `App.Longer` |

        … and 2 more

        #### 1. 12 × `App.Model`

        - cycle: `App.Model.handler` → (closure \\#<!-- -->1) → `App.Model`
        - made: App.start() at Call.swift:17

        ```text
          10 KB  12  main
           1 KB   2    work()
        ```

        """)
  }

  @Test("Names that look like Markdown stay names")
  func escapes() {
    let line = Line("a*b_c<d>") + Line(" ") + Line.code("x`y|z")
    #expect(
      MarkdownRenderer.render(Document(answer: line)) == "**a\\*b\\_c\\<d\\> `` x`y|z ``**\n")
    let table = Document.Table(columns: [.init("t")], rows: [[.code("a|b")]])
    #expect(
      MarkdownRenderer.render(Document(answer: "t", blocks: [.table(table)])).contains(
        "| `a\\|b` |"))
  }
}
