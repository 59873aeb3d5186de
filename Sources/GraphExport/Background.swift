// Background: a value that another thread makes, while this one does something else.

internal import Glibc
internal import GraphPrimitives

/// A value that a thread of its own makes.
///
/// The thread takes no signal, so that what a program does at one happens where it always does. Where no thread can be had
/// the value is made when it is asked for. Not thread-safe: one thread asks.
final class Background<Value: Sendable> {
  /// What the other thread writes before it ends, and nobody reads before that.
  private final class Made: @unchecked Sendable {
    var result: Result<Value, any Error>?
  }

  private let _made = Made()
  private let _make: @Sendable () throws -> Value
  private var _thread: pthread_t?

  /// Starts to make a value.
  init(_ make: @escaping @Sendable () throws -> Value) {
    _make = make
    _thread = startThread { [_made] in _made.result = Result { try make() } }
  }

  deinit { _join() }

  private func _join() {
    if let thread = _thread { pthread_join(thread, nil) }
    _thread = nil
  }

  /// The value; waits for the thread.
  ///
  /// - Throws: What making it threw.
  func value() throws -> Value {
    _join()
    guard let result = _made.result else { return try _make() }
    return try result.get()
  }
}
