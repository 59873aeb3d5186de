// Snapshot: what a capture found, as columns. docs/snapshot-format.md says how it lies in a file.

public import GraphPrimitives

/// One capture of a program's memory: nodes, edges, roots, and the tables that name them.
///
/// Rows of a table are named by position (`NodeIndex`, `LabelIndex`, ...). Nodes are in ascending
/// order of address; the edges of a node lie together, in the order in which its memory holds them.
/// A snapshot never changes, so any number of threads may read it.
///
/// - Invariant: `validate()` says what holds of every snapshot that was read from a file or made by a
///   capture. Loops over columns rely on it.
public struct Snapshot: Sendable {
  public var nodes: Nodes
  public var edges: Edges
  public var roots: Roots
  public var types: Types
  public var labels: Labels
  public var stacks: Stacks
  public var tasks: Tasks
  public var storage: Storage
  public var fields: Fields

  /// nil where every birth was recorded, or none.
  public var sampling: Sampling?
  public var modules: [Module]
  public var threads: [Thread]
  public var marks: [Mark]
  public var strings: StringTable
  public var process: ProcessFacts

  /// Names that the program gave to single nodes with `register(_:as:)`.
  public var nodeNames: [NodeIndex: StringIndex]

  /// What the capture could not do, each with the number of times: missing reflection data, threads
  /// that did not stop, stacks that were lost. Shown by every report that it matters to.
  public var diagnostics: [Diagnostic]

  /// The nodes, in ascending order of address.
  public struct Nodes: Sendable {
    /// Where each node starts; strictly ascending.
    public var address: Column<UInt64>

    /// Bytes as asked for from the allocator; `UInt32.max` stands for anything as large or larger.
    /// `bytes(_:)` knows the size of those too.
    public var size: Column<UInt32>

    /// Row in `types`.
    public var type: Column<UInt32>

    /// Row in `stacks`: where it was allocated; 0 for unknown.
    public var stack: Column<UInt32>

    /// The number of marks that had been taken when it was allocated.
    public var generation: Column<UInt16>

    /// A `NodeKind`.
    public var kind: Column<UInt8>

    /// A `NodeState`.
    public var state: Column<UInt8>

    /// The strong reference count from the header or side table, as the runtime means it: 1 for an
    /// object with one owner. `Nodes.uncounted` for nodes without a count (blocks, immortal objects).
    public var strongCount: Column<UInt32>

    /// The number of unowned references beyond the object's own; saturates at 65,535.
    public var unownedCount: Column<UInt16>

    /// The number of weak references, 0 without a side table; saturates at 65,535.
    public var weakCount: Column<UInt16>

    /// The nodes whose size did not fit into `size`, in ascending order.
    public var largeNode: Column<UInt32>

    /// The sizes of the nodes in `largeNode`.
    public var largeBytes: Column<UInt64>

    /// The strong count of a node that is not counted.
    public static let uncounted = UInt32.max

    public var count: Int { address.count }

    /// How many bytes a node takes, as they were asked for from the allocator.
    ///
    /// - Complexity: O(1) for nodes of less than 4 GiB, else O(log *k*) for *k* nodes as large as that.
    @inlinable
    public func bytes(_ row: Int) -> UInt64 {
      let bytes = size[row]
      return bytes == UInt32.max ? _largeBytes(row) : UInt64(bytes)
    }

    /// How many bytes a node takes, as they were asked for from the allocator.
    @inlinable
    public func bytes(_ node: NodeIndex) -> UInt64 { bytes(node.position) }

    /// The size of a node of 4 GiB or more.
    @usableFromInline
    internal func _largeBytes(_ row: Int) -> UInt64 {
      var low = 0
      var high = largeNode.count
      while low < high {
        let middle = (low + high) / 2
        if Int(largeNode[middle]) < row { low = middle + 1 } else { high = middle }
      }
      return low < largeNode.count && Int(largeNode[low]) == row
        ? largeBytes[low] : UInt64(UInt32.max)
    }

    public init(
      address: Column<UInt64>, size: Column<UInt32>, type: Column<UInt32>, stack: Column<UInt32>,
      generation: Column<UInt16>, kind: Column<UInt8>, state: Column<UInt8>,
      strongCount: Column<UInt32>, unownedCount: Column<UInt16>, weakCount: Column<UInt16>,
      largeNode: Column<UInt32> = Column(), largeBytes: Column<UInt64> = Column()
    ) {
      self.address = address
      self.size = size
      self.type = type
      self.stack = stack
      self.generation = generation
      self.kind = kind
      self.state = state
      self.strongCount = strongCount
      self.unownedCount = unownedCount
      self.weakCount = weakCount
      self.largeNode = largeNode
      self.largeBytes = largeBytes
    }
  }

  /// The edges, in compressed sparse row form: those of node *v* are rows
  /// `firstEdge[v] ..< firstEdge[v + 1]`.
  public struct Edges: Sendable {
    /// Where each node's edges start; `nodes.count + 1` rows, never descending, the last the number
    /// of edges.
    public var firstEdge: Column<UInt32>

    /// The node that an edge leads to.
    public var target: Column<UInt32>

    /// Row in `labels`: the field, capture or element.
    public var label: Column<UInt32>

    /// Strength in bits 0-3, provenance in bits 4-7; see `EdgeInfo`.
    public var info: Column<UInt8>

    public var count: Int { target.count }

    public init(
      firstEdge: Column<UInt32>, target: Column<UInt32>, label: Column<UInt32>, info: Column<UInt8>
    ) {
      self.firstEdge = firstEdge
      self.target = target
      self.label = label
      self.info = info
    }
  }

  /// References from outside the heap.
  public struct Roots: Sendable {
    /// A `RootKind`.
    public var kind: Column<UInt8>

    /// The node that is referred to.
    public var target: Column<UInt32>

    /// Strength and provenance, as for edges.
    public var info: Column<UInt8>

    /// Where the reference lies: a word of a module's data (symbolize it for the variable's name), of
    /// a stack or of thread-local data. 0 for a register.
    public var address: Column<UInt64>

    /// For stacks and registers the address of the code of the frame that holds it, 0 if unknown.
    public var pc: Column<UInt64>

    /// Row in `threads`, or `UInt32.max`.
    public var thread: Column<UInt32>

    /// Row in `labels`: the register, the path of fields within a global, or none.
    public var label: Column<UInt32>

    public var count: Int { target.count }

    public init(
      kind: Column<UInt8>, target: Column<UInt32>, info: Column<UInt8>, address: Column<UInt64>,
      pc: Column<UInt64>, thread: Column<UInt32>, label: Column<UInt32>
    ) {
      self.kind = kind
      self.target = target
      self.info = info
      self.address = address
      self.pc = pc
      self.thread = thread
      self.label = label
    }
  }

  /// The types of nodes. A node without a Swift type has a type row too: `malloc`, `resource`.
  public struct Types: Sendable {
    /// The name as people write it: module-qualified, demangled, generics written out, without
    /// private discriminators.
    public var name: Column<UInt32>

    /// The module that defines it; empty for none.
    public var module: Column<UInt32>

    public var count: Int { name.count }

    public init(name: Column<UInt32>, module: Column<UInt32>) {
      self.name = name
      self.module = module
    }
  }

  /// What edges are called. Row 0 has no name.
  public struct Labels: Sendable {
    /// The path of fields within the node, without the node's own type: `client.retry.handler`,
    /// `state.pending`, `render` for lazy storage, `self` for a capture. For container storage what
    /// follows the index. Empty for none.
    public var name: Column<UInt32>

    /// The position in an array that stands before the name (`[3].handler`), `Labels.noIndex` for
    /// none, `Labels.anyIndex` for a dictionary's or set's element (`[_]`). Under the name `capture`, or
    /// `capture.` and a path, the number of a closure's capture (`capture[0].handler`).
    public var index: Column<UInt32>

    /// For a closure: the function that the value calls, to be symbolized; 0 for none. Where the
    /// target is a context, that is the context's name; where it is an object (a closure that captures
    /// just one object has no context), the step goes through this function. Under the name `frame` the
    /// async function whose frame in a task's memory holds the reference, under `task-local` the
    /// address of the key.
    public var function: Column<UInt64>

    public static let noIndex = UInt32.max
    public static let anyIndex = UInt32.max - 1

    public var count: Int { name.count }

    public init(name: Column<UInt32>, index: Column<UInt32>, function: Column<UInt64>) {
      self.name = name
      self.index = index
      self.function = function
    }
  }

  /// The stacks of allocations, as a trie: a stack is a row, its caller the parent's row. Row 0 is the
  /// root, which has no frame.
  public struct Stacks: Sendable {
    /// The row of the caller; less than the row itself, except for row 0, which is its own parent.
    public var parent: Column<UInt32>

    /// The return address, as it was on the stack: symbolize the byte before it.
    public var pc: Column<UInt64>

    public var count: Int { parent.count }

    public init(parent: Column<UInt32>, pc: Column<UInt64>) {
      self.parent = parent
      self.pc = pc
    }
  }

  /// An executable or library that was loaded.
  public struct Module: Hashable, Sendable {
    public var path: String

    /// The build id in lowercase hexadecimal; empty where the file has none.
    public var buildID: String

    /// What must be added to an address in the file to get the address in memory.
    public var bias: UInt64

    /// The lowest address that the module occupies, and the first one past the highest.
    public var start: UInt64
    public var end: UInt64

    public init(path: String, buildID: String, bias: UInt64, start: UInt64, end: UInt64) {
      self.path = path
      self.buildID = buildID
      self.bias = bias
      self.start = start
      self.end = end
    }
  }

  /// A thread of the program.
  public struct Thread: Hashable, Sendable {
    public var id: UInt32
    public var name: String
    public var stackPointer: UInt64
    public var pc: UInt64

    public init(id: UInt32, name: String, stackPointer: UInt64, pc: UInt64) {
      self.id = id
      self.name = name
      self.stackPointer = stackPointer
      self.pc = pc
    }
  }

  /// A mark that was taken before this snapshot or with it.
  public struct Mark: Hashable, Sendable {
    public var name: String

    /// The generation that ended with the mark: objects of this generation or an earlier one had been
    /// born when it was taken.
    public var generation: UInt16

    /// Nanoseconds since boot.
    public var time: UInt64

    public init(name: String, generation: UInt16, time: UInt64) {
      self.name = name
      self.generation = generation
      self.time = time
    }
  }

  /// What is known of the process as a whole.
  public struct ProcessFacts: Hashable, Sendable {
    public var pid: UInt32

    /// The executable's path.
    public var executable: String

    /// The name of the mark that the snapshot was taken with; empty where it was taken otherwise.
    public var mark: String

    /// `twin`, `pid` or `core`.
    public var source: String

    /// Whether the agent recorded births, so that generations and stacks are known.
    public var hasAgent: Bool

    /// Whether blocks are missing: the agent started when the program was already running, or knows
    /// only what was registered. What holds an object may then be one of those.
    public var isPartial: Bool

    /// How stacks were taken: `full`, `fast` or `none`.
    public var stackMode: String

    /// Identifies the run: two snapshots with the same value are of the same process, so addresses
    /// and generations compare.
    public var runIdentity: UInt64

    /// Bytes by name: `resident`, `liveSwift`, `liveOther`, `heapSlack`, `mappedFiles`, `stacks`.
    public var memory: [String: UInt64]

    public init(
      pid: UInt32 = 0, executable: String = "", mark: String = "", source: String = "twin",
      hasAgent: Bool = true, isPartial: Bool = false, stackMode: String = "none",
      runIdentity: UInt64 = 0,
      memory: [String: UInt64] = [:]
    ) {
      self.pid = pid
      self.executable = executable
      self.mark = mark
      self.source = source
      self.hasAgent = hasAgent
      self.isPartial = isPartial
      self.stackMode = stackMode
      self.runIdentity = runIdentity
      self.memory = memory
    }
  }

  /// Something that a capture could not do.
  public struct Diagnostic: Hashable, Sendable {
    /// What, in a sentence without a full stop: `a thread did not stop; its registers are unknown`.
    public var text: String
    public var count: Int

    public init(text: String, count: Int) {
      self.text = text
      self.count = count
    }
  }

  public init(
    nodes: Nodes, edges: Edges, roots: Roots, types: Types, labels: Labels, stacks: Stacks,
    modules: [Module], threads: [Thread], marks: [Mark], strings: StringTable,
    process: ProcessFacts, nodeNames: [NodeIndex: StringIndex], diagnostics: [Diagnostic],
    tasks: Tasks = Tasks(), storage: Storage = Storage(), fields: Fields = Fields(),
    sampling: Sampling? = nil
  ) {
    self.nodes = nodes
    self.edges = edges
    self.roots = roots
    self.types = types
    self.labels = labels
    self.stacks = stacks
    self.tasks = tasks
    self.storage = storage
    self.fields = fields
    self.sampling = sampling
    self.modules = modules
    self.threads = threads
    self.marks = marks
    self.strings = strings
    self.process = process
    self.nodeNames = nodeNames
    self.diagnostics = diagnostics
  }
}

/// An edge's strength and provenance in one byte.
public struct EdgeInfo: Hashable, Sendable, BitwiseCopyable {
  public let rawValue: UInt8

  @inlinable
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  @inlinable
  public init(_ strength: EdgeStrength, _ provenance: EdgeProvenance) {
    rawValue = strength.rawValue | provenance.rawValue << 4
  }

  /// How strongly the edge holds; `validate()` has proved that the bits name a case.
  public var strength: EdgeStrength { EdgeStrength(rawValue: rawValue & 15) ?? .unmanaged }

  /// Where the edge comes from; `validate()` has proved that the bits name a case.
  public var provenance: EdgeProvenance { EdgeProvenance(rawValue: rawValue >> 4) ?? .scanned }

  @inlinable
  public var isStrong: Bool { rawValue & 15 == 0 }
}

extension Snapshot {
  /// Whether a label names a closure's capture by its number: `capture[2]`, not an element of an array.
  ///
  /// - Complexity: O(1); no text is made.
  public func isCapture(label row: Int) -> Bool {
    guard labels.index[row] < Labels.anyIndex else { return false }
    return _name(ofLabel: row, startsWith: "capture")
  }

  /// The function of the closure value that a label's edge is; 0 for none. The functions of a task's
  /// frames and the keys of its task-local values are no closures.
  ///
  /// - Complexity: O(1); no text is made.
  public func closureFunction(ofLabel row: Int) -> UInt64 {
    let function = labels.function[row]
    return function == 0 || isFrame(label: row) || isTaskLocal(label: row) ? 0 : function
  }

  /// Whether a label is of the frame of an async function in a task's memory.
  public func isFrame(label row: Int) -> Bool { _name(ofLabel: row, startsWith: "frame") }

  /// Whether a label is of a task-local value.
  public func isTaskLocal(label row: Int) -> Bool { _name(ofLabel: row, startsWith: "task-local") }

  /// Whether a label's name is a word, or a path that starts with it.
  private func _name(ofLabel row: Int, startsWith word: StaticString) -> Bool {
    let start = Int(strings.offset[Int(labels.name[row])])
    let end = Int(strings.offset[Int(labels.name[row]) + 1])
    let length = word.utf8CodeUnitCount
    guard end - start >= length else { return false }
    for place in 0..<length where strings.bytes[start + place] != word.utf8Start[place] {
      return false
    }
    return end - start == length || strings.bytes[start + length] == UInt8(ascii: ".")
  }
}
