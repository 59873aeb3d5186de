// TypeTable: what the nodes of the viewer's data are called, and what is alive under each name.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat
internal import Symbolication

/// What the nodes of the viewer's data are called.
///
/// A closure context has its function's name here, a registered object the one that it was registered
/// under; reports count the first under the name of its type.
struct TypeTable {
  private struct Name: Hashable {
    var name: UInt32
    var module: UInt32
    var report: UInt32
  }

  private let _graph: HeapGraph
  private let _names: Names
  private let _reportByName: [String: UInt32]
  private var _rowByType: [UInt32?]
  private var _rowByName: [Name: UInt32] = [:]
  private var _name = ViewerColumn("type.name", .u32)
  private var _module = ViewerColumn("type.module", .u32)
  private var _report = ViewerColumn("type.report", .u32)
  private var _flags = ViewerColumn("type.flags", .bytes)

  /// - Parameter reportByName: The row of each name under which reports count, as reports write it.
  init(_ graph: HeapGraph, names: Names, reportByName: [String: UInt32]) {
    _graph = graph
    _names = names
    _reportByName = reportByName
    _rowByType = [UInt32?](repeating: nil, count: graph.snapshot.types.count)
  }

  /// The row of a node's name.
  mutating func row(of node: NodeIndex, strings: inout StringPool) -> UInt32 {
    if _graph.snapshot.nodeNames[node] != nil {
      let name = _graph.typeName(of: node)
      return row(name, module: _graph.module(of: node), report: name, isOwn: true, &strings)
    }
    let report = _graph.name(of: _graph.type(of: node))
    if let closure = _names.contextName(of: node) {
      let frame = SourceFrame(
        function: closure.name, file: closure.file, line: closure.line, module: closure.module,
        isInlined: false)
      return row(
        closure.shown, module: closure.module ?? "", report: report, isOwn: OwnCode.isOwn(frame),
        &strings)
    }
    let type = _graph.type(of: node).position
    if let row = _rowByType[type] { return row }
    let row = row(
      report, module: _graph.module(of: node), report: report, isOwn: _graph.isOfProgram(node),
      &strings)
    _rowByType[type] = row
    return row
  }

  private mutating func row(
    _ name: String, module: String, report: String, isOwn: Bool, _ strings: inout StringPool
  ) -> UInt32 {
    let key = Name(
      name: strings.row(of: Names.sourceSpelling(of: name)), module: strings.row(of: module),
      report: _reportByName[Names.sourceSpelling(of: report)] ?? 0)
    if let row = _rowByName[key] { return row }
    let row = UInt32(_rowByName.count)
    _rowByName[key] = row
    _name.append(key.name)
    _module.append(key.module)
    _report.append(key.report)
    _flags.append(byte: isOwn ? 1 : 0)
    return row
  }

  var columns: [ViewerColumn] { [_name, _module, _report, _flags] }
}
