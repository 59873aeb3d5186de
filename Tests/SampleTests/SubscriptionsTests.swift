// What the reactive kit promises, without an agent.
internal import Testing

@testable internal import Subscriptions

@MainActor
@Suite struct SubscriptionsTests {
  /// Writes down the order in which its entries were disposed.
  private final class Journal {
    var disposed: [Int] = []

    @MainActor
    func entry(_ number: Int) -> ActionDisposable {
      ActionDisposable { self.disposed.append(number) }
    }
  }

  private let journal = Journal()

  @Test("A bag disposes in the order of insertion when it goes")
  func bagGoes() {
    do {
      let bag = DisposeBag()
      for number in 1...5 { journal.entry(number).disposed(by: bag) }
      #expect(journal.disposed.isEmpty)
    }
    #expect(journal.disposed == [1, 2, 3, 4, 5])
  }

  @Test("A bag disposes early when it is replaced")
  func bagIsReplaced() {
    var bag = DisposeBag()
    journal.entry(1).disposed(by: bag)
    bag = DisposeBag()
    #expect(journal.disposed == [1])
    #expect(bag.count == 0)
  }

  @Test("What comes into a disposed bag is disposed at once")
  func disposedBag() {
    let bag = DisposeBag()
    bag.dispose()
    journal.entry(1).disposed(by: bag)
    #expect(journal.disposed == [1])
    #expect(bag.count == 0)
  }

  @Test("A disposable acts once")
  func once() {
    let entry = journal.entry(1)
    entry.dispose()
    entry.dispose()
    #expect(journal.disposed == [1])
  }

  @Test("A serial disposable ends the one before, and what comes too late")
  func serial() {
    let serial = SerialDisposable()
    serial.replace(with: journal.entry(1))
    serial.replace(with: journal.entry(2))
    #expect(journal.disposed == [1])
    serial.dispose()
    serial.replace(with: journal.entry(3))
    #expect(journal.disposed == [1, 2, 3])
  }

  @Test("A part of a composite can be taken out by its key")
  func composite() {
    let composite = CompositeDisposable()
    let key = composite.insert(journal.entry(1))
    composite.insert(journal.entry(2))
    composite.insert(journal.entry(3))
    if let key { composite.remove(key) }
    #expect(journal.disposed == [1])
    composite.dispose()
    #expect(journal.disposed == [1, 2, 3])
    #expect(composite.insert(journal.entry(4)) == nil)
    #expect(journal.disposed == [1, 2, 3, 4])
  }

  @Test("A dropped handle keeps running")
  func dropped() {
    let subject = Subject<Int>()
    var heard = 0
    subject.events.subscribe { (_: Int) in heard += 1 }
    for number in 1...10 { subject.send(number) }
    #expect(heard == 10)
  }

  @Test("With a bag that lives longer the object goes, and the subscription runs")
  func with() {
    final class Screen {
      var heard = 0
    }
    let subject = Subject<Int>()
    let bag = DisposeBag()
    weak var gone: Screen?
    do {
      let screen = Screen()
      gone = screen
      subject.events.subscribe(with: screen) { screen, _ in screen.heard += 1 }.disposed(by: bag)
      subject.send(1)
      #expect(screen.heard == 1)
    }
    #expect(gone == nil)
    #expect(subject.observerCount == 1)
    bag.dispose()
    #expect(subject.observerCount == 0)
  }

  @Test("Three of a thousand: the synchronous source sends all, the scheduled one three")
  func take() {
    var emitted = 0
    var received: [Int] = []
    let synchronous = Observable<Int>.create { observer in
      for number in 1...1_000 {
        emitted += 1
        observer(.next(number))
      }
      return BooleanDisposable()
    }
    synchronous.take(3).subscribe { received.append($0) }
    #expect(emitted == 1_000)
    #expect(received == [1, 2, 3])

    emitted = 0
    received = []
    Observable.range(1...1_000).doing { _ in emitted += 1 }.take(3).subscribe {
      received.append($0)
    }
    #expect(emitted == 3)
    #expect(received == [1, 2, 3])
  }

  @Test("A range of many steps goes on to its end")
  func longRange() {
    var sum = 0
    var completed = false
    Observable.range(1...5_000).subscribe { event in
      switch event {
      case .next(let number): sum += number
      case .completed: completed = true
      }
    }
    #expect(sum == 5_000 * 5_001 / 2)
    #expect(completed)
  }

  @Test("take(until:) ends both sides with the other's first element")
  func takeUntil() {
    let subject = Subject<Int>()
    let end = Subject<Void>()
    var received: [Int] = []
    let subscription = subject.events.take(until: end.events).subscribe { received.append($0) }
    subject.send(1)
    end.send(())
    subject.send(2)
    #expect(received == [1])
    #expect(subscription.isFinished)
    #expect(subject.observerCount == 0)
    #expect(end.observerCount == 0)
  }

  @Test("flatMapLatest ends the one before, and completes with the last")
  func flatMapLatest() {
    let outer = Subject<Int>()
    let inner = [Subject<Int>(), Subject<Int>()]
    var received: [Int] = []
    let subscription = outer.events.flatMapLatest { inner[$0].events }.subscribe {
      received.append($0)
    }
    outer.send(0)
    inner[0].send(1)
    outer.send(1)
    #expect(inner[0].observerCount == 0)
    inner[0].send(2)
    inner[1].send(3)
    outer.complete()
    #expect(!subscription.isFinished)
    inner[1].complete()
    #expect(subscription.isFinished)
    #expect(received == [1, 3])
  }

  @Test("A finished subscription lets go of what its closure captured")
  func finished() {
    final class Payload {}
    let subject = Subject<Int>()
    let bag = DisposeBag()
    weak var gone: Payload?
    do {
      let payload = Payload()
      gone = payload
      subject.events.subscribe { (_: Int) in _ = payload }.disposed(by: bag)
    }
    #expect(gone != nil)
    subject.complete()
    #expect(gone == nil)
    #expect(bag.count == 1)
  }

  @Test("A lifetime bag drops what has finished, and disposes the rest in order")
  func lifetimeBag() {
    let bag = LifetimeBag()
    let subjects = (0..<4).map { _ in Subject<Int>() }
    for (number, subject) in subjects.enumerated() {
      let journal = self.journal
      Observable<Int>.create { observer in
        subject.events.subscribe(observer)
        return journal.entry(number)
      }.subscribe { (_: Int) in }.disposed(by: bag)
    }
    subjects[1].complete()
    #expect(journal.disposed == [1])
    #expect(bag.count == 3)
    bag.dispose()
    #expect(journal.disposed == [1, 0, 2, 3])
    Observable<Int>.create { _ in journal.entry(9) }.subscribe { (_: Int) in }.disposed(by: bag)
    #expect(journal.disposed.last == 9)
  }

  @Test("A lifetime bag takes nothing in that has finished already")
  func lifetimeBagOfFinished() {
    let bag = LifetimeBag()
    Observable.range(1...3).subscribe { (_: Int) in }.disposed(by: bag)
    #expect(bag.count == 0)
  }
}
