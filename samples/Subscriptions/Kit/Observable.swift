// A source of events that does nothing until somebody subscribes.

/// Where the events of one subscription go.
typealias Observer<Element> = (Event<Element>) -> Void

@MainActor
struct Observable<Element> {
  fileprivate let source: (@escaping Observer<Element>) -> any Disposable

  /// An observable from a function that sends events to an observer and returns how to stop that.
  ///
  /// A function that sends everything before it returns can't be stopped halfway: nobody has anything to
  /// dispose until it has returned.
  static func create(
    _ source: @escaping (@escaping Observer<Element>) -> any Disposable
  ) -> Observable { Observable(source: source) }

  /// Begins a subscription. It runs until the source completes or what this returns is disposed; dropping
  /// that ends nothing.
  @discardableResult
  func subscribe(_ handler: @escaping Observer<Element>) -> Subscription<Element> {
    let subscription = Subscription(handler)
    Trampoline.enter {
      subscription.follow(source { subscription.send($0) })
    }
    return subscription
  }

  @discardableResult
  func subscribe(onNext: @escaping (Element) -> Void) -> Subscription<Element> {
    subscribe { event in
      if case .next(let element) = event { onNext(element) }
    }
  }

  /// Subscribes on behalf of an object without holding it. When the object is gone the subscription goes
  /// on, and does nothing: only its disposable ends it.
  @discardableResult
  func subscribe<Owner: AnyObject>(
    with owner: Owner, onNext: @escaping (Owner, Element) -> Void
  ) -> Subscription<Element> {
    subscribe { [weak owner] (element: Element) in
      if let owner { onNext(owner, element) }
    }
  }
}

extension Observable {
  /// The first so many elements, and then the end.
  func take(_ count: Int) -> Observable {
    .create { observer in
      var rest = count
      let subscription = SerialDisposable()
      let upstream = subscribe { event in
        guard case .next = event else { return observer(event) }
        guard rest > 0 else { return }
        rest -= 1
        observer(event)
        if rest == 0 {
          observer(.completed)
          subscription.dispose()
        }
      }
      subscription.replace(with: upstream)
      return subscription
    }
  }

  /// The same elements, with something done for each.
  func doing(_ action: @escaping (Element) -> Void) -> Observable {
    .create { observer in
      subscribe { event in
        if case .next(let element) = event { action(element) }
        observer(event)
      }
    }
  }

  /// All elements until another observable has its first.
  func take<Other>(until other: Observable<Other>) -> Observable {
    .create { observer in
      let both = CompositeDisposable()
      both.insert(
        other.subscribe { (_: Other) in
          observer(.completed)
          both.dispose()
        })
      both.insert(subscribe(observer))
      return both
    }
  }

  /// The elements of the observable that was made for the latest element; the ones before it are ended.
  func flatMapLatest<Other>(
    _ transform: @escaping (Element) -> Observable<Other>
  ) -> Observable<Other> {
    .create { observer in
      let inner = SerialDisposable()
      let both = CompositeDisposable()
      var outerHasCompleted = false
      var innerRuns = false
      both.insert(inner)
      both.insert(
        subscribe { event in
          switch event {
          case .next(let element):
            innerRuns = true
            let latest = transform(element).subscribe { event in
              switch event {
              case .next:
                observer(event)
              case .completed:
                innerRuns = false
                if outerHasCompleted { observer(event) }
              }
            }
            inner.replace(with: latest)
          case .completed:
            outerHasCompleted = true
            if !innerRuns { observer(.completed) }
          }
        })
      return both
    }
  }
}

extension Observable<Int> {
  /// The numbers of a range, each in a step of its own on the trampoline: between two steps a subscriber
  /// can end it.
  static func range(_ range: ClosedRange<Int>) -> Observable {
    .create { observer in
      let cancellation = BooleanDisposable()
      @MainActor func step(_ number: Int) {
        guard !cancellation.isDisposed else { return }
        guard number <= range.upperBound else { return observer(.completed) }
        observer(.next(number))
        Trampoline.schedule { step(number + 1) }
      }
      Trampoline.schedule { step(range.lowerBound) }
      return cancellation
    }
  }
}
