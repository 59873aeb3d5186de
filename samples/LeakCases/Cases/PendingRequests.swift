// Control: requests that wait for their answers in checked continuations, as servers keep them.

final class Request: Sendable {
  let path = "/weather"
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

/// Keeps who waits for which answer.
actor Switchboard {
  static let shared = Switchboard()
  private var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]

  func answer(to request: Request, number: Int, keeps: Bool) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      if keeps { waiting[number] = continuation }
    }
    return request.path.utf8.count
  }
}

extension LeakCase {
  static let pendingRequests = LeakCase("pending-requests") { variant in
    var number = 0
    await forEachSettledRound {
      number += 1
      let (own, request) = (number, Request())
      Task {
        _ = try? await Switchboard.shared.answer(
          to: request, number: own, keeps: variant != .opposite)
      }
    }
  }
}
