// CheckScope: what belongs to a check: the blocks that its body asked for, whatever task or thread of it did.

internal import CMemoryGraphHooks
internal import Glibc
internal import MemoryGraphAgent
internal import Synchronization

/// The part of the process's work that one check looks at.
///
/// A block belongs to the scope of the task that asked for it: the body's own, its child tasks, and tasks that
/// those start, detached ones too. What threads and queues do by themselves belongs to a scope that takes
/// strays. Scopes nest: a block belongs to the innermost one, and when that ends it hands on to the one around it
/// what it did not account for.
///
/// Thread-safe.
final class CheckScope: Sendable {
  /// The scope of the current task, as the agent knows it; 0 for none.
  @TaskLocal static var current: UInt64 = 0

  let token: UInt64
  let takesStrays: Bool
  private let _outer: CheckScope?
  private let _state = Mutex(State())

  private struct State {
    /// Scopes that have ended inside this one, still open since their blocks are this one's now.
    var inner: [UInt64] = []

    /// Blocks that need no further account: they were reported, or accepted.
    var accounted: Set<HiddenAddress> = []
  }

  private static let _open = Mutex<[UInt64: CheckScope]>([:])

  /// Opens a scope within that of the current task, and proves that it has what is made in it.
  ///
  /// - Throws: ``CheckProblem`` where the agent can't work in this process.
  static func open(takesStrays: Bool) throws(CheckProblem) -> CheckScope {
    let scope = try quietly({
      Result { () throws(CheckProblem) in try CheckScope(takesStrays: takesStrays) }
    }).get()
    do {
      try scope._proveRecording()
    } catch {
      scope.close()
      throw error
    }
    return scope
  }

  private init(takesStrays: Bool) throws(CheckProblem) {
    try Self._started.get()
    _outer = Self._open.withLock { $0[Self.current] }
    token = memory_graph_scope_open(takesStrays)
    self.takesStrays = takesStrays
    guard token != 0 else {
      throw CheckProblem(
        "too many leak checks at once, or no memory for one more; run fewer tests in parallel")
    }
    Self._open.withLock { $0[token] = self }
  }

  /// Whether the agent could be started; the same answer for all scopes.
  private static let _started: Result<Void, CheckProblem> = {
    guard let task = dlsym(nil, "swift_task_getCurrent"),
      let local = dlsym(nil, "swift_task_localValueGet")
    else {
      return .failure(CheckProblem("the concurrency runtime does not tell its current task"))
    }
    let functions = memory_graph_task_functions(
      current_task: unsafeBitCast(task, to: (@convention(c) () -> UnsafeMutableRawPointer?).self),
      local_value: unsafeBitCast(
        local, to: (@convention(c) (UnsafeRawPointer) -> UnsafeRawPointer?).self),
      key: UnsafeRawPointer(Unmanaged.passUnretained($current).toOpaque()))
    let error = memory_graph_scopes_start(functions)
    if error == 0 { return .success(()) }
    let reason =
      memory_graph_problem().map { String(cString: $0) } ?? String(cString: strerror(error))
    return .failure(CheckProblem("the agent can't record here: \(reason)"))
  }()

  /// Makes an object in the scope and looks whether the scope has it: a check that sees nothing would pass
  /// whatever the test does.
  private func _proveRecording() throws(CheckProblem) {
    let (address, seen) = Self.$current.withValue(token) {
      let probe = Canary()
      let address = UInt64(UInt(bitPattern: Unmanaged.passUnretained(probe).toOpaque()))
      return withExtendedLifetime(probe) {
        let seen = quietly { _blocks(of: token).contains { $0.address == address } }
        return (address, seen)
      }
    }
    guard seen else {
      throw CheckProblem(
        "an object made for the purpose (0x\(String(address, radix: 16))) was not recorded: the allocator's"
          + " functions are not the agent's")
    }
  }

  // MARK: - What it has

  /// The blocks that were born in the scope, are alive, and need an account; ascending.
  var blocks: [memory_graph_survivor] {
    let (tokens, accounted) = _state.withLock { ([token] + $0.inner, $0.accounted) }
    var blocks = tokens.flatMap { _blocks(of: $0) }
    if tokens.count > 1 { blocks.sort { $0.address < $1.address } }
    return accounted.isEmpty
      ? blocks : blocks.filter { !accounted.contains(HiddenAddress($0.address)) }
  }

  private func _blocks(of token: UInt64) -> [memory_graph_survivor] {
    // Births go on meanwhile, this array's own among them.
    var room = memory_graph_scope_survivors(token, nil, 0) + 16
    while true {
      var count = 0
      let blocks = [memory_graph_survivor](unsafeUninitializedCapacity: room) { buffer, written in
        guard let base = buffer.baseAddress else { return }
        count = memory_graph_scope_survivors(token, base, room)
        written = min(count, room)
      }
      if count <= room { return blocks }
      room = count + count / 4
    }
  }

  /// Births that could not be recorded: the check is not worth anything then.
  var lostCount: UInt64 {
    _state.withLock { [token] + $0.inner }.reduce(0) { $0 + memory_graph_scope_lost($1) }
  }

  // MARK: - Its end

  /// From here on what no task of the scope asks for is not the scope's any more.
  func leaveStrays() { memory_graph_scope_take_strays(token, false) }

  /// Blocks that were reported, or accepted, are no scope's business any more.
  func account(for addresses: Set<HiddenAddress>) {
    quietly { _state.withLock { $0.accounted.formUnion(addresses) } }
  }

  /// Ends the scope, and hands on what it did not account for.
  func close() { quietly { _close() } }

  private func _close() {
    let state = _state.withLock { state in
      defer { state = State() }
      return state
    }
    leaveStrays()
    let tokens = [token] + state.inner
    let heir = Self._open.withLock { open in
      let heir = _outer.flatMap { open[$0.token] }
      // Tasks of this scope that are still there go on in it: then it stays open, and is the heir's.
      for token in tokens { open[token] = heir }
      return heir
    }
    guard let heir else {
      for token in tokens { memory_graph_scope_close(token) }
      return
    }
    heir._state.withLock {
      $0.inner += tokens
      $0.accounted.formUnion(state.accounted)
    }
    if heir.takesStrays { memory_graph_scope_take_strays(heir.token, true) }
  }
}

/// An object that the library itself makes, to see whether it is found. Used on one thread.
final class Canary {
  // Typed, since a field of words would be the last to be believed.
  var other: Canary?
}
