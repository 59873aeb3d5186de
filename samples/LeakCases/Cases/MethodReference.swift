// A thermostat stores one of its own methods: no closure is written down, and it holds itself.

final class Thermostat {
  private var onReading: ((Int) -> Void)?
  private var highest = 0
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }

  func start(weakly: Bool) {
    if weakly {
      onReading = { [weak self] in self?.adjust($0) }
    } else {
      onReading = adjust
    }
  }
  func read(_ degrees: Int) { onReading?(degrees) }
  private func adjust(_ degrees: Int) { highest = max(highest, degrees) }
}

extension LeakCase {
  static let methodReference = LeakCase("method-reference") { variant in
    forEachRound {
      let thermostat = Thermostat()
      thermostat.start(weakly: variant.isMended)
      thermostat.read(21)
    }
  }
}
