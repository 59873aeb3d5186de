// Findings: what an analysis says, as values. They name rows of a snapshot; a report turns them into
// words.

public import GraphPrimitives

/// One reference on a cycle or path: *this node, by this edge, holds the next*.
public struct ReferenceStep: Hashable, Sendable {
  /// The node that holds.
  public var node: NodeIndex

  /// The edges from it to the node of the next step, more than one where container storage between
  /// them was folded: the edge to the storage, then the storage's edge to the element.
  public var edges: [EdgeIndex]

  public init(node: NodeIndex, edges: [EdgeIndex]) {
    self.node = node
    self.edges = edges
  }
}

/// A way from a root to a node. The last step's edges lead to `target`; a node that a root refers to
/// directly has no step.
///
/// Container storage and boxes are folded into the step before; where a root refers to the storage
/// itself, as a global array does, the storage is the first step's node.
public struct RetainPath: Hashable, Sendable {
  public var root: RootIndex
  public var steps: [ReferenceStep]
  public var target: NodeIndex

  public init(root: RootIndex, steps: [ReferenceStep], target: NodeIndex) {
    self.root = root
    self.steps = steps
    self.target = target
  }
}

/// An edge that, made weak or cleared, lets objects go.
public struct CutProposal: Hashable, Sendable {
  /// The step of the finding's cycle or path whose edge is to be cut. A step without edges stands for a
  /// retain that nothing in memory explains.
  public var step: ReferenceStep

  /// What has to be cut as well, since the objects are held in more than one way; mostly empty.
  public var together: [Part]

  /// What would be freed by all of it in all members of the finding, computed by reference counting.
  public var frees: Cost

  /// What that is, where the proposal is the best of its finding; empty for others.
  public var freed: [NodeIndex] = []

  /// What to write in the source.
  public var advice: Advice

  /// Why this edge rather than another.
  public var reason: Reason

  /// What would stay behind, leaked: elements of a plain `ManagedBuffer` that goes.
  public var leftBehind: Cost

  /// What else holds the objects where all of it frees none of them; those with the most references first.
  public var otherHolders: [OtherHolder]

  /// One of several edges that have to be cut together.
  public struct Part: Hashable, Sendable {
    public var step: ReferenceStep
    public var advice: Advice
    public var reason: Reason

    public init(step: ReferenceStep, advice: Advice, reason: Reason = .none) {
      self.step = step
      self.advice = advice
      self.reason = reason
    }
  }

  /// What to write in the source, which a report puts into words.
  public enum Advice: Hashable, Sendable {
    /// A closure captures the object: `capture [weak self]`. Whether the closure is one in the source or
    /// a method that was passed as a function, only its symbol tells: a report that knows the symbol
    /// turns this into `methodReference`.
    case captureWeakly

    /// A method was passed as a function: it captures self unseen. The graph alone never says so.
    case methodReference

    /// A closure calls itself through the variable that holds it: make it a local function.
    case makeLocalFunction

    /// A stored property that looks like a back reference or a delegate: make it weak.
    case makeWeak

    /// An unowned reference keeps the memory of a destroyed object: weak keeps a few bytes.
    case makeWeakNotUnowned

    /// A registered resource holds its owner or is held: `close()` before release.
    case closeResource

    /// A repeating timer: invalidate it when the work ends, not in `deinit`, and capture weakly, since on
    /// Linux an invalidated timer keeps its closure.
    case invalidateTimer

    /// An observer of NotificationCenter: remove it when the work ends, not in `deinit`.
    case removeObserver

    /// A source of libdispatch keeps itself and its handler until it is cancelled: cancel it and capture weakly.
    case cancelSource

    /// A container of closures that lives longer than what they capture: take the closure out of it.
    case removeHandler

    /// A container keeps the handles of tasks that have finished: take them out.
    case removeTaskHandles

    /// A container that is only ever added to: bound it, or remove from it.
    case boundContainer

    /// A task holds the object: cancel it and capture weakly; either alone is not enough.
    case cancelTask

    /// A task holds the object and waits for a stream, which ends when the task is cancelled: cancelling
    /// it when the work ends is enough.
    case cancelTaskAlone

    /// A task waits for a continuation that nobody has any more: resume it, on every path.
    case resumeContinuation

    /// A task waits for a continuation that somebody keeps: resume it. Cancelling alone wakes nobody.
    case resumeWaiting

    /// A task group keeps the results that nobody takes: take them.
    case takeResults

    /// Something retained it and never released it.
    case balanceRetain

    /// Memory that the program asked for holds the object, and letting that go releases nothing: balance the
    /// retain that was passed into it, or, where it is a typed pointer's, deinitialize what is in it first. Which
    /// of the two made the entry, the memory does not tell.
    case deinitializeMemory

    /// A library keeps an object of its own alive, by a retain that it has nowhere in memory: end the object.
    case endLibraryObject

    /// Nothing better is known: clear the field.
    case clearField
  }

  /// Why an edge is to be cut rather than another.
  public enum Reason: Hashable, Sendable {
    /// What the advice itself says.
    case none

    /// It is called like a delegate or a reference to an owner.
    case backReference

    /// It leads from one of many back to what holds them all.
    case oneOfMany

    /// What it leads to made what has it.
    case maker

    /// It leads from a part of an object back to that object.
    case ownPart

    /// It is one entry of memory that holds more of the same type: all of them go, as elements of a list do.
    case entry
  }

  public init(
    step: ReferenceStep, together: [Part] = [], frees: Cost, freed: [NodeIndex] = [],
    advice: Advice,
    reason: Reason = .none, leftBehind: Cost = .zero, otherHolders: [OtherHolder] = []
  ) {
    self.step = step
    self.together = together
    self.frees = frees
    self.freed = freed
    self.advice = advice
    self.reason = reason
    self.leftBehind = leftBehind
    self.otherHolders = otherHolders
  }
}

/// References, or retains without one, that keep something from being freed.
public struct OtherHolder: Hashable, Sendable {
  /// The first node that they keep.
  public var kept: NodeIndex

  /// How many nodes of its type they keep.
  public var count: Int

  /// The first of what keeps them.
  public var holder: Holder

  /// What keeps a node.
  public enum Holder: Hashable, Sendable {
    case reference(ReferenceStep)
    case root(RootIndex)

    /// A retain that no reference explains.
    case unexplainedRetain
  }

  public init(kept: NodeIndex, count: Int, holder: Holder) {
    self.kept = kept
    self.count = count
    self.holder = holder
  }
}

/// A group of objects with one cause.
public struct Finding: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// Unreachable from every root.
    case leak

    /// Reachable, and growing with each repetition.
    case abandoned

    /// More retains than holders.
    case overRetained

    /// Destroyed, its memory kept by unowned references.
    case zombie
  }

  public var kind: Kind

  /// One node a group member: the culprits, each standing for its component.
  public var members: [NodeIndex]

  /// The member that the cycle, path and cut are told of.
  public var representative: NodeIndex

  /// The members alone: of the finding's own type.
  public var own: Cost

  /// Everything that would go with the members.
  public var retained: Cost

  /// The cycle of a leak that is one, starting at the representative; empty otherwise. The last step's
  /// edges lead back to the representative.
  public var cycle: [ReferenceStep]

  /// How the representative is reached; nil for what is unreachable. The last edge of a zombie's path is
  /// the unowned one that keeps its memory.
  public var path: RetainPath?

  /// The best edges to cut, best first.
  public var cuts: [CutProposal]

  /// What would go with the members, but would stay where the best cut alone is made: it is held in other ways, too.
  public var staying = Cost.zero

  /// What the best cut frees besides: others that are held by the same edges.
  public var besides = Cost.zero

  /// How many objects at least were held in the same way at an earlier mark and have gone; 0 where one snapshot
  /// alone was looked at.
  public var goneCount = 0

  /// Stable across runs, machines and rebuilds: 12 hexadecimal digits from the edges of the finding.
  public var fingerprint: String

  public init(
    kind: Kind, members: [NodeIndex], representative: NodeIndex, own: Cost, retained: Cost,
    cycle: [ReferenceStep], path: RetainPath?, cuts: [CutProposal], fingerprint: String
  ) {
    self.kind = kind
    self.members = members
    self.representative = representative
    self.own = own
    self.retained = retained
    self.cycle = cycle
    self.path = path
    self.cuts = cuts
    self.fingerprint = fingerprint
  }
}

/// What happened between two marks, by exact identity.
public struct SnapshotDifference: Sendable {
  /// Born after the first mark and alive at the last: rows of the last snapshot.
  public var born: [NodeIndex]

  /// Alive at the first mark and gone: rows of the first snapshot.
  public var died: [NodeIndex]

  /// Alive at both: pairs of rows, first and last.
  public var survived: [(NodeIndex, NodeIndex)]

  /// Whether identity is exact; false where the snapshots are of different processes or one has no
  /// generations, so that only types and addresses could be compared.
  public var isExact: Bool

  public init(
    born: [NodeIndex], died: [NodeIndex], survived: [(NodeIndex, NodeIndex)], isExact: Bool
  ) {
    self.born = born
    self.died = died
    self.survived = survived
    self.isExact = isExact
  }
}
