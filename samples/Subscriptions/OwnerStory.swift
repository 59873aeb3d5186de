// Models that subscribe, and then are not needed any more. Are they gone?
import SampleSupport

@MainActor
func tellOwnerStory(_ variant: Variant, models count: Int) async {
  let service = SearchService.shared
  await settle()
  Agent.mark("start")
  for _ in 1...count {
    let model = SearchModel()
    switch variant {
    case .strong: model.subscribeStrongly()
    case .method: model.subscribeWithMethod()
    case .with: model.subscribe(to: service)
    default: model.subscribeWeakly()
    }
    model.type("swift")
  }
  await settle()
  print("end: \(LiveCounts.summary) observers=\(service.queries.observerCount)")
  Agent.mark("end")
}

/// A disposable that nobody keeps ends nothing.
@MainActor
func tellDroppedStory(events: Int) async {
  let service = SearchService.shared
  Agent.mark("start")
  var heard = 0
  service.queries.events.subscribe { (_: String) in heard += 1 }
  for _ in 1...events { service.queries.send("swift") }
  await settle()
  print("end: \(LiveCounts.summary) observers=\(service.queries.observerCount) heard=\(heard)")
  Agent.mark("end")
}
