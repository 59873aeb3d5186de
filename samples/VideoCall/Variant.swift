// The ways in which the story can go.

/// The ways in which a screen is kept from dying; each is a mistake of its own.
struct Leaks: OptionSet {
  let rawValue: Int

  /// The client's closure captures the screen that owns the client.
  static let closure = Leaks(rawValue: 1)
  /// Delegates, tracks and renderers hold each other and the screen.
  static let renderers = Leaks(rawValue: 2)
  /// The notification center and the run loop hold the screen.
  static let observers = Leaks(rawValue: 4)
  /// The native connection holds the screen until somebody closes it.
  static let handle = Leaks(rawValue: 8)

  static let all: Leaks = [.closure, .renderers, .observers, .handle]
}

/// Which mistakes a screen makes, and whether a call is taken apart when it ends.
struct Variant: RawRepresentable, CaseIterable {
  let rawValue: String
  let leaks: Leaks
  /// The end of a call takes apart what the call has put together.
  var tearsDown: Bool { rawValue == "teardown" }

  private static let mistakes: KeyValuePairs = [
    "closure": Leaks.closure, "renderers": .renderers, "observers": .observers, "handle": .handle,
  ]

  static let allCases = (["all"] + mistakes.map(\.key) + ["none", "teardown"])
    .compactMap(Variant.init(rawValue:))

  /// One of ``allCases``, or several mistakes put together, as in `observers,handle`.
  init?(rawValue: String) {
    var leaks: Leaks = []
    switch rawValue {
    case "all", "teardown": leaks = .all
    case "none": break
    default:
      for name in rawValue.split(separator: ",", omittingEmptySubsequences: false) {
        guard let leak = Self.mistakes.first(where: { $0.key == name }) else { return nil }
        leaks.insert(leak.value)
      }
    }
    self.rawValue = rawValue
    self.leaks = leaks
  }
}
