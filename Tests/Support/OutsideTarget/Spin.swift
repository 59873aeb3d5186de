// Threads that run, each with the only reference to an object where no other code looks.
import Glibc
import SpinningCode

/// Starts a thread for each place and stands still when both have their object.
func spin() {
  let places = UnsafeMutablePointer<spinning_place>.allocate(capacity: 2)
  hide("below the stack pointer", in: places)
  hide("in a vector register", in: places + 1)
  clearStack(depth: 64)
  start({ spin_with_red_zone($0?.assumingMemoryBound(to: spinning_place.self)) }, places)
  start({ spin_with_vector($0?.assumingMemoryBound(to: spinning_place.self)) }, places + 1)
  while places[0].is_kept == 0 || places[1].is_kept == 0 { usleep(1_000) }
  standStill()
}

@inline(never)
private func hide(_ name: String, in place: UnsafeMutablePointer<spinning_place>) {
  let node = Unmanaged.passRetained(Node(name)).toOpaque()
  place.initialize(
    to: spinning_place(hidden: ~UInt64(UInt(bitPattern: node)), is_kept: 0, pad: 0))
}

private func start(
  _ body: @convention(c) (UnsafeMutableRawPointer?) -> Void, _ place: UnsafeMutableRawPointer
) {
  struct Start {
    var body: @convention(c) (UnsafeMutableRawPointer?) -> Void
    var place: UnsafeMutableRawPointer
  }
  let start = UnsafeMutablePointer<Start>.allocate(capacity: 1)
  start.initialize(to: Start(body: body, place: place))
  var handle = pthread_t()
  let status = pthread_create(
    &handle, nil,
    { context in
      let start = context?.assumingMemoryBound(to: Start.self).pointee
      start?.body(start?.place)
      return nil
    }, start)
  precondition(status == 0)
}
