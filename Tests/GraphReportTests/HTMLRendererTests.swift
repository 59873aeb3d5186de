// Tests of HTMLRenderer: how blocks become HTML, and that no text becomes markup.

import Testing

@testable import GraphReport

@Suite struct HTMLRendererTests {
  @Test("Blocks are elements that say what they are")
  func blocks() {
    #expect(
      HTMLRenderer.render(TextRendererTests.document.blocks, level: 2) == """
        <div class="scroll"><table>
        <thead><tr><th scope="col" class="number">count</th><th scope="col">type</th></tr></thead>
        <tbody>
        <tr><td class="number">3</td><td><code dir="ltr">App.A</code></td></tr>
        <tr><td class="number">1,200</td><td><code dir="ltr">App.Longer</code></td></tr>
        </tbody>
        </table></div>
        <p class="faint">… and 2 more</p>
        <article>
        <h3>1. 12 × <code dir="ltr">App.Model</code></h3>
        <dl>
        <dt>cycle</dt><dd class="cycle"><ol class="chain"><li><code dir="ltr">App.Model.handler</code></li>
        <li>(closure #1)</li>
        <li><code dir="ltr">App.Model</code></li></ol></dd>
        <dt>made</dt><dd class="made">App.start() at Call.swift:17</dd>
        </dl>
        </article>
        <pre>  10 KB  12  main
           1 KB   2    work()
        </pre>

        """)
  }

  @Test("Code that follows code is one element, each role has its own")
  func lines() {
    let line =
      Line.code("App.View") + Line.code(".field") + Line(" bad", .bad) + Line("good", .good)
      + Line("faint", .faint) + Line("strong", .strong)
    #expect(
      HTMLRenderer.render(line)
        == "<code dir=\"ltr\">App.View.field</code><strong class=\"bad\"> bad</strong>"
        + "<span class=\"good\">good</span><span class=\"faint\">faint</span><strong>strong</strong>"
    )
  }

  @Test(
    "No text becomes markup",
    arguments: [
      (
        "</script><script>alert(1)</script>",
        "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"
      ),
      ("<!--", "&lt;!--"), ("a\" onload='x'", "a&quot; onload=&#39;x&#39;"), ("&lt;", "&amp;lt;"),
      ("a\0b\u{1B}[31m\u{85}", "a\u{FFFD}b\u{FFFD}[31m\u{FFFD}"), ("שלום 🧨", "שלום 🧨"),
    ])
  func escapes(_ text: String, _ expected: String) {
    #expect(HTMLRenderer.escaped(text) == expected)
    let everywhere: [Document.Block] = [
      .heading(text), .paragraph(Line(text)),
      .table(Document.Table(columns: [.init(text)], rows: [[Line.code(text)]])),
      .item(
        Document.Item(title: Line(text, .bad), details: [.init(text, chain: [Line(text), ""])])),
      .tree([Document.Branch(depth: 0, cells: [Line(text)], text: Line(text))]),
    ]
    let html = HTMLRenderer.render(everywhere, level: 2)
    for markup in ["<script", "<!--", "onload='", "\0", "\u{1B}"] {
      #expect(!html.contains(markup))
    }
  }
}
