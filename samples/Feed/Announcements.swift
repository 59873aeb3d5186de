// What the whole app may hear of. It outlives every screen, and with it what its handlers captured.

@MainActor
final class Announcements {
  static let shared = Announcements()

  private var handlers: [@MainActor (String) -> Void] = []

  func subscribe(_ handler: @escaping @MainActor (String) -> Void) {
    handlers.append(handler)
  }

  func announce(_ text: String) {
    for handler in handlers { handler(text) }
  }
}
