// Snapshot+Tasks: the tasks of a program: who they are, and where each of them waits.

extension Snapshot {
  /// The tasks of Swift concurrency, in ascending order of address.
  ///
  /// Most tasks are nodes of their own. A child task of `async let` lies in memory of its parent; its row
  /// names the node that it lies in.
  public struct Tasks: Sendable {
    /// The node that is the task or that it lies in.
    public var node: Column<UInt32>

    /// Where the task starts; strictly ascending.
    public var address: Column<UInt64>

    /// The number that the runtime gave it, counted from 1.
    public var id: Column<UInt64>

    /// A `TaskInfo`.
    public var info: Column<UInt32>

    /// The row in `tasks` of the task that it is a child of; `UInt32.max` for none.
    public var parent: Column<UInt32>

    /// Row in `stacks`: the functions in which it goes on, innermost first; 0 where that is unknown.
    public var suspendedAt: Column<UInt32>

    public var count: Int { address.count }

    /// The parent of a task that is no child.
    public static let noParent = UInt32.max

    public init(
      node: Column<UInt32> = Column(), address: Column<UInt64> = Column(),
      id: Column<UInt64> = Column(), info: Column<UInt32> = Column(),
      parent: Column<UInt32> = Column(), suspendedAt: Column<UInt32> = Column()
    ) {
      self.node = node
      self.address = address
      self.id = id
      self.info = info
      self.parent = parent
      self.suspendedAt = suspendedAt
    }
  }
}

/// What a task is and what it does, in one word of the file.
public struct TaskInfo: Hashable, Sendable, BitwiseCopyable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// - Parameter priority: As the runtime numbers it: 25 is the default, 33 user-initiated.
  public init(
    _ state: TaskState, _ kind: TaskKind = .unstructured, isCancelled: Bool = false,
    priority: UInt8 = 0
  ) {
    rawValue =
      UInt32(state.rawValue) | UInt32(kind.rawValue) << 2 | (isCancelled ? 1 << 4 : 0)
      | UInt32(priority) << 8
  }

  public var state: TaskState { TaskState(rawValue: UInt8(rawValue & 3)) ?? .suspended }

  /// A kind that this version doesn't know is read as an unstructured task.
  public var kind: TaskKind { TaskKind(rawValue: UInt8(rawValue >> 2 & 3)) ?? .unstructured }

  public var isCancelled: Bool { rawValue & 1 << 4 != 0 }

  public var priority: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 8) }
}

/// What a task does.
public enum TaskState: UInt8, Sendable, CaseIterable {
  /// It waits for somebody to resume it.
  case suspended = 0

  /// It could run and waits for a thread or an actor.
  case enqueued = 1

  case running = 2

  /// It has finished; what it returned or threw is kept until the last reference to it goes.
  case complete = 3
}

/// How a task was made.
public enum TaskKind: UInt8, Sendable, CaseIterable {
  /// `Task { }`, `Task.detached { }` and what the runtime makes for `main`.
  case unstructured = 0

  case asyncLet = 1

  /// A child of a task group.
  case groupChild = 2
}
