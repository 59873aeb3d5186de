// A small navigation: tabs with a stack of screens each, of which one screen can be seen.

/// Holds the screens, and tells them what can be seen of them. That is not the same.
@MainActor
final class Navigator {
  static let shared = Navigator(tabs: 2)

  private var stacks: [[any Screen]]
  private var tab = 0

  init(tabs: Int) {
    stacks = Array(repeating: [], count: tabs)
  }

  func push(_ screen: any Screen) async {
    await stacks[tab].last?.didDisappear()
    stacks[tab].append(screen)
    await screen.didAppear()
  }

  func pop() async {
    let screen = stacks[tab].popLast()
    await screen?.didDisappear()
    await stacks[tab].last?.didAppear()
  }

  func switchTab(to other: Int) async {
    await stacks[tab].last?.didDisappear()
    tab = other
    await stacks[tab].last?.didAppear()
  }

  /// Whether a screen is in a stack, for the person to come back to.
  func holds(_ screen: any Screen) -> Bool { stacks.joined().contains { $0 === screen } }

  /// The app goes to the background and comes back. No screen hears of it: each stays where it is.
  func visitBackground() async {
    await Task.yield()
  }
}
