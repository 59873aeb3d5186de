// Leaks: what the tests of this target leave behind on purpose, and what they don't.

internal import Synchronization
internal import Testing

/// A screen that holds itself through the closure of its client.
final class Screen: Sendable {
  let client = Client()

  func listenCarelessly() { client.onChange.withLock { $0 = { self.update() } } }
  func listen() { client.onChange.withLock { $0 = { [weak self] in self?.update() } } }
  func update() {}
}

final class Client: Sendable {
  let onChange = Mutex<(@Sendable () -> Void)?>(nil)
}

final class OtherScreen: Sendable {
  let own = Mutex<OtherScreen?>(nil)
  func leak() { own.withLock { $0 = self } }
}

@inline(never) func leakScreen() { Screen().listenCarelessly() }
@inline(never) func leakOtherScreen() { OtherScreen().leak() }
@inline(never) func useScreen() { Screen().listen() }

/// Screens that are leaked for a while: no reference that a graph knows leads to them.
final class LeakedScreens: Sendable {
  /// Complements of addresses, so that no scan takes one for a reference.
  private let _complements = Mutex<[UInt]>([])

  func leak() {
    let screen = Screen()
    screen.listenCarelessly()
    let address = UInt(bitPattern: Unmanaged.passUnretained(screen).toOpaque())
    _complements.withLock { $0.append(~address) }
  }

  /// Frees all but the last ones: what stays leaked is looked at by each later check of the process.
  func mend(allBut count: Int = 0) {
    let mended = _complements.withLock { complements in
      defer { complements.removeFirst(max(0, complements.count - count)) }
      return complements.dropLast(count)
    }
    for complement in mended {
      guard let address = UnsafeRawPointer(bitPattern: ~complement) else { continue }
      Unmanaged<Screen>.fromOpaque(address).takeUnretainedValue().client.onChange.withLock {
        $0 = nil
      }
    }
  }
}

/// Something that lives as long as the process.
enum Global {
  static let lazy = Screen()
  static let list = Mutex<[Screen]>([])
  static let cache = Mutex<[Int: Screen]>([:])
}

/// What grows by types of the standard library alone.
final class Journal: Sendable {
  static let lines = Mutex<[String]>([])
  static let numbers = Mutex<[Int]>([])
  static let words = Mutex<[String]>([])
  static let table = Mutex<[Int: Int]>([:])
  static let chunks = Mutex<[Int: [UInt8]]>([:])
  static let seen = Mutex<Set<String>>([])
  static let text = Mutex<String>("")
  nonisolated(unsafe) static var plain: [Double] = []
  static let shared = Journal()
  let entries = Mutex<[String]>([])
}

/// Runs a body that has to fail with an issue of which the text has all of some parts.
func expectFailure(
  _ parts: String..., without absent: [String] = [],
  sourceLocation: SourceLocation = #_sourceLocation,
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async {
  let texts = Texts()
  do {
    try await withKnownIssue(isolation: isolation, sourceLocation: sourceLocation) {
      try await body()
    } matching: { issue in
      texts.add(issue.comments.map(\.rawValue).joined(separator: "\n"))
      return true
    }
  } catch {
    Issue.record(error, sourceLocation: sourceLocation)
  }
  let all = texts.all
  #expect(all.count == 1, "one check, one issue", sourceLocation: sourceLocation)
  let text = all.joined(separator: "\n")
  for part in parts {
    #expect(text.contains(part), "\(text)", sourceLocation: sourceLocation)
  }
  for part in absent {
    #expect(!text.contains(part), "\(text)", sourceLocation: sourceLocation)
  }
}

private final class Texts: Sendable {
  private let _texts = Mutex<[String]>([])
  var all: [String] { _texts.withLock { $0 } }
  func add(_ text: String) { _texts.withLock { $0.append(text) } }
}
