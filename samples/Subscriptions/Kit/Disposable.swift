// What a subscription gives back: the way to end it.

/// Something that can be ended. Ending it again does nothing.
///
/// Nothing ends by being dropped: a disposable that nobody keeps leaves its subscription running.
@MainActor
protocol Disposable: AnyObject {
  func dispose()
}

/// Does something when it is disposed, once.
@MainActor
final class ActionDisposable: Disposable {
  private var action: (() -> Void)?

  init(_ action: @escaping () -> Void) { self.action = action }

  func dispose() {
    let action = self.action
    self.action = nil
    action?()
  }
}

/// Knows whether it was disposed, for whoever asks between two steps of its work.
@MainActor
final class BooleanDisposable: Disposable {
  private(set) var isDisposed = false

  func dispose() { isDisposed = true }
}

/// Has one disposable at a time: a new one ends the one before it.
@MainActor
final class SerialDisposable: Disposable {
  private var current: (any Disposable)?
  private var isDisposed = false

  /// Takes the next in. Where this is disposed already, so is the next.
  func replace(with next: (any Disposable)?) {
    let last = current
    current = isDisposed ? nil : next
    last?.dispose()
    if isDisposed { next?.dispose() }
  }

  func dispose() {
    isDisposed = true
    replace(with: nil)
  }
}

/// Ends several at once, and lets one be taken out again by its key before that.
@MainActor
final class CompositeDisposable: Disposable {
  struct Key: Hashable {
    fileprivate let number: Int
  }

  private var parts: [Key: any Disposable] = [:]
  private var keyCount = 0
  private(set) var isDisposed = false

  var count: Int { parts.count }

  /// Takes a part in. Where the whole is disposed already the part is, too, and there is no key.
  @discardableResult
  func insert(_ part: any Disposable) -> Key? {
    guard !isDisposed else {
      part.dispose()
      return nil
    }
    keyCount += 1
    let key = Key(number: keyCount)
    parts[key] = part
    return key
  }

  /// Ends one part and forgets it.
  func remove(_ key: Key) {
    parts.removeValue(forKey: key)?.dispose()
  }

  func dispose() {
    isDisposed = true
    let parts = self.parts.sorted { $0.key.number < $1.key.number }
    self.parts = [:]
    for (_, part) in parts { part.dispose() }
  }
}
