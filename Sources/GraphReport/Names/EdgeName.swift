// EdgeName: an edge in words, as cuts name it and as a caller may name it.

package import GraphAnalysis
package import GraphPrimitives
internal import SnapshotFormat
internal import Symbolication

/// An edge, or a kind of edge, in words.
///
/// A cut names an edge so that it can be handed to `memgraph whatif`.
package struct EdgeName: Hashable, Sendable {
  /// What has the field: a type, a closure, a variable.
  package let holder: String

  /// The module of the holder's type; empty for none.
  package let module: String

  /// The path of fields, every index as `[_]`; empty for a variable itself.
  package private(set) var field: String

  /// The edge as reports show it: `App.Client.onChange`, `(closure #1 in App.Model.start()).self`.
  package private(set) var title: String

  /// The closure that the edge goes through where it has no context of its own.
  package let closure: String?

  /// The name of what that closure captures.
  package let capture: String

  /// What the edge leads to: the closure, or a type.
  package let target: String

  /// The type of the object at the end.
  package let targetType: String

  /// The edge and what it leads to: `App.Client.onChange -> closure #1 in App.Model.start()`.
  package var whole: String { title + " -> " + target }

  /// The edges that all words of the same memory are: `(malloc[64] in f).+*`, which can be asked for.
  var ofAllEntries: EdgeName {
    var name = self
    guard field.hasPrefix("+"), title.hasSuffix(field) else { return name }
    name.title.removeLast(field.count)
    name.field = "+*"
    name.title += name.field
    return name
  }

  /// A kind of edge.
  package init(_ kind: EdgeKind, names: Names) {
    switch kind.holder {
    case .node(let node):
      self.init(
        ReferenceStep(node: node, edges: kind.edges), reachedBy: nil, names: names, isFolded: true)
    case .root(let root):
      let name = names.root(root).name
      let start = NodeIndex(rawValue: names.snapshot.roots.target[root.position])
      let path = names.field(from: start, by: kind.edges)
      self.init(
        root: name, path: Self.folded(path), title: Self.folded(Names.join(name, path)),
        node: kind.edges.last.map { names.target(of: $0) } ?? start, edges: kind.edges, names: names
      )
    }
  }

  /// An edge of a cycle or path.
  ///
  /// - Parameters:
  ///   - leading: The edge by which the step's node is reached.
  ///   - isFolded: Whether to show every index as `[_]`.
  init(
    _ step: ReferenceStep, reachedBy leading: EdgeIndex?, names: Names, isFolded: Bool = false
  ) {
    var text = StepText.texts(of: [step], reachedBy: leading, names: names)[0]
    if isFolded { text.field = Self.folded(text.field) }
    let target = step.edges.last.map { names.target(of: $0) } ?? step.node
    let targetType = names.typeName(of: target, reachedBy: step.edges.last)
    holder = text.task == nil ? text.type : "Task"
    module = names.module(of: step.node)
    field =
      text.task == nil
      ? Self.folded(text.field)
      : text.field.split(separator: ".").drop { $0 == "slab" }.joined(separator: ".")
    closure = text.via?.shown
    capture = text.captured ?? "self"
    self.targetType = targetType
    // A field of a library's own, or of another closure, says nothing to who wrote the closure in it.
    if let closure, text.task == nil,
      text.isClosure || ToolchainModules.names.contains(module) || module.isEmpty
    {
      title = "(\(closure)).\(capture)"
      self.target = targetType
    } else {
      title = text.edge
      self.target = closure ?? targetType
    }
  }

  /// A reference as cuts name it, told by its step alone.
  package init(_ step: ReferenceStep, names: Names) {
    self.init(step, reachedBy: nil, names: names, isFolded: true)
  }

  /// The retain of a node that no reference explains.
  package init(retainOf node: NodeIndex, names: Names) {
    holder = Names.unexplainedRetain
    module = ""
    field = ""
    title = holder
    closure = nil
    capture = ""
    target = names.typeName(of: node)
    targetType = target
  }

  /// A registered resource as a whole: what closing it ends.
  package init(resource node: NodeIndex, names: Names) {
    holder = names.typeName(of: node)
    module = ""
    field = ""
    title = holder
    closure = nil
    capture = ""
    target = holder
    targetType = holder
  }

  /// A task as a whole.
  ///
  /// - Parameter field: What it is asked for by, with the dot before: `.closure`; what goes is all that it holds.
  package init(task node: NodeIndex, field: String = "", names: Names) {
    holder = "Task"
    module = ""
    self.field = String(field.drop { $0 == "." })
    title = (names.task(node)?.shown ?? "Task") + field
    closure = nil
    capture = ""
    target = "all that it holds"
    targetType = target
  }

  private init(
    root: String, path: String, title: String, node: NodeIndex, edges: [EdgeIndex], names: Names
  ) {
    holder = root
    module = ""
    field = path
    self.title = title
    closure = names.via(edges)?.shown
    capture = "self"
    targetType = names.typeName(of: node, reachedBy: edges.last)
    target = closure ?? targetType
  }

  /// An edge of a path whose first storage belongs to a variable.
  init(root: RootIndex, step: ReferenceStep, names: Names) {
    let name = names.root(root).name
    let path = names.field(from: step.node, by: step.edges)
    self.init(
      root: name, path: Self.folded(path), title: Self.folded(Names.join(name, path)),
      node: step.edges.last.map { names.target(of: $0) } ?? step.node, edges: step.edges,
      names: names)
  }

  /// A path of fields with every index as `[_]`; the number of a capture stays.
  package static func folded(_ path: String) -> String {
    guard path.contains("[") else { return path }
    var folded = ""
    var rest = path[...]
    while let open = rest.firstIndex(of: "["), let close = rest[open...].firstIndex(of: "]") {
      let inside = rest[rest.index(after: open)..<close]
      let isCapture = rest[..<open].hasSuffix("capture")
      let isIndex =
        inside.isEmpty || inside == "*" || inside.allSatisfy(\.isNumber)
        || inside.first == "\""
      folded += rest[..<open]
      folded += isIndex && !isCapture ? "[_]" : "[\(inside)]"
      rest = rest[rest.index(after: close)...]
    }
    return folded + rest
  }
}
