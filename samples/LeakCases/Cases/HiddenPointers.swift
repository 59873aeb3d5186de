// Control: live objects that are reachable only in ways that are easy to miss.
import Glibc

final class Pearl {
  let place: String
  init(_ place: String) {
    self.place = place
    Live.born(Self.self)
  }
  deinit { Live.died(Self.self) }
}

enum Shell {
  case stone(Bead)
  case pearl(Pearl)
  case empty
  case pair(Pearl)
}

final class Bead {
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

indirect enum Necklace {
  case end(Pearl)
  case next(Int, Necklace)
}

struct Jewel {
  var carat = 0
  var cut = 0
  var colour = 0
  let pearl: Pearl
}

struct Loss: Error, @unchecked Sendable {
  let pearl: Pearl
  let day = 7
  let word = "gone"
}

struct Setting<Stone> {
  var polished = false
  var stone: Stone?
}

final class Tray: ManagedBuffer<Int, Pearl> {
  deinit {
    _ = withUnsafeMutablePointers { count, pearls in pearls.deinitialize(count: count.pointee) }
  }
}

/// One place for each way; every one is a static, so all is reachable.
enum Sea {
  nonisolated(unsafe) static var shells: [Shell] = []
  nonisolated(unsafe) static var strings: [Necklace] = []
  nonisolated(unsafe) static var anything: [Any] = []
  nonisolated(unsafe) static var losses: [any Error] = []
  nonisolated(unsafe) static var closures: [() -> Int] = []
  nonisolated(unsafe) static var settings: [Setting<(Int8, Pearl)>] = []
  nonisolated(unsafe) static var trays: [ManagedBuffer<Int, Pearl>] = []
  nonisolated(unsafe) static var blocks: [UnsafeMutablePointer<Pearl>] = []
  nonisolated(unsafe) static var numbers: [UInt] = []
  nonisolated(unsafe) static var tuples: [String: (Int, Pearl?)] = [:]
}

@inline(never)
func hidePearls(round: Int) {
  Sea.shells.append(.pair(Pearl("spare bits of an enum")))
  Sea.strings.append(.next(1, .next(2, .end(Pearl("an indirect enum")))))
  Sea.anything.append(Jewel(pearl: Pearl("a box in Any")))
  Sea.losses.append(Loss(pearl: Pearl("an error's box")))
  let captured = Pearl("a closure")
  Sea.closures.append { captured.place.count }
  Sea.settings.append(Setting(stone: (3, Pearl("an optional tuple in a generic struct"))))
  let tray = Tray.create(minimumCapacity: 1) { _ in 1 }
  tray.withUnsafeMutablePointerToElements { $0.initialize(to: Pearl("the tail of a buffer")) }
  Sea.trays.append(tray)
  let block = UnsafeMutablePointer<Pearl>.allocate(capacity: 1)
  block.initialize(to: Pearl("a block of malloc"))
  Sea.blocks.append(block)
  let number = Unmanaged.passRetained(Pearl("an address in a number")).toOpaque()
  Sea.numbers.append(UInt(bitPattern: number))
  Sea.tuples["round \(round)"] = (round, Pearl("a dictionary of tuples"))
}

extension LeakCase {
  static let hiddenPointers = LeakCase("hidden-pointers") { variant in
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    pthread_setspecific(key, Unmanaged.passRetained(Pearl("data of a thread")).toOpaque())
    for round in 1...Rounds.count {
      hidePearls(round: round)
      if variant == .opposite { Sea.numbers = [] }
      mark(round: round)
    }
  }
}
