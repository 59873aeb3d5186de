// Repetitions: what repeats itself in a long way, told once.

/// The links of a list, or the steps of a recursion, as a reader takes them: how many there are.
enum Repetitions {
  /// How many steps may take turns.
  private static let _longestPeriod = 8

  /// How often something has to follow itself to be told once.
  private static let _fewest = 4

  /// How many links of a way are shown first and last where there are many that don't repeat.
  private static let _shownFirst = 60
  private static let _shownLast = 40

  /// A piece of a sequence: some elements, so many times.
  struct Piece: Hashable {
    var elements: Range<Int>
    var count: Int
  }

  /// A sequence as pieces, of which those that repeat are told once.
  ///
  /// - Parameter elements: What is equal for elements that read the same.
  /// - Complexity: O(elements).
  static func pieces(of elements: [String]) -> [Piece] {
    var pieces: [Piece] = []
    var place = 0
    while place < elements.count {
      var found: Piece?
      for period in 1..._longestPeriod where place + period * _fewest <= elements.count {
        var end = place + period
        while end < elements.count, elements[end] == elements[end - period] { end += 1 }
        let count = (end - place) / period
        if count >= _fewest {
          found = Piece(elements: place..<place + period, count: count)
          break
        }
      }
      let piece = found ?? Piece(elements: place..<place + 1, count: 1)
      pieces.append(piece)
      place += piece.elements.count * piece.count
    }
    return pieces
  }

  /// A chain of links in which what repeats is told once, and of what is still very long the middle is left out.
  static func folded(_ chain: [Line]) -> [Line] {
    guard chain.count > _fewest else { return chain }
    var shown: [Line] = []
    for piece in pieces(of: chain.map { Names.foldingIndices($0.text) }) {
      if piece.count == 1 {
        shown += chain[piece.elements]
        continue
      }
      let period = piece.elements.count
      let all = piece.elements.lowerBound..<piece.elements.lowerBound + period * piece.count
      let isSame = all.dropFirst(period).allSatisfy { chain[$0] == chain[$0 - period] }
      var links = chain[piece.elements].map { isSame ? $0 : Names.foldingIndices($0) }
      let count = "×\(Units.number(piece.count))"
      if period == 1 {
        links[0] += Line(" \(count)")
      } else {
        links.append(Line("(these \(period) \(count))"))
      }
      shown += links
    }
    guard shown.count > _shownFirst + _shownLast + 1 else { return shown }
    let omitted = shown.count - _shownFirst - _shownLast
    return shown.prefix(_shownFirst) + [Line("(\(Units.number(omitted)) further steps)", .faint)]
      + shown.suffix(_shownLast)
  }

  /// A path of fields in which what repeats is told once: `(next.value)×49,999`.
  static func folded(path: String) -> String {
    guard path.utf8.count > 64 else { return path }
    let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let pieces = pieces(of: parts.map { Names.foldingIndices($0) })
    if pieces.allSatisfy({ $0.count == 1 }) { return path }
    return pieces.map { piece in
      let text = parts[piece.elements].joined(separator: ".")
      return piece.count == 1
        ? text : "(\(Names.foldingIndices(text)))×\(Units.number(piece.count))"
    }.joined(separator: ".")
  }
}
