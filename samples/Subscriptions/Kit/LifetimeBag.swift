// The bag for owners that live long: what has finished leaves it.
import SampleSupport

/// Ends what is in it when it goes, in the order in which it came, and drops an entry when it finishes.
///
/// - Complexity: O(1) to insert and to finish, O(*n* log *n*) to dispose of *n* entries.
@MainActor
final class LifetimeBag {
  private var entryByNumber: [Int: any FinishingDisposable] = [:]
  private var lastNumber = 0
  private var isDisposed = false

  init() { LiveCounts.born(Self.self) }

  isolated deinit {
    dispose()
    LiveCounts.died(Self.self)
  }

  var count: Int { entryByNumber.count }

  /// Takes an entry in, unless it has finished already. In a bag that is disposed it ends at once.
  func insert(_ entry: any FinishingDisposable) {
    guard !isDisposed else { return entry.dispose() }
    guard !entry.isFinished else { return }
    lastNumber += 1
    let number = lastNumber
    entryByNumber[number] = entry
    entry.whenFinished { [weak self] in self?.entryByNumber[number] = nil }
  }

  func dispose() {
    isDisposed = true
    let entries = entryByNumber.sorted { $0.key < $1.key }
    entryByNumber = [:]
    for (_, entry) in entries { entry.dispose() }
  }
}

extension FinishingDisposable {
  /// Ends with the bag, and leaves it when it has finished.
  func disposed(by bag: LifetimeBag) { bag.insert(self) }
}
