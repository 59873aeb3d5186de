// Work that is done one step after the other instead of one step within the other.

/// Steps that wait for the call that is under way to return.
@MainActor
enum Trampoline {
  private static var steps: [() -> Void] = []
  private static var isRunning = false

  /// Does something, and then all the steps that it scheduled. Within a step it just does it.
  static func enter(_ body: () -> Void) {
    guard !isRunning else { return body() }
    isRunning = true
    body()
    var position = 0
    while position < steps.count {
      let step = steps[position]
      position += 1
      step()
      // Long chains of steps must not pile up.
      if position == steps.count || position == 1_024 {
        steps.removeFirst(position)
        position = 0
      }
    }
    isRunning = false
  }

  /// Lets a step be done when what runs now has returned.
  static func schedule(_ step: @escaping () -> Void) {
    steps.append(step)
    if !isRunning { enter {} }
  }
}
