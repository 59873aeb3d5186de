// Names: what the rows of a snapshot are called in a report.

package import GraphAnalysis
package import GraphPrimitives
package import SnapshotFormat
package import Symbolication

/// Names a snapshot's rows: types, fields, roots, closures, allocation sites.
///
/// A closure context has no name of its own; it is called after the function of the edge that leads to
/// it. Not thread-safe, as the symbolizer is not.
package final class Names {
  package let snapshot: Snapshot
  private let _symbols: any Symbolizing
  private var _nameByType: [String?]
  private var _closureByFunction: [UInt64: ClosureName] = [:]
  private var _captures: [CapturesKey: [String]] = [:]
  private var _framesByPC: [UInt64: [SourceFrame]] = [:]

  /// The function of the first edge or root that leads to each closure context.
  private lazy var _functionByContext = Self.functionByContext(of: snapshot)

  /// The rows of the snapshot's tasks by their nodes.
  private(set) lazy var taskByNode = Self.taskByNode(of: snapshot)

  package init(_ snapshot: Snapshot, symbols: any Symbolizing) {
    self.snapshot = snapshot
    _symbols = symbols
    _nameByType = [String?](repeating: nil, count: snapshot.types.count)
  }

  // MARK: - Types

  /// A type's name as people write it in the source.
  package func name(of type: TypeIndex) -> String {
    if let name = _nameByType[type.position] { return name }
    let name = Names.sourceSpelling(of: snapshot.strings[snapshot.types.name[type.position]])
    _nameByType[type.position] = name
    return name
  }

  /// A name as reports write it, in every format: without the modules that come with the toolchain.
  package static func sourceSpelling(of name: String) -> String {
    ToolchainModules.sourceSpelling(of: name)
  }

  package func kind(of node: NodeIndex) -> NodeKind {
    NodeKind(rawValue: snapshot.nodes.kind[node.position]) ?? .block
  }

  /// What a node is called: the name that the program registered it under, for a closure context that
  /// of its function, else the name of its type.
  ///
  /// - Parameter edge: The edge that it is reached by, which tells the function; nil for any.
  package func typeName(of node: NodeIndex, reachedBy edge: EdgeIndex? = nil) -> String {
    if let row = snapshot.nodeNames[node] { return snapshot.strings[row] }
    if let closure = contextName(of: node, reachedBy: edge) { return closure.shown }
    let name = name(of: TypeIndex(rawValue: snapshot.nodes.type[node.position]))
    return name == Self.plainBlock ? blockName(of: node) : name
  }

  /// The type of a block of which nothing but its size is known.
  private static let plainBlock = "malloc block"

  /// A block without a type is called after its size and the function that asked for it:
  /// `malloc[120] in open_connection`.
  private func blockName(of node: NodeIndex) -> String {
    let size = "malloc[\(snapshot.nodes.bytes(node.position))]"
    guard snapshot.sampling == nil, let function = allocation(of: node).first?.function else {
      return size
    }
    return size + " in " + Self.plainFunction(function)
  }

  /// A function's name without what C++ adds to it: arguments of templates, parameters, what it returns. The
  /// runtime's own fill a page. Others are as they are.
  static func plainFunction(_ name: String) -> String {
    guard name.contains("::"), !name.contains("operator") else { return name }
    var plain = ""
    var depth = 0
    var rest = name[...]
    let anonymous = "(anonymous namespace)"
    while let character = rest.first {
      if depth == 0, rest.hasPrefix(anonymous) {
        plain += anonymous
        rest = rest.dropFirst(anonymous.count)
        continue
      }
      rest = rest.dropFirst()
      switch character {
      case "<", "(", "{", "[": depth += 1
      case ">", ")", "}", "]": depth = max(0, depth - 1)
      default: if depth == 0 { plain.append(character) }
      }
    }
    // What is returned stands before the name of a template, `const` behind that of a method.
    var words = plain.split(separator: " ").map(String.init)
    if let space = words.firstIndex(where: { $0.hasSuffix("(anonymous") }), space + 1 < words.count
    {
      words[space] += " " + words.remove(at: space + 1)
    }
    return words.last { $0.contains("::") } ?? (words.count == 1 ? words[0] : name)
  }

  /// Whether a reference that no type declares is known all the same, by the layout of the C library
  /// whose object holds it: a block's capture, a field of a run loop.
  package func isKnown(_ edge: EdgeIndex, from holder: NodeIndex) -> Bool {
    switch kind(of: holder) {
    case .cBlock, .coreFoundation, .cStorage, .block:
      let label = Int(snapshot.edges.label[edge.position])
      let name = snapshot.strings[snapshot.labels.name[label]]
      if name.isEmpty {
        return snapshot.labels.index[label] != Snapshot.Labels.noIndex || isFolded(holder)
      }
      return !name.hasPrefix("+")
    default:
      return false
    }
  }

  /// Whether a step passes a reference that is only a word that may be one.
  package func isUnsure(_ step: ReferenceStep) -> Bool {
    zip(step.edges, [step.node] + step.edges.map { target(of: $0) }).contains { edge, holder in
      info(of: edge).provenance == .scanned && !isKnown(edge, from: holder)
    }
  }

  /// The function that a closure context belongs to; nil for other nodes and where it is not known.
  package func contextName(of node: NodeIndex, reachedBy edge: EdgeIndex? = nil) -> ClosureName? {
    guard kind(of: node) == .closureContext else { return nil }
    return functionOfContext(node, reachedBy: edge).map { closure(at: $0) }
  }

  private func functionOfContext(_ node: NodeIndex, reachedBy edge: EdgeIndex?) -> UInt64? {
    let known = edge.map { function(of: $0) } ?? 0
    return known != 0 ? known : _functionByContext[node.rawValue]
  }

  package func module(of node: NodeIndex) -> String {
    snapshot.strings[snapshot.types.module[Int(snapshot.nodes.type[node.position])]]
  }

  package func address(of node: NodeIndex) -> Address {
    Address(snapshot.nodes.address[node.position])
  }

  // MARK: - Edges

  package func target(of edge: EdgeIndex) -> NodeIndex {
    NodeIndex(rawValue: snapshot.edges.target[edge.position])
  }

  /// The node that an edge leaves.
  ///
  /// - Complexity: O(log *V*).
  package func source(of edge: EdgeIndex) -> NodeIndex {
    var low = 0
    var high = snapshot.nodes.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if snapshot.edges.firstEdge[middle] <= edge.rawValue { low = middle } else { high = middle }
    }
    return NodeIndex(low)
  }

  package func info(of edge: EdgeIndex) -> EdgeInfo {
    EdgeInfo(rawValue: snapshot.edges.info[edge.position])
  }

  /// Whether an edge leads to an element of a container.
  func isElement(_ edge: EdgeIndex) -> Bool {
    let label = Int(snapshot.edges.label[edge.position])
    return snapshot.labels.index[label] != Snapshot.Labels.noIndex
      && !snapshot.isCapture(label: label)
  }

  /// How the place of an edge is declared; `.variable` where nothing is known of it.
  package func declaration(of edge: EdgeIndex) -> FieldDeclaration {
    if snapshot.fields.rowCount == 0 { return .variable }
    return snapshot.declaration(
      ofType: snapshot.nodes.type[source(of: edge).position],
      name: snapshot.labels.name[Int(snapshot.edges.label[edge.position])])
  }

  /// The function of the closure value that an edge is; 0 for other edges.
  package func function(of edge: EdgeIndex) -> UInt64 {
    snapshot.closureFunction(ofLabel: Int(snapshot.edges.label[edge.position]))
  }

  /// The path of fields by which a node holds the end of a run of edges: `channels[2].handler`. Empty
  /// where nothing is known of it.
  ///
  /// - Parameters:
  ///   - node: The node that holds.
  ///   - edges: From it on; more than one where storage or boxes between are folded.
  ///   - leading: The edge that the node itself was reached by, which tells whose captures a closure
  ///     context holds; nil for any.
  package func field(
    from node: NodeIndex, by edges: [EdgeIndex], reachedBy leading: EdgeIndex? = nil
  ) -> String {
    var path = ""
    var holder = node
    var leading = leading
    for edge in edges {
      let label = LabelIndex(rawValue: snapshot.edges.label[edge.position])
      Self.append(text(of: label, captures: captures(of: holder, reachedBy: leading)), to: &path)
      holder = target(of: edge)
      leading = edge
    }
    return path
  }

  /// The names of what a closure context holds, in order; nil for what is no context.
  private func captures(of node: NodeIndex, reachedBy edge: EdgeIndex?) -> [String]? {
    guard kind(of: node) == .closureContext else { return nil }
    guard let function = functionOfContext(node, reachedBy: edge) else { return [] }
    let bytes = snapshot.nodes.bytes(node.position)
    let names = captureNames(
      of: function,
      in: bytes > Self.headerBytes ? ContextSize(bytes: bytes - Self.headerBytes) : nil)
    // With more captures than names it is not known which of them have one.
    let first = Int(snapshot.edges.firstEdge[node.position])
    let end = Int(snapshot.edges.firstEdge[node.position + 1])
    let hasMore = (first..<end).contains { row in
      let label = Int(snapshot.edges.label[row])
      return snapshot.isCapture(label: label) && Int(snapshot.labels.index[label]) >= names.count
    }
    return hasMore ? [] : names
  }

  /// The metadata and the counts in front of what an object or a context has.
  private static let headerBytes: UInt64 = 16

  /// The names of what a closure captures, in order; empty where they are not known.
  ///
  /// - Parameter context: The size of its context; nil for a closure without one, which captures one object.
  package func captureNames(of function: UInt64, in context: ContextSize?) -> [String] {
    let key = CapturesKey(function: function, context: context)
    if let names = _captures[key] { return names }
    let names = _symbols.captureNames(of: function, in: context)
    _captures[key] = names
    return names
  }

  private struct CapturesKey: Hashable {
    var function: UInt64
    var context: ContextSize?
  }

  /// The function that a step goes through without stopping at a context: a closure that captures a
  /// single object has none.
  package func via(_ edges: [EdgeIndex]) -> ClosureName? {
    viaFunction(edges).map { closure(at: $0) }
  }

  /// The function of `via(_:)`.
  package func viaFunction(_ edges: [EdgeIndex]) -> UInt64? {
    let edge = edges.last { function(of: $0) != 0 && kind(of: target(of: $0)) != .closureContext }
    return edge.map { function(of: $0) }
  }

  /// A label as text.
  ///
  /// - Parameter captures: The names of a closure's captures where the label is one of its context.
  private func text(of label: LabelIndex, captures: [String]? = nil) -> String {
    let name = snapshot.strings[snapshot.labels.name[label.position]]
    let index = snapshot.labels.index[label.position]
    switch index {
    case Snapshot.Labels.noIndex: return name
    case Snapshot.Labels.anyIndex: return Self.join("[_]", name)
    default:
      // Captures have no names in the metadata, just their place, which stands after the word.
      if snapshot.isCapture(label: label.position) {
        let place = Int(index)
        let known = captures.flatMap { $0.indices.contains(place) ? $0[place] : nil } ?? ""
        return (known.isEmpty ? "capture[\(index)]" : known) + name.dropFirst("capture".count)
      }
      return Self.join("[\(index)]", name)
    }
  }

  /// A path of fields with each index as `[_]`.
  package static func foldingIndices(_ field: String) -> String {
    let parts = field.split(separator: "[", omittingEmptySubsequences: false)
    var folded = String(parts[0])
    for part in parts.dropFirst() {
      let digits = part.prefix { $0.isASCII && $0.isNumber }
      // A capture's number is its name.
      let isIndex =
        !digits.isEmpty && part.dropFirst(digits.count).first == "]"
        && !folded.hasSuffix("capture")
      folded += "[" + (isIndex ? "_" + part.dropFirst(digits.count) : part)
    }
    return folded
  }

  /// A line with each index as `[_]`.
  static func foldingIndices(_ line: Line) -> Line {
    Line(line.runs.map { Run(foldingIndices($0.text), $0.role) })
  }

  /// Adds a path of fields to another.
  static func append(_ part: String, to path: inout String) {
    if !path.isEmpty, !part.isEmpty, !part.hasPrefix("[") { path += "." }
    path += part
  }

  /// Two paths of fields as one.
  static func join(_ path: String, _ part: String) -> String {
    if path.isEmpty || part.isEmpty || part.hasPrefix("[") { return path + part }
    return path + "." + part
  }

  /// Whether paths fold a node into the field that holds it: the storage of a collection, a box.
  package func isFolded(_ node: NodeIndex) -> Bool {
    switch kind(of: node) {
    case .storage, .box, .cStorage: true
    default: false
    }
  }

  // MARK: - Code

  /// What a closure value's function is.
  package func closure(at function: UInt64) -> ClosureName {
    if let name = _closureByFunction[function] { return name }
    let name = _symbols.closure(at: function)
    _closureByFunction[function] = name
    return name
  }

  /// The functions at a return address, innermost first.
  package func frames(at pc: UInt64) -> [SourceFrame] {
    if let frames = _framesByPC[pc] { return frames }
    let frames = _symbols.frames(atReturnAddress: pc)
    _framesByPC[pc] = frames
    return frames
  }

  /// The functions of a stack, innermost first, without those that do nothing but allocate.
  package func frames(of stack: StackIndex) -> [SourceFrame] {
    var frames: [SourceFrame] = []
    var row = stack.position
    while row != 0 {
      frames += self.frames(at: snapshot.stacks.pc[row])
      row = Int(snapshot.stacks.parent[row])
    }
    let start = frames.firstIndex { !OwnCode.isAllocator($0) } ?? 0
    return Array(frames[start...])
  }

  /// Where a node was allocated, innermost function first; empty where that was not recorded.
  package func allocation(of node: NodeIndex) -> [SourceFrame] {
    frames(of: StackIndex(rawValue: snapshot.nodes.stack[node.position]))
  }

  /// Where one of some nodes was allocated: the first where all births are known, else the place of most samples.
  ///
  /// - Returns: The frames, innermost first, and where allocations were sampled how many samples there are and how
  ///   many of them were allocated there.
  package func allocation(
    ofAnyOf nodes: [NodeIndex], first: NodeIndex
  ) -> (frames: [SourceFrame], samples: (there: Int, all: Int)?) {
    guard snapshot.sampling != nil else { return (allocation(of: first), nil) }
    var countByStack: [UInt32: Int] = [:]
    for node in nodes where snapshot.knowsBirth(of: node) {
      countByStack[snapshot.nodes.stack[node.position], default: 0] += 1
    }
    let all = countByStack.reduce(0) { $0 + $1.value }
    let most = countByStack.filter { $0.key != 0 }.max {
      ($0.value, $1.key) < ($1.value, $0.key)
    }
    guard let most else { return ([], (0, all)) }
    return (frames(of: StackIndex(rawValue: most.key)), (most.value, all))
  }

  /// The frame that a reader wants to see first: the program's own code that asked for an object, not
  /// the initializer of the object itself.
  package static func site(in frames: [SourceFrame], type: String) -> SourceFrame? {
    let own = frames.filter(OwnCode.isOwn)
    let plain = type.prefix { $0 != "<" }
    return own.first {
      !$0.function.hasPrefix(plain + ".init(")
        && !$0.function.hasPrefix(plain + ".__allocating_init(")
    } ?? own.first ?? frames.first
  }

  /// What the symbolizer could not do so far.
  package var symbolDiagnostics: [Snapshot.Diagnostic] {
    _symbols.diagnostics.sorted { $0.key < $1.key }.map {
      Snapshot.Diagnostic(text: $0.key, count: $0.value)
    }
  }

  // MARK: - Roots

  /// What a root is, and what it is called.
  package func root(_ root: RootIndex) -> (kind: String, name: String) {
    let roots = snapshot.roots
    let row = root.position
    let kind = RootKind(rawValue: roots.kind[row]) ?? .runtime
    let label = text(of: LabelIndex(rawValue: roots.label[row]))
    return (kind.name, name(of: kind, row: row, label: label))
  }

  private func name(of kind: RootKind, row: Int, label: String) -> String {
    let roots = snapshot.roots
    switch kind {
    case .global:
      return Self.join(variable(at: roots.address[row], hasLabel: !label.isEmpty), label)
    case .stack where roots.thread[row] == UInt32.max:
      return "main thread, which has ended"
    case .stack:
      return thread(roots.thread[row]) + location(roots.pc[row])
    case .register:
      let register = label.isEmpty ? "a register" : "register " + label
      return register + " of " + thread(roots.thread[row]) + location(roots.pc[row])
    case .threadLocal:
      let variable = roots.address[row] == 0 ? nil : _symbols.variable(at: roots.address[row])?.name
      return Self.join(
        variable.map { Self.sourceSpelling(of: $0) } ?? "thread-local data", label) + " of "
        + thread(roots.thread[row])
    case .task:
      return (label.isEmpty ? "Task" : "Task " + label) + location(roots.pc[row])
    case .declared:
      return label.isEmpty ? "registered by the program" : label
    case .runtime:
      return label.isEmpty ? "the Swift runtime" : label
    case .mapped:
      return "mapped memory at \(Address(roots.address[row]))"
    }
  }

  /// A variable by its address, or the place in its module.
  private func variable(at address: UInt64, hasLabel: Bool) -> String {
    if let variable = _symbols.variable(at: address) {
      // The path of fields says where within the variable it is better than a number of bytes does.
      return Self.sourceSpelling(of: variable.name)
        + (variable.offset == 0 || hasLabel ? "" : "+\(variable.offset)")
    }
    if let module = snapshot.modules.first(where: { $0.start <= address && address < $0.end }) {
      let file = module.path.split(separator: "/").last.map(String.init) ?? module.path
      return file + "+0x" + String(address &- module.start, radix: 16)
    }
    return Address(address).description
  }

  private func thread(_ row: UInt32) -> String {
    guard row != UInt32.max, Int(row) < snapshot.threads.count else { return "a thread" }
    let thread = snapshot.threads[Int(row)]
    if thread.id == snapshot.process.pid { return "main thread" }
    return "thread \(thread.id)" + (thread.name.isEmpty ? "" : " \"\(thread.name)\"")
  }

  private func location(_ pc: UInt64) -> String {
    pc == 0 ? "" : " in " + (frames(at: pc).first?.name ?? Address(pc).description)
  }

  // MARK: - Generations

  /// The name of the mark that ended a generation; `after NAME` for objects born after the last mark;
  /// nil where there are no marks.
  package func generation(_ generation: UInt16) -> String? {
    if let mark = snapshot.marks.first(where: { $0.generation >= generation }) { return mark.name }
    return snapshot.marks.last.map { "after " + $0.name }
  }

  /// How many of some nodes were born in each generation, the oldest first; nothing without marks.
  ///
  /// - Returns: The counts, and how many nodes of known birth they are of. Where allocations were sampled the counts
  ///   are estimates: the nodes' number is known, so they are the shares of it that the samples have.
  package func births(
    of nodes: some Sequence<NodeIndex>
  ) -> (counts: [(name: String, count: Int)], known: Int) {
    guard snapshot.process.hasAgent, !snapshot.marks.isEmpty else { return ([], 0) }
    var counts: [UInt16: Double] = [:]
    var known = 0
    var all = 0
    for node in nodes {
      all += 1
      let weight = snapshot.birthWeight(of: node)
      if weight == 0 { continue }
      counts[snapshot.nodes.generation[node.position], default: 0] += weight
      known += 1
    }
    let sum = counts.values.reduce(0, +)
    let scale = snapshot.sampling == nil || sum == 0 ? 1 : Double(all) / sum
    return (
      counts.sorted { $0.key < $1.key }.map {
        (generation($0.key) ?? "", Int(($0.value * scale).rounded()))
      },
      known
    )
  }

  /// The name of the generation that a node was born in; nil where that is unknown.
  package func generation(of node: NodeIndex) -> String? {
    snapshot.knowsBirth(of: node) ? generation(snapshot.nodes.generation[node.position]) : nil
  }

  // MARK: -

  private static func functionByContext(of snapshot: Snapshot) -> [UInt32: UInt64] {
    var functions: [UInt32: UInt64] = [:]
    let named = Set(
      snapshot.labels.function.indices.filter { snapshot.closureFunction(ofLabel: $0) != 0 })
    guard !named.isEmpty else { return functions }
    func add(_ label: UInt32, to target: UInt32) {
      let function = snapshot.closureFunction(ofLabel: Int(label))
      guard function != 0,
        snapshot.nodes.kind[Int(target)] == NodeKind.closureContext.rawValue
      else { return }
      if functions[target] == nil { functions[target] = function }
    }
    for edge in 0..<snapshot.edges.count {
      add(snapshot.edges.label[edge], to: snapshot.edges.target[edge])
    }
    for root in 0..<snapshot.roots.count {
      add(snapshot.roots.label[root], to: snapshot.roots.target[root])
    }
    return functions
  }
}

extension ClosureName {
  /// The function as a report shows it: `closure #1 in App.Model.start()`, `method App.Model.handle(_:)`.
  package var shown: String {
    let name = Names.sourceSpelling(of: name)
    return switch kind {
    case .methodReference: "method " + name
    case .closure, .thunk, .function: name
    }
  }
}

extension RootKind {
  /// The kind as reports write it.
  package var name: String {
    switch self {
    case .global: "global"
    case .stack: "stack"
    case .register: "register"
    case .threadLocal: "threadLocal"
    case .task: "task"
    case .declared: "declared"
    case .runtime: "runtime"
    case .mapped: "mapped"
    }
  }
}

extension EdgeStrength {
  /// The strength as reports write it.
  package var name: String {
    switch self {
    case .strong: "strong"
    case .weak: "weak"
    case .unowned: "unowned"
    case .unmanaged: "unmanaged"
    }
  }
}

extension EdgeProvenance {
  /// The provenance as reports write it.
  package var name: String {
    switch self {
    case .declared: "declared"
    case .reflected: "reflected"
    case .scanned: "scanned"
    }
  }
}
