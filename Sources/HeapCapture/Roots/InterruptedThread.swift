// InterruptedThread: what a thread holds beyond its stack where it was stopped in the middle of its code.

internal import SnapshotFormat

/// The words that a function uses between two calls only, of a thread that was stopped there.
///
/// Vector registers belong to nobody across a call, and the 128 bytes below the stack pointer (the *red zone*
/// of the System V calling convention for x86-64) are used by functions that call none. A thread that waits in a
/// system call has nothing in either but what is left over.
struct InterruptedThread {
  /// The words below the stack pointer.
  var redZone: Range<UInt64>

  /// The words of vector registers, each with its register's name.
  var vectorWords: [(name: String, word: UInt64)] = []

  private let _pc: UInt64

  /// - Returns: nil for a thread that waits in a system call, or whose registers are unknown.
  init?(_ thread: ThreadState, memory: TargetMemory) {
    guard thread.isStopped, !thread.vectorState.isEmpty, thread.stackPointer > 128,
      // A call that a signal has ended begins again where it stands; one that has not ended is over.
      !Self._isSystemCall(at: thread.pc, memory), !Self._isSystemCall(at: thread.pc &- 2, memory)
    else { return nil }
    _pc = thread.pc
    redZone = (thread.stackPointer - 128) & ~7..<thread.stackPointer & ~7
    for (index, word) in thread.vectorState.enumerated() where word != 0 {
      if let name = Self._name(ofByte: index * 8) { vectorWords.append((name, word)) }
    }
  }

  /// Takes the words as roots, where counts allow.
  func scan(_ resolver: inout WordResolver, labels: LabelTable, thread: UInt32) {
    for (name, word) in vectorWords {
      resolver.scanRegister(word, label: labels.label(name), pc: _pc, thread: thread)
    }
    resolver.scanRoots(redZone, kind: .stack, thread: thread, pc: { _ in _pc })
  }

  private static func _isSystemCall(at address: UInt64, _ memory: TargetMemory) -> Bool {
    memory.load(UInt16.self, at: address) == 0x050f
  }

  /// The register that a byte of the XSAVE area is of; nil for what holds no addresses.
  ///
  /// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 13.
  private static func _name(ofByte offset: Int) -> String? {
    switch offset {
    case 160..<416: "xmm\((offset - 160) / 16)"
    case 576..<832: "ymm\((offset - 576) / 16)"
    case 832...: "zmm"
    default: nil
    }
  }
}
