// A source of events that are sent by hand.
import SampleSupport

/// Sends each event to all who have subscribed, in the order in which they did.
@MainActor
final class Subject<Element> {
  private var observers: [Int: Observer<Element>] = [:]
  private var lastNumber = 0

  init() { LiveCounts.born(Self.self) }
  isolated deinit { LiveCounts.died(Self.self) }

  var observerCount: Int { observers.count }

  /// The subject as a source. It holds its subscribers until they are disposed.
  var events: Observable<Element> {
    .create { observer in
      self.lastNumber += 1
      let number = self.lastNumber
      self.observers[number] = observer
      return ActionDisposable { [weak self] in self?.observers[number] = nil }
    }
  }

  func send(_ element: Element) {
    for (_, observer) in observers.sorted(by: { $0.key < $1.key }) { observer(.next(element)) }
  }

  func complete() {
    let observers = self.observers.sorted { $0.key < $1.key }
    self.observers = [:]
    for (_, observer) in observers { observer(.completed) }
  }
}
