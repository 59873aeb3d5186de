// Tiles lie in memory that the program has from the kernel: no allocator knows it, and no type says so.
import Glibc

final class Tile: @unchecked Sendable {
  private let pixels = [UInt8](repeating: 0, count: 64)
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

/// A place for one tile in a mapping of its own.
private struct TileMemory {
  private static let size = 1 << 16
  private let base: UnsafeMutableRawPointer

  init?() {
    let base = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let base, base != MAP_FAILED else { return nil }
    self.base = base
  }

  func store(_ tile: Tile) {
    (base + 4096).initializeMemory(as: Tile.self, to: tile)
  }

  /// Gives the memory back, and forgets the tile.
  func unmap() { munmap(base, Self.size) }
}

extension LeakCase {
  static let mappedMemory = LeakCase("mapped-memory") { variant in
    forEachRound {
      guard let page = TileMemory() else { return }
      page.store(Tile())
      if variant == .opposite { page.unmap() }
    }
  }
}
