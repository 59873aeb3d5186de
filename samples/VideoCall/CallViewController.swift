// The consultation screen: what it owns, and its life from being shown to being left.
import Foundation
import SampleSupport

/// The screen of one consultation. It ought to die when the person leaves it.
@MainActor
final class CallViewController {
  let leaks: Leaks
  let client = SignalingClient()
  let connection = PeerConnection()
  var camera = VideoTrack(source: "front camera")
  let remote = VideoTrack(source: "the other side")
  var observers: [any NSObjectProtocol] = []
  var clock: RepeatingTimer?

  private(set) var notes: [String] = []
  private(set) var seconds = 0

  init(leaks: Leaks) {
    self.leaks = leaks
    LiveCounts.born(Self.self)
  }

  isolated deinit {
    // Meant as the clean-up, and enough where nobody else holds the screen. Where somebody does, it
    // never runs: that is why a call's end has to do it. See tearDown().
    stopObserving()
    LiveCounts.died(Self.self)
  }

  func viewDidLoad() {
    startObserving()
    listenToClient()
    openConnection()
    showVideo()
  }

  func note(_ text: String) {
    notes.append(text)
  }

  func tick() {
    seconds += 1
  }
}
