// DotRenderer: a picture in the language of Graphviz.

internal import GraphReport

/// Writes diagrams in the language of Graphviz.
enum DotRenderer {
  /// - Complexity: O(*n*) for *n* characters.
  static func render(_ diagram: Diagram) -> String {
    var text = "digraph memory {\n  rankdir=LR\n  node [shape=box fontname=\"sans-serif\"]\n"
    text += "  edge [fontname=\"sans-serif\"]\n"
    for (place, box) in diagram.boxes.enumerated() {
      text += "  n\(place) [label=\(quoted(box.text))\(box.isRoot ? " style=rounded" : "")]\n"
    }
    for arrow in diagram.arrows {
      var attributes = ["label=" + quoted((arrow.isCut ? "cut: " : "") + arrow.text)]
      if !arrow.isStrong { attributes.append("style=dashed") }
      if arrow.isCut { attributes.append("color=\"#d1242f\" fontcolor=\"#d1242f\" penwidth=2") }
      text += "  n\(arrow.from) -> n\(arrow.to) [\(attributes.joined(separator: " "))]\n"
    }
    return text + "}\n"
  }

  /// A text within quotes. A backslash begins an escape of Graphviz's own, so it is written twice.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F: result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
