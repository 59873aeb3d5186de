// AnswerPage: an answer that is never large: one page of a list, with what was left out and how to get it.

internal import GraphReport

/// A page of a list.
struct AnswerPage {
  /// The most bytes of an answer as JSON. An answer goes into an assistant's memory whole.
  static let mostBytes = 12_000

  /// The most characters of a text, and elements of a list, within an answer; the second and later rows are for what is too
  /// large all the same.
  private static let _bounds = [(text: 400, list: 24), (200, 12), (120, 6), (60, 3), (30, 1)]

  /// The report's first line.
  var answer: String

  /// What stands before the list, whatever page it is.
  var members: [JSONValue.Member] = []

  /// What the elements are called.
  var listName: String

  /// How many elements the page may have, and where it starts.
  var offset = 0
  var limit: Int

  /// Whether there may be elements behind the last.
  var isOpen = false

  /// What else was left out, in sentences.
  var notes: [String] = []

  /// The page of a list.
  ///
  /// As many elements as fit are on it, at least one; the longest texts and lists in them are cut. `page` says where the next
  /// page starts, and `cut` what was left out.
  func value(of elements: [JSONValue]) -> JSONValue {
    var notes = notes
    var isShortened = false
    var shown: [JSONValue] = []
    var (fixed, isFixedShort) = Self._fitting(.object(members), in: Self.mostBytes / 2)
    if case .object = fixed {} else { fixed = .object([]) }
    isShortened = isFixedShort
    var bytes = fixed.line.utf8.count + min(answer.utf8.count, 400) + 600
    for element in elements.dropFirst(offset).prefix(limit) {
      let room = Self.mostBytes - bytes
      var (value, isShort) = Self._bounded(element, by: Self._bounds[0])
      if value.line.utf8.count > room {
        if !shown.isEmpty { break }
        (value, isShort) = Self._fitting(element, in: room)
      }
      bytes += value.line.utf8.count + 1
      isShortened = isShortened || isShort
      shown.append(value)
    }
    let next = offset + shown.count
    let rest = elements.count - next
    let hasMore = rest > 0 || isOpen && !shown.isEmpty
    if hasMore {
      notes.append(
        (rest > 0 ? "\(rest) more \(listName) are not shown" : "more \(listName) may be there")
          + "; ask again with offset \(next)")
    }
    if offset > 0, shown.isEmpty {
      notes.append("there is nothing at offset \(offset): there are \(elements.count) \(listName)")
    }
    if isShortened {
      notes.append("long texts and lists within are shortened, which … says")
    }
    var result = [JSONValue.Member("answer", .string(Self.shortened(answer)))]
    if case .object(let members) = fixed { result += members }
    result += [
      JSONValue.Member(listName, .array(shown)),
      JSONValue.Member(
        "page",
        .members([
          "offset": .integer(offset), "shown": .integer(shown.count),
          "total": isOpen ? nil : .integer(elements.count),
          "next": hasMore ? .integer(next) : nil,
        ])),
    ]
    if !notes.isEmpty {
      result.append(JSONValue.Member("cut", .array(notes.map { .string($0) })))
    }
    return .object(result)
  }

  /// A text of at most some hundred characters.
  static func shortened(_ text: String, to limit: Int = 400) -> String {
    // Characters may have any number of scalars.
    let scalars = text.unicodeScalars
    guard scalars.count > limit else { return text }
    var short = String.UnicodeScalarView()
    short.append(contentsOf: scalars.prefix(limit))
    return String(short) + "… (\(scalars.count - limit) more characters)"
  }

  /// A value whose texts and lists are cut until it fits; what can't be made to fit becomes a text.
  private static func _fitting(_ value: JSONValue, in bytes: Int) -> (JSONValue, isShort: Bool) {
    for bounds in _bounds {
      let (short, isShort) = _bounded(value, by: bounds)
      if short.line.utf8.count <= bytes { return (short, isShort) }
    }
    return ("… (too large to show)", true)
  }

  /// A value with its texts and lists cut. Of lists the beginning is kept, of objects as much.
  private static func _bounded(
    _ value: JSONValue, by bounds: (text: Int, list: Int)
  ) -> (JSONValue, isShort: Bool) {
    var isShort = false
    func bounded(_ value: JSONValue) -> JSONValue {
      switch value {
      case .null, .bool, .integer: return value
      case .string(let text):
        let short = shortened(text, to: bounds.text)
        if short.utf8.count != text.utf8.count { isShort = true }
        return .string(short)
      case .array(let elements):
        guard elements.count > bounds.list else { return .array(elements.map(bounded)) }
        isShort = true
        return .array(
          elements.prefix(bounds.list).map(bounded)
            + [.string("… (\(elements.count - bounds.list) more)")])
      case .object(let members):
        // Objects with many members are tables by name.
        let most = max(bounds.list, 24)
        var kept = members.prefix(most).map {
          JSONValue.Member(shortened($0.name, to: bounds.text), bounded($0.value))
        }
        if members.count > most {
          isShort = true
          kept.append(JSONValue.Member("…", .string("\(members.count - most) more")))
        }
        return .object(kept)
      }
    }
    let result = bounded(value)
    return (result, isShort)
  }
}
