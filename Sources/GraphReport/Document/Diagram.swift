// Diagram: a cycle or path as boxes and arrows, for formats that can draw them.

package import GraphAnalysis

/// Boxes and arrows between them.
package struct Diagram: Hashable, Sendable {
  package struct Box: Hashable, Sendable {
    package var text: String

    /// Whether it is what holds without being held: a variable, a thread.
    package var isRoot: Bool

    package init(_ text: String, isRoot: Bool = false) {
      self.text = text
      self.isRoot = isRoot
    }
  }

  package struct Arrow: Hashable, Sendable {
    /// Positions of boxes.
    package var from: Int
    package var to: Int

    /// The field or capture; empty for none.
    package var text: String

    /// Whether it keeps what it leads to alive.
    package var isStrong = true

    /// Whether it is the one to cut.
    package var isCut = false
  }

  package var boxes: [Box]
  package var arrows: [Arrow]

  package init(boxes: [Box], arrows: [Arrow]) {
    self.boxes = boxes
    self.arrows = arrows
  }

  /// How many boxes a picture has at most, so that it can be read.
  private static let boxLimit = 12

  /// The picture of a finding: its cycle, else its path; nil where it has neither.
  ///
  /// Of a long one the middle is one box, and the arrow to cut stays.
  ///
  /// - Parameter finding: A finding as JSON has it.
  package init?(ofFinding finding: JSONValue) {
    let cycle = finding["cycle"]?.elements ?? []
    let steps = cycle.isEmpty ? finding["path"]?.elements ?? [] : cycle
    guard !steps.isEmpty, let type = finding["type"]?.string else { return nil }
    let cut = finding["cut"]?["step"]?.integer
    var boxes = steps.map { step in
      step["root"] == nil
        ? Box(step["type"]?.string ?? "")
        : Box(Names.foldingIndices(step["name"]?.string ?? ""), isRoot: true)
    }
    if cycle.isEmpty { boxes.append(Box(type)) }
    let arrows = steps.enumerated().map { place, step in
      let via = step["via"]?.string
      let texts = [step["field"]?.string ?? "", via.map { "(\($0))" } ?? ""]
      return Arrow(
        from: place, to: (place + 1) % boxes.count,
        text: Names.foldingIndices(texts.filter { !$0.isEmpty }.joined(separator: " ")),
        isStrong: (step["strength"]?.string ?? "strong") == "strong", isCut: place == cut)
    }
    self.init(boxes: boxes, arrows: arrows)
    fold(keeping: cut)
  }

  /// The picture of the way from a root to an object.
  package init?(of path: RetainPath, names: Names) {
    let text = PathText(path: path, names: names)
    self.init(
      ofFinding: .members(["type": .string(text.target), "path": .array(text.findingJSON)]))
  }

  /// Makes one box of neighbours that are far from both ends and from the arrow to cut, where there are too many.
  private mutating func fold(keeping cut: Int?) {
    guard boxes.count > Self.boxLimit else { return }
    let count = boxes.count
    let isKept = boxes.indices.map { place in
      place < 3 || place >= count - 3 || cut.map { ($0 - 1...$0 + 2).contains(place) } == true
    }
    var folded: [Box] = []
    var placeOfBox: [Int] = []
    var start = 0
    while start < count {
      let end = isKept[start] ? start + 1 : isKept[start...].firstIndex(of: true) ?? count
      if end - start == 1 {
        folded.append(boxes[start])
      } else {
        folded.append(Box("… \(end - start) more …"))
      }
      placeOfBox += Array(repeating: folded.count - 1, count: end - start)
      start = end
    }
    arrows = arrows.map { arrow in
      var arrow = arrow
      (arrow.from, arrow.to) = (placeOfBox[arrow.from], placeOfBox[arrow.to])
      return arrow
    }.filter { $0.from != $0.to }
    boxes = folded
  }
}

/// Writes diagrams in the language of Mermaid, which GitHub and GitLab draw in Markdown.
package enum MermaidRenderer {
  /// How much of a name a box shows.
  private static let widthLimit = 80

  /// - Complexity: O(*n*) for *n* characters.
  package static func render(_ diagram: Diagram) -> String {
    var text = "flowchart LR\n"
    for (place, box) in diagram.boxes.enumerated() {
      let (open, close) = box.isRoot ? ("([", "])") : ("[", "]")
      text += "  n\(place)\(open)\"\(label(box.text))\"\(close)\n"
    }
    for arrow in diagram.arrows {
      let line = arrow.isStrong ? "-->" : "-.->"
      let shown = (arrow.isCut ? "cut: " : "") + arrow.text
      text +=
        "  n\(arrow.from) \(line)"
        + (shown.isEmpty ? "" : "|\"\(label(shown))\"|") + " n\(arrow.to)\n"
    }
    for (place, arrow) in diagram.arrows.enumerated() where arrow.isCut {
      text += "  linkStyle \(place) stroke:#d1242f,stroke-width:3px\n"
    }
    return text
  }

  /// A text within quotes. Mermaid's text is HTML with numbers of its own for characters: `#35;`.
  private static func label(_ text: String) -> String {
    let shown = text.count <= widthLimit ? text : text.prefix(widthLimit - 1) + "…"
    var result = ""
    for scalar in shown.unicodeScalars {
      switch scalar {
      case "\"", "#", "<", ">", "&", "`", "\\", "|", ";", "*", "_", "~":
        result += "#\(scalar.value);"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F: result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result.isEmpty ? " " : result
  }
}
