// SampledProgram: a program that knows how much it has of what, for an agent that sees a sample of it.

/// A Swift program whose allocations follow a seed, and which says what is alive at its marks.
///
/// Three functions make blocks of their own sizes, and free most of them; a controller and its client hold each other;
/// a holder in a global variable keeps a page.
enum SampledProgram {
  static let text = #"""
    import Glibc

    final class Page { let bytes = [UInt8](repeating: 1, count: 3_000) }
    final class Shelf {
      nonisolated(unsafe) static let shared = Shelf()
      var pages: [Page] = []
    }
    final class Controller { var client: Client? }
    final class Client { var done: (() -> Void)? }

    var random: UInt64 = 88172645463325252
    func next(_ limit: Int) -> Int {
      random ^= random << 13
      random ^= random >> 7
      random ^= random << 17
      return Int(random >> 33) % limit
    }

    nonisolated(unsafe) var kept: [UnsafeMutableRawPointer?] = []

    @inline(never) func makeSmall() -> UnsafeMutableRawPointer? { malloc(24) }
    @inline(never) func makeMiddle() -> UnsafeMutableRawPointer? { realloc(calloc(1, 40), 500 + next(1_000)) }
    @inline(never) func makeLarge() -> UnsafeMutableRawPointer? { realloc(nil, 100_000) }

    // What the allocator gave.
    typealias Usable = @convention(c) (UnsafeMutableRawPointer?) -> Int
    let usable = unsafeBitCast(dlsym(nil, "malloc_usable_size")!, to: Usable.self)

    func mark(_ name: String) {
      typealias Mark = @convention(c) (UnsafePointer<CChar>) -> Int32
      guard let found = dlsym(nil, "memory_graph_mark") else { return }
      _ = unsafeBitCast(found, to: Mark.self)(name)
    }

    @inline(never) func leak() {
      let controller = Controller(), client = Client()
      controller.client = client
      client.done = { controller.client = nil }
    }

    kept.reserveCapacity(1 << 20)
    var live = [(count: 0, bytes: 0), (count: 0, bytes: 0), (count: 0, bytes: 0)]
    for generation in 0..<2 {
      for round in 0..<120_000 {
        let kind = round % 40 == 0 ? 2 : round % 4 == 0 ? 1 : 0
        let block = kind == 2 ? makeLarge() : kind == 1 ? makeMiddle() : makeSmall()
        // One in three stays.
        guard round / 40 % 3 == 0 else { free(block); continue }
        kept.append(block)
        live[kind].count += 1
        live[kind].bytes += usable(block)
      }
      for _ in 0..<50 { leak() }
      for _ in 0..<2_000 { Shelf.shared.pages.append(Page()) }
      mark("m\(generation)")
      print(live.map { "\($0.count) \($0.bytes)" }.joined(separator: " "))
    }
    """#
}
