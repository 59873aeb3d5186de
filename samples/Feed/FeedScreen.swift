// The feed's screen, in the ways in which it can have its view model.

/// What the navigation shows and takes away.
@MainActor
protocol Screen: AnyObject {
  func didAppear() async
  func didDisappear() async
}

/// Has its view model and nothing else: when the screen goes, nobody clears it.
final class CarelessFeedScreen: Screen {
  private let model: FeedViewModel

  init(_ model: FeedViewModel) {
    self.model = model
    model.start()
  }

  func didAppear() async { await (model as? OnDemandFeedViewModel)?.shared.subscribe() }
  func didDisappear() async { await (model as? OnDemandFeedViewModel)?.shared.unsubscribe() }
}

/// Takes being out of sight for the end.
final class DisappearingFeedScreen: Screen {
  private let model: FeedViewModel

  init(_ model: FeedViewModel) {
    self.model = model
    model.start()
  }

  func didAppear() async {}
  func didDisappear() async { model.clear() }
}

/// Has a holder, whose end is the end of the view model.
final class FeedScreen<Model: FeedViewModel>: Screen {
  private let holder: ViewModelHolder<Model>

  init(_ model: Model) {
    holder = ViewModelHolder(model)
    model.start()
  }

  func didAppear() async {}
  func didDisappear() async {}

  /// The closure captures the holder: the announcements hold it, and it doesn't end with the screen.
  func listenCarelessly(to announcements: Announcements) {
    announcements.subscribe { [holder] _ in
      holder.model.show([])
    }
  }

  /// The same without holding anything.
  func listen(to announcements: Announcements) {
    announcements.subscribe { [weak holder] _ in
      holder?.model.show([])
    }
  }
}
