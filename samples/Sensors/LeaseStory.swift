// Who may have the sensor on, and for how long.
import SampleSupport

/// The stories of leases, each of which prints what the sensor says and takes a mark at its end.
@MainActor
struct LeaseStory {
  let sensor = SharedSensor.shared
  let open = OpenFeatures.shared

  func tell(_ story: (LeaseStory) async -> Void) async {
    await settle()
    Agent.mark("start")
    await story(self)
    await settle()
    print("end: \(LiveCounts.summary)")
    Agent.mark("end")
  }

  /// Released, released twice, forgotten: all are over but the one that is still held.
  func leases() async {
    open.navigation = NavigationFeature(sensor)
    report("first lease")
    let run = sensor.lease(for: "run")
    report("second lease")
    run.release()
    report("released")
    run.release()
    report("released twice")
    _ = sensor.lease(for: "forgotten")
    report("forgotten")
  }

  /// A feature that is gone, with or without its lease.
  func capturedLease() async {
    _ = WeatherFeature(sensor, capturesLease: true)
    await settle()
    report("captured")
    _ = WeatherFeature(sensor, capturesLease: false)
    await settle()
    report("not captured")
  }

  /// The hardware is as fast as the most hurried lease.
  func rates() async {
    let weather = sensor.lease(for: "weather", every: 10)
    let navigation = sensor.lease(for: "navigation", every: 1)
    let run = sensor.lease(for: "run", every: 5)
    for _ in 1...20 { sensor.tick() }
    navigation.release()
    for _ in 1...20 { sensor.tick() }
    run.release()
    weather.release()
    let counts = [await count(weather), await count(navigation), await count(run)]
    print("fixes: weather=\(counts[0]) navigation=\(counts[1]) run=\(counts[2])")
    print("orders:", sensor.hardware.orders.map(\.description).joined(separator: " "))
  }

  /// However an iteration ends, the hardware stops, once.
  func stream() async {
    let reader = Task { [sensor] in
      for await _ in sensor.fixes(for: "break") { break }
    }
    await settle()
    sensor.tick()
    await reader.value
    report("break")

    let cancelled = Task { [sensor] in
      for await _ in sensor.fixes(for: "cancel") {}
    }
    await settle()
    cancelled.cancel()
    await cancelled.value
    report("cancel")

    _ = sensor.fixes(for: "nobody")
    report("nobody")
  }

  /// The fixes that wait for the holder of a released lease.
  private func count(_ lease: Lease) async -> Int {
    var count = 0
    for await _ in lease.fixes { count += 1 }
    return count
  }

  private func report(_ moment: String) {
    let hardware = sensor.hardware
    print(
      "\(moment): on=\(hardware.isOn ? 1 : 0) starts=\(hardware.startCount)",
      "stops=\(hardware.stopCount)",
      "holders=\(sensor.holders.joined(separator: ","))")
  }
}
