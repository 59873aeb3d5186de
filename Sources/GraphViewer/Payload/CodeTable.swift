// CodeTable: the functions on stacks and the stacks themselves, as columns of the viewer's data.

internal import GraphPrimitives
internal import GraphReport
internal import SnapshotFormat
internal import Symbolication

/// The frames of the viewer's data, and its stacks as a prefix tree of them.
struct CodeTable {
  private var _tree = CodeTree()

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
    let row = _tree.call(of: stack, names: names)
    // What the tree has learned by it goes into the columns.
    for frame in _tree.frames[_function.count...] { append(frame, &strings) }
    for call in _frame.count..<_tree.callers.count {
      _parent.append(UInt32(call) - _tree.callers[call])
      _frame.append(_tree.frameByCall[call])
    }
    return row
  }

  private mutating func append(_ frame: SourceFrame, _ strings: inout StringPool) {
    _function.append(strings.row(of: Names.sourceSpelling(of: frame.function)))
    _file.append(strings.row(of: frame.file ?? ""))
    _line.append(frame.line.map { max(0, min($0, Int(UInt32.max))) } ?? 0)
    _module.append(strings.row(of: frame.module ?? ""))
    _flags.append(
      byte: (frame.isInlined ? 1 : 0) | (OwnCode.isOwn(frame) ? 2 : 0)
        | (OwnCode.isAllocator(frame) ? 4 : 0))
  }

  var columns: [ViewerColumn] {
    [_function, _file, _line, _module, _flags, _parent, _frame]
  }
}
