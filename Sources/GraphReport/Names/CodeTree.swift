// CodeTree: the functions on stacks, each once, and the stacks as a tree of calls.

package import GraphPrimitives
internal import SnapshotFormat
package import Symbolication

/// The frames of stacks, and the stacks as a prefix tree of them.
///
/// One return address may be several frames, since inlined functions are frames too, so the tree has rows of its own. Row 0
/// of both tables stands for nothing: no frame, an unknown stack. Several snapshots can share a tree.
package struct CodeTree {
  /// The frames in the order in which they were met; row 0 has no name.
  package private(set) var frames = [
    SourceFrame(function: "", file: nil, line: nil, module: nil, isInlined: false)
  ]

  /// The caller of each call, which has a lower number; 0 for the outermost.
  package private(set) var callers: [UInt32] = [0]

  /// The row of `frames` of each call.
  package private(set) var frameByCall: [UInt32] = [0]

  private var _rowByFrame: [SourceFrame: UInt32] = [:]
  private var _framesByPC: [UInt64: [UInt32]] = [:]
  private var _callByKey: [UInt64: UInt32] = [:]
  private var _callByStack: [UInt32: UInt32] = [0: 0]

  package init() {}

  /// Forgets which stacks and addresses are which, but not the tree: what follows is of another snapshot.
  package mutating func startSnapshot() {
    _framesByPC = [:]
    _callByStack = [0: 0]
  }

  /// The innermost call of one of a snapshot's stacks; 0 where it is unknown.
  ///
  /// - Complexity: O(1) for a stack that was asked for before, else O(its frames).
  package mutating func call(of stack: StackIndex, names: Names) -> UInt32 {
    if let call = _callByStack[stack.rawValue] { return call }
    let stacks = names.snapshot.stacks
    // Outwards to what is known, then inwards again.
    var unknown: [UInt32] = []
    var row = stack.rawValue
    while _callByStack[row] == nil {
      unknown.append(row)
      row = stacks.parent[Int(row)]
    }
    var caller = _callByStack[row] ?? 0
    for row in unknown.reversed() {
      for frame in frames(at: stacks.pc[Int(row)], names: names) {
        caller = call(of: frame, from: caller)
      }
      _callByStack[row] = caller
    }
    return caller
  }

  /// For each call the one that a reader wants to see instead: itself, or its caller where its function does nothing but
  /// allocate.
  ///
  /// - Complexity: O(calls).
  package func callsWithoutAllocators() -> [UInt32] {
    let isAllocator = frames.map { OwnCode.isAllocator($0) }
    var calls: [UInt32] = []
    calls.reserveCapacity(callers.count)
    for call in callers.indices {
      let caller = callers[call]
      // A stack that is nothing else keeps its outermost frame. Callers come before what they call.
      calls.append(
        call != 0 && caller != 0 && isAllocator[Int(frameByCall[call])]
          ? calls[Int(caller)] : UInt32(call))
    }
    return calls
  }

  /// The frames at a return address, the outermost first.
  private mutating func frames(at pc: UInt64, names: Names) -> [UInt32] {
    if let rows = _framesByPC[pc] { return rows }
    var rows: [UInt32] = []
    for frame in names.frames(at: pc).reversed() { rows.append(row(of: frame)) }
    _framesByPC[pc] = rows
    return rows
  }

  private mutating func row(of frame: SourceFrame) -> UInt32 {
    if let row = _rowByFrame[frame] { return row }
    let row = UInt32(frames.count)
    _rowByFrame[frame] = row
    frames.append(frame)
    return row
  }

  private mutating func call(of frame: UInt32, from caller: UInt32) -> UInt32 {
    let key = UInt64(caller) << 32 | UInt64(frame)
    if let call = _callByKey[key] { return call }
    let call = UInt32(callers.count)
    _callByKey[key] = call
    callers.append(caller)
    frameByCall.append(frame)
    return call
  }
}
