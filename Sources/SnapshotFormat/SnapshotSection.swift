// SnapshotSection: the sections of a file and the numbers of its layout. docs/snapshot-format.md explains them.

#if _endian(big)
  #error("Columns are mapped as they lie in the file, which is little-endian.")
#endif

/// A version of the format.
public struct SnapshotVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
  public var major: Int
  public var minor: Int

  public init(major: Int, minor: Int) {
    self.major = major
    self.minor = minor
  }

  /// What this library writes, and the newest that it reads.
  public static let current = SnapshotVersion(major: 1, minor: 4)

  public static func < (left: Self, right: Self) -> Bool {
    (left.major, left.minor) < (right.major, right.minor)
  }

  /// `1.4`
  public var description: String { "\(major).\(minor)" }
}

/// Where the parts of a file lie.
internal enum SnapshotLayout {
  /// A byte that no text starts with, a name, and a line feed that a text transfer would change.
  static let magic: [UInt8] = [0x89, 0x4D, 0x47, 0x52, 0x41, 0x50, 0x48, 0x0A]
  static let headerSize = 64
  static let alignment = 64
  static let maximumSectionCount = 4_096

  enum Header {
    static let major = 8
    static let minor = 10
    static let checksum = 12
    static let fileSize = 16
    static let sectionCount = 24
  }

  enum Entry {
    static let size = 48
    static let nameLength = 20
    static let width = 20
    static let flags = 22
    static let offset = 24
    static let length = 32
    static let checksum = 40
  }

  /// The flag of a section that a reader must know to read the file at all.
  static let requiredFlag: UInt16 = 1

  /// The next place where a section may start.
  static func aligned(_ offset: UInt64) -> UInt64 {
    (offset + UInt64(alignment) - 1) / UInt64(alignment) * UInt64(alignment)
  }
}

/// The sections that this version knows, in the order in which they are written. Raw values are the
/// names in the file.
internal enum SnapshotSection: String, CaseIterable {
  case nodesAddress = "nodes.address"
  case nodesSize = "nodes.size"
  case nodesType = "nodes.type"
  case nodesStack = "nodes.stack"
  case nodesGeneration = "nodes.generation"
  case nodesKind = "nodes.kind"
  case nodesState = "nodes.state"
  case nodesStrongCount = "nodes.strongCount"
  case nodesUnownedCount = "nodes.unownedCount"
  case nodesWeakCount = "nodes.weakCount"
  case edgesFirstEdge = "edges.firstEdge"
  case edgesTarget = "edges.target"
  case edgesLabel = "edges.label"
  case edgesInfo = "edges.info"
  case rootsKind = "roots.kind"
  case rootsTarget = "roots.target"
  case rootsInfo = "roots.info"
  case rootsAddress = "roots.address"
  case rootsPC = "roots.pc"
  case rootsThread = "roots.thread"
  case rootsLabel = "roots.label"
  case typesName = "types.name"
  case typesModule = "types.module"
  case labelsName = "labels.name"
  case labelsIndex = "labels.index"
  case labelsFunction = "labels.function"
  case stacksParent = "stacks.parent"
  case stacksPC = "stacks.pc"
  case stringsOffset = "strings.offset"
  case stringsBytes = "strings.bytes"
  case process
  case largeSizesNode = "largeSizes.node"
  case largeSizesBytes = "largeSizes.bytes"
  case namesNode = "names.node"
  case namesText = "names.text"
  case tasksNode = "tasks.node"
  case tasksAddress = "tasks.address"
  case tasksID = "tasks.id"
  case tasksInfo = "tasks.info"
  case tasksParent = "tasks.parent"
  case tasksSuspendedAt = "tasks.suspendedAt"
  case storageNode = "storage.node"
  case storageCount = "storage.count"
  case storageCapacity = "storage.capacity"
  case storageText = "storage.text"
  case fieldsType = "fields.type"
  case fieldsName = "fields.name"
  case fieldsDeclaration = "fields.declaration"
  case sampling
  case samplesNode = "samples.node"
  case samplesBytes = "samples.bytes"
  case modules
  case threads
  case marks
  case diagnostics

  /// The bytes of a row; 1 for streams.
  var width: Int {
    switch self {
    case .nodesAddress, .rootsAddress, .rootsPC, .labelsFunction, .stacksPC, .largeSizesBytes,
      .tasksAddress, .tasksID, .storageCount, .storageCapacity, .samplesBytes:
      8
    case .nodesSize, .nodesType, .nodesStack, .nodesStrongCount, .edgesFirstEdge, .edgesTarget,
      .edgesLabel, .rootsTarget, .rootsThread, .rootsLabel, .typesName, .typesModule, .labelsName,
      .labelsIndex, .stacksParent, .stringsOffset, .largeSizesNode, .namesNode, .namesText,
      .tasksNode, .tasksInfo, .tasksParent, .tasksSuspendedAt, .storageNode, .storageText,
      .fieldsType, .fieldsName, .samplesNode:
      4
    case .nodesGeneration, .nodesUnownedCount, .nodesWeakCount: 2
    case .nodesKind, .nodesState, .edgesInfo, .rootsKind, .rootsInfo, .stringsBytes, .process,
      .modules, .threads, .marks, .diagnostics, .fieldsDeclaration, .sampling:
      1
    }
  }

  /// Whether every file has it, and a reader without knowledge of it must give up.
  var isRequired: Bool {
    switch self {
    case .largeSizesNode, .largeSizesBytes, .namesNode, .namesText, .tasksNode, .tasksAddress,
      .tasksID, .tasksInfo, .tasksParent, .tasksSuspendedAt, .storageNode, .storageCount,
      .storageCapacity, .storageText, .fieldsType, .fieldsName, .fieldsDeclaration, .modules,
      .threads, .marks, .diagnostics, .sampling, .samplesNode, .samplesBytes:
      false
    default: true
    }
  }

  /// Whether a file that has it must not be read without it: generations and stacks of most nodes are unknown then,
  /// and would be taken for those of the program's beginning.
  var changesMeaning: Bool {
    switch self {
    case .sampling, .samplesNode, .samplesBytes: true
    default: false
    }
  }
}
