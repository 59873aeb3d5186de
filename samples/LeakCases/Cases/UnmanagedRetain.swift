// A retain is handed to C code and never taken back.
import Glibc

final class Courier {
  var rides = 0
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

@inline(never)
func sendCourier(takeBack: Bool) {
  let courier = Unmanaged.passRetained(Courier()).toOpaque()
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { context in
      guard let context else { return nil }
      Unmanaged<Courier>.fromOpaque(context).takeUnretainedValue().rides += 1
      return nil
    }, courier)
  pthread_join(thread, nil)
  if takeBack { Unmanaged<Courier>.fromOpaque(courier).release() }
}

extension LeakCase {
  static let unmanagedRetain = LeakCase("unmanaged-retain") { variant in
    forEachRound { sendCourier(takeBack: variant.isMended) }
  }
}
