// CodeTable: the functions on stacks and the stacks themselves, named.

internal import GraphPrimitives
internal import GraphReport
internal import SnapshotFormat
internal import Symbolication

/// The frames of the viewer's data, and its stacks as a prefix tree of them.
///
/// One return address may be several frames, since inlined functions are frames too, so the tree has rows
/// of its own.
struct CodeTable {
  private var _rowByFrame: [SourceFrame: UInt32] = [:]
  private var _framesByPC: [UInt64: [UInt32]] = [:]
  private var _rowByCall: [UInt64: UInt32] = [:]
  private var _rowByStack: [UInt32: UInt32] = [0: 0]

  private var _function = ViewerColumn("frame.function", .u32)
  private var _file = ViewerColumn("frame.file", .u32)
  private var _line = ViewerColumn("frame.line", .u32)
  private var _module = ViewerColumn("frame.module", .u32)
  private var _flags = ViewerColumn("frame.flags", .bytes)
  private var _parent = ViewerColumn("stack.parent", .u32)
  private var _frame = ViewerColumn("stack.frame", .u32)

  init() {
    for column in [\CodeTable._function, \._file, \._line, \._module, \._parent, \._frame] {
      self[keyPath: column].append(UInt32(0))
    }
    _flags.append(byte: 0)
  }

  /// The row of one of the snapshot's stacks.
  mutating func row(of stack: StackIndex, names: Names, strings: inout StringPool) -> UInt32 {
    if let row = _rowByStack[stack.rawValue] { return row }
    let stacks = names.snapshot.stacks
    // Outwards to what is known, then inwards again.
    var unknown: [UInt32] = []
    var row = stack.rawValue
    while _rowByStack[row] == nil {
      unknown.append(row)
      row = stacks.parent[Int(row)]
    }
    var caller = _rowByStack[row] ?? 0
    for row in unknown.reversed() {
      for frame in frames(at: stacks.pc[Int(row)], names: names, strings: &strings) {
        caller = call(of: frame, from: caller)
      }
      _rowByStack[row] = caller
    }
    return caller
  }

  /// The frames at a return address, the outermost first.
  private mutating func frames(
    at pc: UInt64, names: Names, strings: inout StringPool
  ) -> [UInt32] {
    if let rows = _framesByPC[pc] { return rows }
    var rows: [UInt32] = []
    for frame in names.frames(at: pc).reversed() { rows.append(row(of: frame, &strings)) }
    _framesByPC[pc] = rows
    return rows
  }

  private mutating func row(of frame: SourceFrame, _ strings: inout StringPool) -> UInt32 {
    if let row = _rowByFrame[frame] { return row }
    let row = UInt32(_function.count)
    _rowByFrame[frame] = row
    _function.append(strings.row(of: Names.sourceSpelling(of: frame.function)))
    _file.append(strings.row(of: frame.file ?? ""))
    _line.append(frame.line.map { max(0, min($0, Int(UInt32.max))) } ?? 0)
    _module.append(strings.row(of: frame.module ?? ""))
    _flags.append(
      byte: (frame.isInlined ? 1 : 0) | (OwnCode.isOwn(frame) ? 2 : 0)
        | (OwnCode.isAllocator(frame) ? 4 : 0))
    return row
  }

  private mutating func call(of frame: UInt32, from caller: UInt32) -> UInt32 {
    let key = UInt64(caller) << 32 | UInt64(frame)
    if let row = _rowByCall[key] { return row }
    let row = UInt32(_frame.count)
    _rowByCall[key] = row
    _parent.append(row - caller)
    _frame.append(frame)
    return row
  }

  var columns: [ViewerColumn] {
    [_function, _file, _line, _module, _flags, _parent, _frame]
  }
}
