// An owner of subscriptions, in the ways in which it can have them.
import SampleSupport

/// What the whole app searches for. It lives as long as the program.
@MainActor
final class SearchService {
  static let shared = SearchService()

  let queries = Subject<String>()
  /// For subscriptions that shall live as long as the service.
  let bag = DisposeBag()
}

/// The model of a search field: it shows what was typed into it.
@MainActor
final class SearchModel {
  private let text = Subject<String>()
  private let bag = DisposeBag()
  private(set) var shown: [String] = []

  init() { LiveCounts.born(Self.self) }
  isolated deinit { LiveCounts.died(Self.self) }

  func type(_ letters: String) { text.send(letters) }

  /// The model holds its bag, the bag the subscription, the subscription the closure, and the closure the
  /// model.
  func subscribeStrongly() {
    text.events.subscribe { self.show($0) }.disposed(by: bag)
  }

  /// The same: a method that is passed as a function has its object with it.
  func subscribeWithMethod() {
    text.events.subscribe(onNext: show).disposed(by: bag)
  }

  func subscribeWeakly() {
    text.events.subscribe { [weak self] in self?.show($0) }.disposed(by: bag)
  }

  /// Nothing holds the model; but the subscription is in the bag of the service, where it stays.
  func subscribe(to service: SearchService) {
    service.queries.events
      .subscribe(with: self) { model, query in model.show(query) }
      .disposed(by: service.bag)
  }

  private func show(_ text: String) { shown.append(text) }
}
