// ShortenedLine: a line that is cut in the middle where a terminal is too narrow for it.

/// Cuts lines in the middle.
///
/// Of a library's generic type the program's own part is what a reader looks for: of
/// `AsyncStream<Array<Feed.Post>>._Storage` in 24 columns `AsyncSt…Feed.Post…torage` is left. A chain keeps its start and
/// its end.
struct ShortenedLine {
  private static let ellipsis = "…"

  /// A line in at most some columns; as it is where it fits.
  ///
  /// - Parameter width: Columns, 8 at least.
  static func shortened(_ line: Line, to width: Int) -> Line {
    let text = line.text
    let count = text.count
    let width = max(8, width)
    if count <= width { return line }
    let kept = keptRanges(of: Array(text), width: width)
    var result = Line("")
    for (number, range) in kept.enumerated() {
      if number > 0 || range.lowerBound > 0 { result += Line(ellipsis, .faint) }
      result += piece(of: line, range)
    }
    return (kept.last?.upperBound ?? count) < count ? result + Line(ellipsis, .faint) : result
  }

  /// Which characters stay: the start, the end, and the program's own part between.
  static func keptRanges(of text: [Character], width: Int) -> [Range<Int>] {
    let own = ownPart(of: text)
    guard let own, own.count + 8 <= width else {
      let room = width - 1
      return [0..<(room + 1) / 2, (text.count - room / 2)..<text.count].filter { !$0.isEmpty }
    }
    let rest = text.count - own.upperBound
    var room = width - own.count
    if own.lowerBound + 1 < room - min(rest, room / 2) {
      // All before it fits.
      room -= own.lowerBound + 1
      return [0..<own.upperBound, (text.count - min(rest, room))..<text.count].filter {
        !$0.isEmpty
      }
    }
    if rest <= room / 2 {
      room -= rest + 1
      return [0..<room, own.lowerBound..<text.count]
    }
    room -= 2
    return [
      0..<(room + 1) / 2, own, (text.count - room / 2)..<text.count,
    ]
  }

  /// The first name with its module within a library's type, whose own name is written without; nil for a name
  /// that begins with it and for chains.
  private static func ownPart(of text: [Character]) -> Range<Int>? {
    if text.contains("→") { return nil }
    var index = 0
    while index < text.count {
      guard isWord(text[index]) else {
        index += 1
        continue
      }
      var end = index
      var dots = 0
      while end < text.count {
        if isWord(text[end]) {
          end += 1
        } else if text[end] == ".", end > index, end + 1 < text.count, isWord(text[end + 1]) {
          dots += 1
          end += 1
        } else {
          break
        }
      }
      if dots > 0 { return index == 0 ? nil : index..<end }
      index = end
    }
    return nil
  }

  private static func isWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character == "_"
  }

  /// Some characters of a line.
  private static func piece(of line: Line, _ range: Range<Int>) -> Line {
    var start = 0
    var runs: [Run] = []
    for run in line.runs {
      let end = start + run.text.count
      let part = range.clamped(to: start..<end)
      if !part.isEmpty {
        let text = run.text.dropFirst(part.lowerBound - start).prefix(part.count)
        runs.append(Run(String(text), run.role))
      }
      start = end
    }
    return Line(runs)
  }
}
