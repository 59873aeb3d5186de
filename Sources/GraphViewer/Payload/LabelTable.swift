// LabelTable: what the edges of the viewer's data are called.

internal import GraphPrimitives
internal import GraphReport
internal import SnapshotFormat

/// What the edges of the viewer's data are called; row 0 is an edge of which nothing is known.
struct LabelTable {
  private struct Label: Hashable {
    var name: UInt32
    var index: UInt32
    var via: UInt32
  }

  /// How an element without a position is written, and what the first position is.
  private static let anyElement: UInt32 = 1
  private static let firstElement: UInt32 = 2

  private var _rowByLabel: [Label: UInt32] = [:]

  /// For each label of the snapshot its row here, where it is the same for every edge: one for edges to
  /// closure contexts, which are called after the function, and one for all others.
  private var _rowBySource: [[UInt32?]]
  private var _name = ViewerColumn("label.name", .u32)
  private var _index = ViewerColumn("label.index", .u32)
  private var _via = ViewerColumn("label.via", .u32)

  init(_ snapshot: Snapshot) {
    let none = [UInt32?](repeating: nil, count: snapshot.labels.count)
    _rowBySource = [none, none]
    _ = row(of: Label(name: 0, index: 0, via: 0))
  }

  /// The row of an edge's label.
  mutating func row(
    of edge: EdgeIndex, from node: NodeIndex, names: Names, strings: inout StringPool
  ) -> UInt32 {
    let snapshot = names.snapshot
    let source = Int(snapshot.edges.label[edge.position])
    // What a capture is called depends on whose it is.
    if names.kind(of: node) == .closureContext, snapshot.isCapture(label: source) {
      return row(of: label(ofFunction: edge, from: node, names: names, strings: &strings))
    }
    let isContext =
      names.kind(of: NodeIndex(rawValue: snapshot.edges.target[edge.position])) == .closureContext
    if let row = _rowBySource[isContext ? 1 : 0][source] { return row }
    let label: Label
    let index = snapshot.labels.index[source]
    if snapshot.labels.function[source] != 0 || snapshot.isCapture(label: source) {
      label = self.label(ofFunction: edge, from: node, names: names, strings: &strings)
    } else {
      label = Label(
        name: strings.row(of: snapshot.strings[snapshot.labels.name[source]]),
        index: index == Snapshot.Labels.noIndex
          ? 0 : index == Snapshot.Labels.anyIndex ? Self.anyElement : index + Self.firstElement,
        via: 0)
    }
    let row = row(of: label)
    _rowBySource[isContext ? 1 : 0][source] = row
    return row
  }

  private func label(
    ofFunction edge: EdgeIndex, from node: NodeIndex, names: Names, strings: inout StringPool
  ) -> Label {
    let text = names.text(of: edge, from: node)
    return Label(name: strings.row(of: text.field), index: 0, via: strings.row(of: text.via))
  }

  private mutating func row(of label: Label) -> UInt32 {
    if let row = _rowByLabel[label] { return row }
    let row = UInt32(_rowByLabel.count)
    _rowByLabel[label] = row
    _name.append(label.name)
    _index.append(label.index)
    _via.append(label.via)
    return row
  }

  var columns: [ViewerColumn] { [_name, _index, _via] }
}
