// ViewerPage: one HTML file with everything in it. docs/viewer-format.md says how it is made up.

internal import GraphReport

/// Writes viewer files.
package enum ViewerPage {
  /// Writes a file piece by piece: the same bytes for the same input.
  ///
  /// The static part and the summary come first, so that a browser shows them before it has read the rest.
  ///
  /// - Parameter body: Takes the pieces, in order.
  /// - Complexity: O(*V* + *E*) time; the whole payload is in memory once.
  package static func write<E: Error>(
    _ input: ViewerInput, _ body: (String) throws(E) -> Void
  ) throws(E) {
    guard let template = TemplateParts("\(ViewerTemplate.text)") else {
      preconditionFailure("the template has each slot once, which scripts/build-viewer checks")
    }
    try write(input, in: template, body)
  }

  static func write<E: Error>(
    _ input: ViewerInput, in template: TemplateParts, _ body: (String) throws(E) -> Void
  ) throws(E) {
    // The graph first: what could not be named is known only when all names have been asked for.
    let graph = GraphPayload(input)
    let raw = graph.columns.map(\.bytes)
    let rawCount = raw.reduce(0) { $0 + $1.count }
    let compressed = Gzip.compressed(raw)
    let bytes = compressed ?? Array(raw.joined())
    let text = ReportTexts(input)
    let staticPart = StaticPart(input: input, text: text).html
    let summary = ViewerSummary(
      input: input, graph: graph,
      payload: ViewerSummary.Payload(
        encoding: compressed == nil ? "none" : "gzip", byteCount: bytes.count,
        rawByteCount: rawCount),
      text: text)
    let pieces = template.pieces
    try body(pieces[0] + HTMLRenderer.escaped(text.title) + pieces[1])
    try body(staticPart + pieces[2] + summary.json.textInHTML + pieces[3])
    try Base64Chunks.write(bytes, body)
    try body(pieces[4])
  }
}
