// The base class of all view models: what it started ends when somebody says so, and not before.
import SampleSupport

/// A view model does not know when its screen is gone. Somebody has to tell it: ``clear()``.
@MainActor
class ViewModel {
  /// What the view model does in the background, until it is cleared.
  let scope = TaskScope()
  private(set) var isCleared = false

  /// Ends all that runs in ``scope``. Safe to be called again: ``onClear()`` runs once.
  final func clear() {
    guard !isCleared else { return }
    isCleared = true
    scope.cancel()
    onClear()
  }

  /// For subclasses that have something else to end.
  func onClear() {}
}

/// What a screen holds in place of its view model: where the holder ends, the view model is cleared.
///
/// It is worth as much as it is private. Whoever captures it keeps the view model from being cleared.
@MainActor
final class ViewModelHolder<Model: ViewModel> {
  let model: Model

  init(_ model: Model) {
    self.model = model
    LiveCounts.born(Self.self)
  }

  isolated deinit {
    model.clear()
    LiveCounts.died(Self.self)
  }
}
