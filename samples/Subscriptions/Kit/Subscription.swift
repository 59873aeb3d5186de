// One subscriber of one observable, from the first event to the last.
import SampleSupport

enum Event<Element> {
  case next(Element)
  case completed
}

/// A disposable that may come to its end by itself.
@MainActor
protocol FinishingDisposable: Disposable {
  var isFinished: Bool { get }

  /// Calls back once when it finishes by itself or is disposed. It must not have finished yet.
  func whenFinished(_ action: @escaping () -> Void)
}

/// Passes events on until the source completes or somebody disposes it. Then it lets go of both sides:
/// what a finished subscription costs is this object, in whatever still keeps it.
@MainActor
final class Subscription<Element>: FinishingDisposable {
  private var handler: ((Event<Element>) -> Void)?
  private var source: (any Disposable)?
  private var finishedAction: (() -> Void)?

  var isFinished: Bool { handler == nil }

  init(_ handler: @escaping (Event<Element>) -> Void) {
    self.handler = handler
    LiveCounts.born(Self.self)
  }

  isolated deinit { LiveCounts.died(Self.self) }

  /// Says what has to be ended with the subscription.
  func follow(_ source: any Disposable) {
    if isFinished {
      source.dispose()
    } else {
      self.source = source
    }
  }

  func send(_ event: Event<Element>) {
    guard let handler else { return }
    switch event {
    case .next: handler(event)
    case .completed:
      dispose()
      handler(event)
    }
  }

  func whenFinished(_ action: @escaping () -> Void) { finishedAction = action }

  func dispose() {
    guard handler != nil else { return }
    handler = nil
    let source = self.source
    let finishedAction = self.finishedAction
    self.source = nil
    self.finishedAction = nil
    source?.dispose()
    finishedAction?()
  }
}
