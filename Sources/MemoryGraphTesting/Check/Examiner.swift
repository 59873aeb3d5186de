// Examiner: takes snapshots for all checks of the process, one for those that wait at the same time.

internal import Glibc
internal import Synchronization

/// Takes snapshots and hands each to the checks that wait for one.
///
/// The work is done on a thread of its own with a stack as large as the main thread's: it must not wait for
/// Swift's threads, which tests may block. Thread-safe.
final class Examiner: Sendable {
  static let shared = quietly { Examiner() }

  /// What a check does with a snapshot, and how it is told that it was done.
  private struct Request {
    var work: @Sendable (Result<Examination, CheckProblem>) -> Void
  }

  private struct State {
    var pending: [Request] = []
    var isRunning = false
    var count = 0
  }

  private let _state = Mutex(State())

  /// How many snapshots were begun.
  var snapshotCount: Int { _state.withLock { $0.count } }

  /// Has a snapshot taken, looks at it, and waits.
  func examine(
    _ look: @escaping @Sendable (Examination) throws -> Evidence
  ) async -> Result<Evidence, CheckProblem> {
    // A checked one makes an object, in the check around this one.
    await withUnsafeContinuation { continuation in
      quietly { _add { continuation.resume(returning: Self._look($0, look)) } }
    }
  }

  /// The same where nothing can be awaited.
  func examineBlocking(
    _ look: @escaping @Sendable (Examination) throws -> Evidence
  ) -> Result<Evidence, CheckProblem> {
    let answer = quietly { Answer<Result<Evidence, CheckProblem>>() }
    quietly { _add { answer.give(Self._look($0, look)) } }
    return answer.wait()
  }

  private static func _look(
    _ examination: Result<Examination, CheckProblem>, _ look: (Examination) throws -> Evidence
  ) -> Result<Evidence, CheckProblem> {
    do {
      return .success(try look(try examination.get()))
    } catch let problem as CheckProblem {
      return .failure(problem)
    } catch {
      return .failure(CheckProblem("\(error)"))
    }
  }

  /// To be called quietly: the request outlives the check that makes it by a moment.
  private func _add(_ work: @escaping @Sendable (Result<Examination, CheckProblem>) -> Void) {
    let starts = _state.withLock { state in
      state.pending.append(Request(work: work))
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if starts { OwnThread.start { quietly { self._run() } } }
  }

  private func _run() {
    while true {
      let (requests, number) = _state.withLock { state in
        defer { state.pending = [] }
        if state.pending.isEmpty { state.isRunning = false } else { state.count += 1 }
        return (state.pending, state.count)
      }
      if requests.isEmpty { return }
      do {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let examination = Result { () throws(CheckProblem) in
          try Examination(path: folder.path + "/check-\(number).mgraph")
        }
        for request in requests { request.work(examination) }
      } catch {
        for request in requests { request.work(.failure(error)) }
      }
    }
  }
}

/// A folder for one snapshot.
private struct TemporaryFolder {
  let path: String

  init() throws(CheckProblem) {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array((parent + "/memory-graph-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CheckProblem("\(parent): no folder for a snapshot: \(String(cString: strerror(errno)))")
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func remove() {
    if let entries = opendir(path) {
      while let entry = readdir(entries) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { unlink(path + "/" + name) }
      }
      closedir(entries)
    }
    rmdir(path)
  }
}

/// A value that one thread gives and another waits for.
private final class Answer<Value: Sendable>: Sendable {
  private let _value = Mutex<Value?>(nil)
  private let _semaphore: UnsafeSemaphore

  init() { _semaphore = UnsafeSemaphore() }

  deinit { _semaphore.end() }

  func give(_ value: Value) {
    _value.withLock { $0 = value }
    _semaphore.signal()
  }

  func wait() -> Value {
    while true {
      _semaphore.wait()
      if let value = _value.withLock({ $0 }) { return value }
    }
  }
}

/// A semaphore of the C library.
private struct UnsafeSemaphore: @unchecked Sendable {
  private let _semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { sem_init(_semaphore, 0, 0) }

  func signal() { sem_post(_semaphore) }
  func wait() { while sem_wait(_semaphore) != 0 {} }

  func end() {
    sem_destroy(_semaphore)
    _semaphore.deallocate()
  }
}

/// Threads with a stack as large as the main thread's.
private enum OwnThread {
  private final class Work {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  static func start(_ run: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, 8 << 20)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(run))
    let error = pthread_create(
      &thread, &attributes,
      { context in
        guard let context else { return nil }
        Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, work.toOpaque())
    if error != 0 {
      // No thread to be had: the caller's has to do.
      work.release()
      run()
    }
  }
}
