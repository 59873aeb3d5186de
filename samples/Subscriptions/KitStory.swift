// What the kit does when it is asked to stop.
import SampleSupport

/// Three of a thousand elements. A source that sends all before it returns can't be stopped; one that
/// sends each in a step of its own can.
@MainActor
func tellTakeStory() {
  var emitted = 0
  let synchronous = Observable<Int>.create { observer in
    for number in 1...1_000 {
      emitted += 1
      observer(.next(number))
    }
    observer(.completed)
    return BooleanDisposable()
  }
  var received = 0
  synchronous.take(3).subscribe { (_: Int) in received += 1 }
  print("synchronous: emitted=\(emitted) received=\(received)")

  emitted = 0
  received = 0
  let scheduled = Observable.range(1...1_000).doing { _ in emitted += 1 }
  scheduled.take(3).subscribe { (_: Int) in received += 1 }
  print("scheduled: emitted=\(emitted) received=\(received)")
  Agent.mark("end")
}

/// A bag ends its entries in the order in which they came: when it goes, when another takes its place, and
/// what comes too late at once.
@MainActor
func tellOrderStory() {
  var disposed: [Int] = []
  func entry(_ number: Int) -> some Disposable { ActionDisposable { disposed.append(number) } }
  func report(_ moment: String) {
    print("\(moment):", disposed.map(String.init).joined(separator: " "))
    disposed = []
  }

  do {
    let bag = DisposeBag()
    for number in 1...4 { entry(number).disposed(by: bag) }
  }
  report("gone")

  var bag = DisposeBag()
  for number in 1...3 { entry(number).disposed(by: bag) }
  bag = DisposeBag()
  report("replaced")

  bag.dispose()
  entry(1).disposed(by: bag)
  report("too late")

  let lifetime = LifetimeBag()
  let subjects = (1...4).map { _ in Subject<Int>() }
  for (number, subject) in subjects.enumerated() {
    Observable<Int>.create { observer in
      let inner = subject.events.subscribe(observer)
      return ActionDisposable {
        inner.dispose()
        disposed.append(number + 1)
      }
    }.subscribe { (_: Int) in }.disposed(by: lifetime)
  }
  subjects[1].complete()
  report("finished early")
  lifetime.dispose()
  report("the rest")
  Agent.mark("end")
}
