// HeapInventory: what is known of a program's heap before its contents are looked at.

package import SnapshotFormat

/// A live block of the malloc family.
package struct HeapBlock: Hashable, Sendable {
  package var address: UInt64

  /// Bytes as asked for; where only the allocator knows the block, the bytes that can be used.
  package var size: UInt64

  /// The number of marks that had been taken when it was allocated.
  package var generation: UInt16

  /// Names the stack for `HeapInventory.trieRow(ofStack:)`; 0 for none.
  package var stack: UInt32

  /// Whether the program registered it.
  package var isRegistered: Bool

  /// Bytes as they were asked for where the block is a sample; nil where it is none, and where no samples are
  /// taken. Without one the generation and the stack of a block are unknown where samples are taken.
  package var sampledBytes: UInt64?

  package init(
    address: UInt64, size: UInt64, generation: UInt16 = 0, stack: UInt32 = 0,
    isRegistered: Bool = false
  ) {
    self.address = address
    self.size = size
    self.generation = generation
    self.stack = stack
    self.isRegistered = isRegistered
  }
}

/// Something that the program registered.
package struct Registration: Hashable, Sendable {
  package var address: UInt64
  package var bytes: UInt64

  /// The object's name, or the resource's type.
  package var name: String
  package var isResource: Bool
  package var generation: UInt16
  package var stack: UInt32

  /// Valid only while its block says that it is registered.
  package var isBlock: Bool
}

/// An edge that the program declared.
package struct DeclaredEdge: Hashable, Sendable {
  package var from: UInt64
  package var to: UInt64
  package var label: String
}

/// A thread as it stood when the program was stopped.
package struct ThreadState: Hashable, Sendable {
  package var id: UInt32

  /// Its number for itself, which its own memory has: another than `id` in a container.
  package var idInside: UInt32
  package var name: String

  /// Whether the registers are those of the moment of the stop.
  package var isStopped: Bool

  /// rax rbx rcx rdx rsi rdi rbp rsp r8 ... r15.
  package var registers: [UInt64]
  package var pc: UInt64
  package var stackPointer: UInt64

  /// The base of thread-local storage.
  package var threadPointer: UInt64

  /// The whole of the stack, where it is known.
  package var stackBounds: Range<UInt64>?

  /// The vector registers as the processor's XSAVE lays them out; empty where they are unknown, as those of
  /// a thread that has taken the mark itself.
  package var vectorState: [UInt64]

  package init(
    id: UInt32, name: String, isStopped: Bool, registers: [UInt64], pc: UInt64,
    stackPointer: UInt64, threadPointer: UInt64, stackBounds: Range<UInt64>? = nil,
    vectorState: [UInt64] = [], idInside: UInt32? = nil
  ) {
    self.id = id
    self.idInside = idInside ?? id
    self.name = name
    self.isStopped = isStopped
    self.registers = registers
    self.pc = pc
    self.stackPointer = stackPointer
    self.threadPointer = threadPointer
    self.stackBounds = stackBounds
    self.vectorState = vectorState
  }

  /// The base of the innermost frame.
  package var framePointer: UInt64 { registers.count > 6 ? registers[6] : 0 }
}

/// What is known of a program's heap before its contents are looked at: its blocks, and what the agent
/// recorded where there is one.
package protocol HeapInventory {
  /// Calls `body` with each live block, in ascending order of address.
  func forEachBlock(_ body: (HeapBlock) -> Void)

  /// The stacks of allocations as parents and return addresses; row 0 is the root.
  func stackTrie() -> (parents: [UInt32], pcs: [UInt64])

  /// The trie row of a block's stack; 0 where there is none.
  func trieRow(ofStack slot: UInt32, trieCount: Int) -> UInt32

  func marks() -> [Snapshot.Mark]
  func registrations() -> [Registration]
  func declaredEdges() -> [DeclaredEdge]

  /// Memory of the agent itself, which is no part of the program's graph.
  func ownRanges() -> [Range<UInt64>]

  /// What the inventory says of the process: the agent, its settings, the mark.
  var facts: InventoryFacts { get }

  /// What is not known, each with the number of times.
  var diagnostics: [String: Int] { get }
}

/// What an inventory says of the process as a whole.
package struct InventoryFacts: Hashable, Sendable {
  package var pid: UInt32 = 0
  package var hasAgent = false

  /// Whether blocks are missing that the program has.
  package var isPartial = false
  package var markName = ""
  package var stackMode = "none"
  package var runIdentity: UInt64 = 0
  package var pauseNanoseconds: UInt64 = 0

  /// Of each so many bytes that the program asked for one, in the mean, is a sample; 0 where every birth is recorded.
  package var sampleInterval: UInt64 = 0

  package init() {}
}
