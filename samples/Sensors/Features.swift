// Who wants to know where the device is.

/// The parts of the app that are open, and so hold their leases.
@MainActor
final class OpenFeatures {
  static let shared = OpenFeatures()

  var navigation: NavigationFeature?
}

/// Guides someone through the town: a fix each second while it is open.
@MainActor
final class NavigationFeature {
  private let lease: Lease

  init(_ sensor: SharedSensor) {
    lease = sensor.lease(for: "navigation", every: 1)
  }
}

/// Looks now and then whether it will rain where the device is.
///
/// It means to end its lease with itself, and doesn't: the task captures the lease, which it needs for
/// nothing but its stream, and the sensor keeps a waiting task alive.
@MainActor
final class WeatherFeature {
  private let lease: Lease

  init(_ sensor: SharedSensor, capturesLease: Bool) {
    let lease = sensor.lease(for: "weather", every: 10)
    self.lease = lease
    if capturesLease {
      Task {
        for await fix in lease.fixes { Self.lookUp(fix) }
      }
    } else {
      Task { [fixes = lease.fixes] in
        for await fix in fixes { Self.lookUp(fix) }
      }
    }
  }

  private static func lookUp(_ fix: Fix) {}
}
