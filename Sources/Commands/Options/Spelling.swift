// Spelling: which known word somebody probably meant.

/// Finds the known word that a mistyped one is nearest to.
package enum Spelling {
  /// The word with the fewest typing mistakes between it and `text`; nil where none is near enough to
  /// be worth a guess: more than two mistakes, or more than a third of the word.
  ///
  /// A word that begins with `text` counts as one mistake. Of equally near words the first is taken.
  ///
  /// - Complexity: O(*k* · *m* · *n*) for *k* words of *n* letters and a text of *m*.
  package static func nearest(to text: String, among words: [String]) -> String? {
    guard !text.isEmpty else { return nil }
    var best: (word: String, mistakes: Int)?
    for word in words {
      let mistakes = word.hasPrefix(text) ? min(1, word.count - text.count) : mistakes(text, word)
      if mistakes <= min(2, max(1, word.count / 3)), mistakes < best?.mistakes ?? .max {
        best = (word, mistakes)
      }
    }
    return best?.word
  }

  /// The number of letters to add, drop, change or swap with a neighbour to get from one word to the
  /// other (restricted Damerau-Levenshtein distance).
  package static func mistakes(_ left: String, _ right: String) -> Int {
    let left = Array(left)
    let right = Array(right)
    var beforeLast = [Int](repeating: 0, count: right.count + 1)
    var last = Array(0...right.count)
    for row in left.indices {
      var current = [row + 1]
      for column in right.indices {
        var cost = min(
          last[column + 1] + 1, current[column] + 1,
          last[column] + (left[row] == right[column] ? 0 : 1))
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          cost = min(cost, beforeLast[column - 1] + 1)
        }
        current.append(cost)
      }
      beforeLast = last
      last = current
    }
    return last[right.count]
  }
}
