// A feature that listens to fixes for as long as it lives, in four spellings of which one is right.
import SampleSupport

/// What became of a loop over fixes, told by the loop itself: whoever asks must not need the model.
@MainActor
final class LoopLog {
  fileprivate(set) var passes = 0
  fileprivate(set) var hasEnded = false
}

/// Listens to fixes. ``Listening`` says how it goes wrong.
@MainActor
final class TrackModel {
  enum Listening: Sendable {
    /// The task holds the model, and nobody ends the task.
    case strong
    /// The task lets the model die, and goes on without it: the sensor stays on.
    case weakOnly
    /// `deinit` ends the task; but the task holds the model, so `deinit` never runs.
    case cancelOnly
    /// The task doesn't hold the model, and the model's end is the task's.
    case weakAndCancel
  }

  private let listening: Listening
  private let log: LoopLog
  private var task: Task<Void, Never>?
  private(set) var received = 0

  init(_ listening: Listening, log: LoopLog) {
    self.listening = listening
    self.log = log
    LiveCounts.born(Self.self)
  }

  isolated deinit {
    if listening == .cancelOnly || listening == .weakAndCancel { task?.cancel() }
    LiveCounts.died(Self.self)
  }

  func start(_ sensor: SharedSensor) {
    let fixes = sensor.fixes(for: "track")
    switch listening {
    case .strong, .cancelOnly:
      task = Task { [log] in
        for await fix in fixes {
          log.passes += 1
          self.receive(fix)
        }
        log.hasEnded = true
      }
    case .weakOnly, .weakAndCancel:
      task = Task { [weak self, log] in
        for await fix in fixes {
          log.passes += 1
          self?.receive(fix)
        }
        log.hasEnded = true
      }
    }
  }

  private func receive(_ fix: Fix) { received += 1 }
}
