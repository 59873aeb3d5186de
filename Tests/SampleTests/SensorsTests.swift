// What leases and streams promise, without an agent.
internal import Testing

@testable internal import Sensors

@Suite struct SensorsTests {
  @Test("The first lease starts the hardware, and the last one stops it")
  func firstAndLast() {
    let sensor = SharedSensor()
    let first = sensor.lease(for: "map")
    let second = sensor.lease(for: "run")
    #expect(sensor.hardware.orders == [.every(1)])
    #expect(sensor.holders == ["map", "run"])
    first.release()
    #expect(sensor.hardware.isOn)
    second.release()
    #expect(sensor.hardware.orders == [.every(1), .off])
    #expect(sensor.holders.isEmpty)
  }

  @Test("Releasing twice takes nobody else's lease away")
  func releaseTwice() {
    let sensor = SharedSensor()
    let first = sensor.lease(for: "map")
    let second = sensor.lease(for: "run")
    first.release()
    first.release()
    #expect(sensor.hardware.isOn)
    second.release()
    second.release()
    #expect(sensor.hardware.stopCount == 1)
  }

  @Test("A forgotten lease ends with its object")
  func forgotten() {
    let sensor = SharedSensor()
    do {
      let lease = sensor.lease(for: "map")
      #expect(sensor.hardware.isOn)
      withExtendedLifetime(lease) {}
    }
    #expect(!sensor.hardware.isOn)
    #expect(sensor.hardware.stopCount == 1)
  }

  @Test("The hardware is as fast as the most hurried lease, and slows down after it")
  func rates() {
    let sensor = SharedSensor()
    let slow = sensor.lease(for: "weather", every: 10)
    let fast = sensor.lease(for: "navigation", every: 1)
    let middle = sensor.lease(for: "run", every: 5)
    fast.release()
    middle.release()
    slow.release()
    #expect(sensor.hardware.orders == [.every(10), .every(1), .every(5), .every(10), .off])
  }

  @Test("Each lease has fixes of its own, at its own interval")
  func fixes() async {
    let sensor = SharedSensor()
    let slow = sensor.lease(for: "weather", every: 10)
    let fast = sensor.lease(for: "navigation", every: 1)
    for _ in 1...20 { sensor.tick() }
    slow.release()
    fast.release()
    #expect(await times(of: slow.fixes) == [10, 20])
    #expect(await times(of: fast.fixes) == Array(1...20))
  }

  enum End: CaseIterable {
    case leaving
    case cancelling
    case dropping
  }

  @Test("However an iteration ends, the hardware stops, once", arguments: End.allCases)
  func stream(end: End) async {
    let sensor = SharedSensor()
    switch end {
    case .leaving:
      let stream = Task {
        for await _ in sensor.fixes(for: "reader") { break }
      }
      while !sensor.hardware.isOn { await Task.yield() }
      sensor.tick()
      await stream.value
    case .cancelling:
      let stream = Task {
        for await _ in sensor.fixes(for: "reader") {}
      }
      while !sensor.hardware.isOn { await Task.yield() }
      stream.cancel()
      await stream.value
    case .dropping:
      _ = sensor.fixes(for: "reader")
    }
    #expect(sensor.hardware.orders == [.every(1), .off])
    #expect(sensor.holders.isEmpty)
  }

  private func times(of fixes: AsyncStream<Fix>) async -> [Int] {
    var times: [Int] = []
    for await fix in fixes { times.append(fix.time) }
    return times
  }
}
