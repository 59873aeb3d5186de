// Memory that begins like an object of Swift and is none.
import Glibc

nonisolated(unsafe) private var blocks: [UnsafeMutableRawPointer] = []

/// Makes objects, and blocks of other sizes that begin with the same words; each of these has an object in it.
func makePhantoms() {
  fill()
  fillLikeSlabs()
  clearStack(depth: 64)
  standStill()
}

@inline(never)
private func fill() {
  for size in [24, 32, 40, 48, 56, 64, 512, 4_096, 20_000, 70_000, 300_000, 2_000_000] {
    guard let block = malloc(size) else { preconditionFailure("no memory") }
    memset(block, 0, size)
    block.storeBytes(of: UInt(bitPattern: ObjectIdentifier(Node.self)), as: UInt.self)
    block.storeBytes(of: 3, toByteOffset: 8, as: UInt.self)
    let node = Unmanaged.passRetained(Node("held by C memory"))
    block.storeBytes(of: node.toOpaque(), toByteOffset: size - 8, as: UnsafeMutableRawPointer.self)
    blocks.append(block)
  }
}

/// Blocks that begin like a slab of a task's allocator, which nothing but a task holds.
@inline(never)
private func fillLikeSlabs() {
  // The runtime says where slabs' metadata lies.
  guard let runtime = dlopen("libswift_Concurrency.so", RTLD_NOW),
    let place = dlsym(runtime, "_swift_concurrency_debug_asyncTaskSlabMetadata")
  else { preconditionFailure("no concurrency") }
  let metadata = place.load(as: UInt.self)
  for (size, capacity) in [(4_096, 968), (64, 968), (70_000, 0), (1_000, 1_000)] {
    guard let block = malloc(size) else { preconditionFailure("no memory") }
    memset(block, 0, size)
    block.storeBytes(of: metadata, as: UInt.self)
    block.storeBytes(of: UInt32(capacity), toByteOffset: 16, as: UInt32.self)
    let node = Unmanaged.passRetained(Node("held by C memory"))
    block.storeBytes(of: node.toOpaque(), toByteOffset: size - 8, as: UnsafeMutableRawPointer.self)
    blocks.append(block)
  }
}
