// TemplateParts: the page between its slots.

/// The page, cut where the writer puts something in.
struct TemplateParts {
  /// What is put into the page, in the order in which the slots stand.
  enum Slot: String, CaseIterable {
    case title
    case `static`
    case summary
    case data

    var mark: String { "<!--slot:\(rawValue)-->" }
  }

  /// What stands before each slot, and after the last.
  let pieces: [String]

  /// Cuts a template.
  ///
  /// - Returns: nil where a slot is missing, stands twice or out of order.
  init?(_ template: String) {
    var pieces: [String] = []
    var rest = template[...]
    for slot in Slot.allCases {
      guard let place = rest.firstRange(of: slot.mark) else { return nil }
      pieces.append(String(rest[..<place.lowerBound]))
      rest = rest[place.upperBound...]
    }
    pieces.append(String(rest))
    guard !pieces.contains(where: { $0.contains("<!--slot:") }) else { return nil }
    self.pieces = pieces
  }
}
