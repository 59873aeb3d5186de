// One consultation, from the screen's appearance to the moment when it ought to be gone.
import Foundation

/// Shows a screen, lets a little happen, and leaves it. When this returns, the program has no use for
/// the screen any more: whoever still holds it is the leak.
@MainActor
func holdConsultation(_ variant: Variant) {
  let screen = CallViewController(leaks: variant.leaks)
  screen.viewDidLoad()

  NotificationCenter.default.post(name: .networkDidChange, object: nil)
  screen.connection.receiveState(2)
  screen.switchCamera(tearsDown: variant.tearsDown)
  RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.01))

  if variant.tearsDown { screen.tearDown() }
}
