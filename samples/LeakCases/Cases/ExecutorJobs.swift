// Control: jobs that wait in a custom executor's own array and dictionary are held: it will run them.
import Synchronization

final class Carton: Sendable {
  let weight = 7
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

/// Keeps jobs until somebody asks for them, which nobody does here.
final class Conveyor: SerialExecutor {
  private struct Jobs {
    var inOrder: [UnownedJob] = []
    var byNumber: [Int: UnownedJob] = [:]
    var count = 0
  }

  private let jobs = Mutex(Jobs())
  private let keeps: Bool

  init(keeps: Bool) { self.keeps = keeps }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { jobs in
      jobs.count += 1
      guard keeps else { return }
      if jobs.count.isMultiple(of: 2) {
        jobs.inOrder.append(job)
      } else {
        jobs.byNumber[jobs.count] = job
      }
    }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

actor Packer {
  private let conveyor: Conveyor
  nonisolated var unownedExecutor: UnownedSerialExecutor { conveyor.asUnownedSerialExecutor() }
  init(keeps: Bool) { conveyor = Conveyor(keeps: keeps) }
  func pack(_ carton: Carton) -> Int { carton.weight }

  static let shared = Packer(keeps: true)
  static let forgetful = Packer(keeps: false)
}

extension LeakCase {
  static let executorJobs = LeakCase("executor-jobs") { variant in
    await forEachSettledRound {
      let carton = Carton()
      let packer = variant == .opposite ? Packer.forgetful : Packer.shared
      Task { _ = await packer.pack(carton) }
    }
  }
}
