// The usual owner of subscriptions: they end when the bag goes.
import SampleSupport

/// Ends what is in it when it goes, in the order in which it came.
///
/// It never forgets an entry before that, not even one that has long finished: a bag that lives as long as
/// the program grows with every subscription that it was ever given.
@MainActor
final class DisposeBag {
  private var entries: [any Disposable] = []
  private var isDisposed = false

  init() { LiveCounts.born(Self.self) }

  isolated deinit {
    dispose()
    LiveCounts.died(Self.self)
  }

  var count: Int { entries.count }

  /// Takes an entry in. In a bag that is disposed it ends at once.
  func insert(_ entry: any Disposable) {
    if isDisposed {
      entry.dispose()
    } else {
      entries.append(entry)
    }
  }

  func dispose() {
    isDisposed = true
    let entries = self.entries
    self.entries = []
    for entry in entries { entry.dispose() }
  }
}

extension Disposable {
  /// Ends with the bag.
  func disposed(by bag: DisposeBag) { bag.insert(self) }
}
