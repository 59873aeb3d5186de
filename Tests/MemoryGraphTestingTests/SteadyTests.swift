// SteadyTests: bodies that change containers and texts all the time, and leave nothing more behind.

import Foundation
import Synchronization
import Testing

@testable import MemoryGraphTesting

/// State of the program's own that lives on.
private final class Steady: Sendable {
  static let numbers = Mutex<[Int]>([])
  static let reserved = Mutex<[Int]>([])
  static let bounded = Mutex<[String]>([])
  static let ring = Mutex<(next: Int, texts: [String])>((0, []))
  static let cache = Mutex<[String: [UInt8]]>([:])
  static let last = Mutex<[UInt8]>([])
  static let lastText = Mutex<String>("")
  static let status = Mutex<String>("")
  static let seen = Mutex<Set<String>>([])
  static let queue = Mutex<[String]>([])
  static let counts = Mutex<[String: Int]>([:])
  static let matrix = Mutex<[[Double]]>([])
  static let log = Mutex<String>("")
  static let saw = Mutex<[Int]>([])
  static let samples = Mutex<[Double]>([])
  static let registry = Mutex<[Int: String]>([:])
  nonisolated(unsafe) static var plain: [String] = []
  static let lazyTable: [String: Int] = Dictionary(
    uniqueKeysWithValues: (0..<500).map { ("entry number \($0)", $0) })
  static let random = Mutex<UInt64>(1)

  static func next(_ bound: Int) -> Int {
    random.withLock {
      $0 = $0 &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int($0 >> 33) % bound
    }
  }
}

@Suite struct SteadyTests {
  enum Body: String, CaseIterable, Sendable {
    case locals, localTexts, replaced, reserved, clearedKeepingRoom, cleared, bounded, ring
    case cache, cacheOfBytes, lastResponse, lastText, counterInText, seenAgain, queue, counters
    case matrixOfOneSize, boundedLog, saw, slidingWindow, registered, swapped, lazily, sorted
    case joined, json, numberFormat, dates, data, url, regex, taskGroup, stream, onceOnly
    case saturating, shortLived
  }

  private func run(_ body: Body) async throws {
    switch body {
    case .locals:
      var list: [Int] = []
      for number in 0..<Steady.next(2_000) { list.append(number) }
      withExtendedLifetime(list) {}
    case .localTexts:
      let texts = (0..<Steady.next(300)).map { "a text with the number \($0)" }
      withExtendedLifetime(texts) {}
    case .replaced:
      Steady.numbers.withLock { $0 = Array(repeating: 7, count: 100) }
    case .reserved:
      Steady.reserved.withLock {
        $0.reserveCapacity(64)
        $0.removeAll(keepingCapacity: true)
        $0 += 0..<Steady.next(64)
      }
    case .clearedKeepingRoom:
      Steady.plainLock.withLock { _ in
        Steady.plain.removeAll(keepingCapacity: true)
        for number in 0..<Steady.next(40) { Steady.plain.append("entry with number \(number)") }
      }
    case .cleared:
      Steady.queue.withLock {
        $0.append("something to be done with \($0.count)")
        if $0.count > 6 { $0 = [] }
      }
    case .bounded:
      Steady.bounded.withLock {
        $0.append("the newest entry of all of them")
        if $0.count > 5 { $0.removeFirst() }
      }
    case .ring:
      Steady.ring.withLock {
        if $0.texts.count < 8 {
          $0.texts.append("slot that is written to for the first time")
        } else {
          $0.texts[$0.next % 8] = "slot that is written to once more, \($0.next)"
        }
        $0.next += 1
      }
    case .cache:
      Steady.counts.withLock { $0["key number \(Steady.next(8))"] = 1 }
    case .cacheOfBytes:
      Steady.cache.withLock {
        $0["picture \(Steady.next(6))"] = [UInt8](repeating: 1, count: Steady.next(5_000))
      }
    case .lastResponse:
      Steady.last.withLock { $0 = [UInt8](repeating: 1, count: 16 + Steady.next(5_000)) }
    case .lastText:
      Steady.lastText.withLock { $0 = String(repeating: "word ", count: 4 + Steady.next(400)) }
    case .counterInText:
      Steady.status.withLock { $0 = "the request with the number \(Steady.next(2_000))" }
    case .seenAgain:
      Steady.seen.withLock { _ = $0.insert("somebody called \(Steady.next(5))") }
    case .queue:
      Steady.queue.withLock { $0.append("work that is to be done now") }
      Steady.queue.withLock { if !$0.isEmpty { $0.removeFirst() } }
    case .counters:
      Steady.counts.withLock { $0["key number \(Steady.next(4))", default: 0] += 1 }
    case .matrixOfOneSize:
      Steady.matrix.withLock {
        $0 = (0..<20).map { _ in (0..<20).map { _ in Double(Steady.next(9)) } }
      }
    case .boundedLog:
      Steady.log.withLock {
        $0 += "a line of the log that is kept for a while\n"
        if $0.utf8.count > 400 { $0 = String($0.suffix(200)) }
      }
    case .saw:
      Steady.saw.withLock {
        $0.append($0.count)
        if $0.count == 9 { $0.removeAll() }
      }
    case .slidingWindow:
      Steady.samples.withLock {
        $0.append(Double(Steady.next(100)))
        if $0.count > 10 { $0.removeFirst($0.count - 10) }
      }
    case .registered:
      let id = Steady.next(1_000_000)
      Steady.registry.withLock { $0[id] = "a handler that is taken out again" }
      Steady.registry.withLock { $0[id] = nil }
    case .swapped:
      Steady.numbers.withLock { $0 = $0.reversed() + [] }
    case .lazily:
      _ = Steady.lazyTable["entry number 7"]
    case .sorted:
      Steady.numbers.withLock { $0 = (0..<200).map { _ in Steady.next(1_000) }.sorted() }
    case .joined:
      let text = (0..<100).map { "\($0)" }.joined(separator: ", ")
      withExtendedLifetime(text) {}
    case .json:
      let encoded = try JSONEncoder().encode(["a": [1, 2, 3], "b": [Steady.next(100)]])
      _ = try JSONDecoder().decode([String: [Int]].self, from: encoded)
    case .numberFormat:
      _ = String(format: "%.3f of %d", 0.5, Steady.next(100))
    case .dates:
      _ = Date(timeIntervalSince1970: Double(Steady.next(1_000_000))).description
    case .data:
      var data = Data()
      for byte in 0..<Steady.next(3_000) { data.append(UInt8(truncatingIfNeeded: byte)) }
      withExtendedLifetime(data) {}
    case .url:
      _ = URL(string: "https://example.org/path/\(Steady.next(1_000))?query=1")?.pathComponents
    case .regex:
      _ = "some text with 42 numbers".firstMatch(of: /[0-9]+/)
    case .taskGroup:
      let sum = await withTaskGroup(of: Int.self) { group in
        for number in 0..<8 { group.addTask { number } }
        return await group.reduce(0, +)
      }
      withExtendedLifetime(sum) {}
    case .stream:
      let (stream, continuation) = AsyncStream.makeStream(of: String.self)
      for number in 0..<10 { continuation.yield("element number \(number) of the stream") }
      continuation.finish()
      for await _ in stream {}
    case .onceOnly:
      Steady.registry.withLock { if $0[-1] == nil { $0[-1] = "made once and kept for good" } }
    case .saturating:
      Steady.seen.withLock { if $0.count < 12 { _ = $0.insert("saturated \($0.count)") } }
    case .shortLived:
      let box = Steady.next(2) == 0 ? [String](repeating: "", count: 50) : []
      withExtendedLifetime(box) {}
    }
  }

  @Test("Contents that change are no growth", arguments: Body.allCases)
  func isSilent(body: Body) async throws {
    try await expectNoGrowth(iterations: 40) { try await run(body) }
  }
}

extension Steady {
  fileprivate static let plainLock = Mutex<Void>(())
}
