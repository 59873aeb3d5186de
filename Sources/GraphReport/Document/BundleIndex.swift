// BundleIndex: the page of a bundle that leads to the others: findings, runs with their pages, what is missing.

/// Writes the page that a bundle is opened with. It needs no script and no other file.
package enum BundleIndex {
  /// A link of the page.
  package struct Link: Sendable {
    package var text: String

    /// The path below the bundle.
    package var path: String

    package init(_ text: String, path: String) {
      self.text = text
      self.path = path
    }
  }

  private static let style = """
    body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1f2328;background:#fff}
    code{font-family:ui-monospace,monospace;font-size:.9em;overflow-wrap:anywhere}
    table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left}.number{text-align:right}
    .scroll{overflow-x:auto}.bad{color:#c11}.good{color:#176f2c}.faint{color:#59636e}dt{float:left;clear:left;width:4rem;color:#59636e}
    dd{margin:0 0 .2rem 5rem}ol.chain{margin:0;padding:0;list-style:none}ol.chain li+li::before{content:"→ "}
    @media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}a{color:#79b8ff}.bad{color:#ff7b72}.good{color:#7ee787}.faint,dt{color:#9aa4af}}
    """

  /// The page.
  ///
  /// - Parameters:
  ///   - pages: Pages to look at.
  ///   - files: The other files of the bundle.
  package static func page(_ document: Document, pages: [Link], files: [Link]) -> String {
    func list(_ links: [Link]) -> String {
      links.map { link in
        "<li><a href=\"\(HTMLRenderer.escaped(reference(link.path)))\">"
          + "\(HTMLRenderer.escaped(link.text))</a></li>\n"
      }.joined()
    }
    var blocks = ""
    if case .item = document.blocks.first { blocks = "<h2>Findings</h2>\n" }
    blocks += HTMLRenderer.render(document.blocks, level: 2)
    let pageList = pages.isEmpty ? "" : "<h2>Pages to look at</h2>\n<ul>\n\(list(pages))</ul>\n"
    let fileList = files.isEmpty ? "" : "<h2>Files</h2>\n<ul>\n\(list(files))</ul>\n"
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(HTMLRenderer.escaped(document.answer.text))</title>
      <style>
      \(style)
      </style>
      </head>
      <body>
      <main>
      <h1>\(HTMLRenderer.render(document.answer))</h1>
      \(pageList)\(blocks)\(fileList)</main>
      </body>
      </html>

      """
  }

  /// A path as a reference from the page.
  private static func reference(_ path: String) -> String {
    // A colon in the first part would be a scheme.
    "./" + SARIF.escapedPath(path)
  }
}
