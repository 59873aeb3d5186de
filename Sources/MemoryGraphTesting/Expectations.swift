// Expectations: checks of a part of a test, in any framework.

/// Fails the test if a body leaves leaked objects behind: objects that no root reaches any more.
///
/// `ignored` are names of types whose leaks don't count, with `*` for any characters; `known` is a file of known findings.
/// ``LeakFreeTrait`` has more of both.
///
/// - Throws: what the body throws. It is not checked then.
/// - Complexity: O(*b*) for *b* blocks that are born in the body. Where an object of them is alive after it, a snapshot
///   is taken and read, O(*n*) for all *n* blocks of the process.
public func expectNoLeaks(
  ignoring ignored: [String] = [], known: String? = nil,
  isolation: isolated (any Actor)? = #isolation,
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
  column: UInt = #column, _ body: () async throws -> Void
) async rethrows {
  let location = CheckLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let subject = Reporting.subject(at: location)
  let failure = try await perform(
    { LeakJudge.make($0, of: subject, ignoring: ignored, known: known) },
    takesStrays: Reporting.runsAlone, body)
  if let failure { Reporting.record(failure, of: subject, at: location) }
}

/// The same for a body that does not wait; the thread is blocked while it is checked.
@_disfavoredOverload
public func expectNoLeaks(
  ignoring ignored: [String] = [], known: String? = nil,
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
  column: UInt = #column, _ body: () throws -> Void
) rethrows {
  let location = CheckLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let subject = Reporting.subject(at: location)
  let failure = try performBlocking(
    { LeakJudge.make($0, of: subject, ignoring: ignored, known: known) },
    takesStrays: Reporting.runsAlone, body)
  if let failure { Reporting.record(failure, of: subject, at: location) }
}

/// Fails the test if objects of some classes that a body made are alive after it, whoever holds them.
///
/// Objects of subclasses count, too. They are waited for, a second at most. The failure tells the way from a
/// root on which they are held, or the cycle.
///
/// - Throws: what the body throws. It is not checked then.
/// - Complexity: As of `expectNoLeaks`.
public func expectFreed(
  _ classes: AnyClass..., isolation: isolated (any Actor)? = #isolation,
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
  column: UInt = #column, _ body: () async throws -> Void
) async rethrows {
  let location = CheckLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let subject = Reporting.subject(at: location)
  let failure = try await perform(
    { .success(FreedJudge($0, of: subject, classes: classes)) },
    takesStrays: Reporting.runsAlone, body)
  if let failure { Reporting.record(failure, of: subject, at: location) }
}

/// The same for a body that does not wait; the thread is blocked while it is checked.
@_disfavoredOverload
public func expectFreed(
  _ classes: AnyClass..., fileID: StaticString = #fileID, filePath: StaticString = #filePath,
  line: UInt = #line, column: UInt = #column, _ body: () throws -> Void
) rethrows {
  let location = CheckLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let subject = Reporting.subject(at: location)
  let failure = try performBlocking(
    { .success(FreedJudge($0, of: subject, classes: classes)) },
    takesStrays: Reporting.runsAlone, body)
  if let failure { Reporting.record(failure, of: subject, at: location) }
}

/// Fails the test if what a body leaves behind becomes more with each repetition: leaked, or *abandoned*, which
/// is held by something that lives longer, as a list that is only ever added to.
///
/// An eighth of the repetitions warms up: caches fill, lazy variables are made. Growth is then judged over the
/// rest, so a cache with a bound of ten needs some twenty repetitions to be told from a leak. Where nothing
/// becomes more for half of all repetitions, the rest of them is saved. The failure tells, for each place that
/// grows, the way on which it is held and how much it grows with a repetition.
///
/// The body is repeated `iterations` times at most. `ignored` and `known` are as for `expectNoLeaks`.
///
/// - Throws: what the body throws. It is not checked then.
/// - Complexity: O(*b*) for *b* blocks that are born in the body, after each repetition; where something may grow, five
///   snapshots.
public func expectNoGrowth(
  iterations: Int = 40, ignoring ignored: [String] = [], known: String? = nil,
  isolation: isolated (any Actor)? = #isolation,
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
  column: UInt = #column, _ body: () async throws -> Void
) async rethrows {
  let location = CheckLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let subject = Reporting.subject(at: location)
  let failure = try await perform(
    {
      GrowthJudge.make($0, of: subject, iterations: iterations, ignoring: ignored, known: known)
    }, takesStrays: Reporting.runsAlone, body)
  if let failure { Reporting.record(failure, of: subject, at: location) }
}

/// The same for a body that does not wait; the thread is blocked while it is checked.
@_disfavoredOverload
public func expectNoGrowth(
  iterations: Int = 40, ignoring ignored: [String] = [], known: String? = nil,
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
  column: UInt = #column, _ body: () throws -> Void
) rethrows {
  let location = CheckLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let subject = Reporting.subject(at: location)
  let failure = try performBlocking(
    {
      GrowthJudge.make($0, of: subject, iterations: iterations, ignoring: ignored, known: known)
    }, takesStrays: Reporting.runsAlone, body)
  if let failure { Reporting.record(failure, of: subject, at: location) }
}
