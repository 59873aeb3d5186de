// LayoutTarget: a copy of this process as a captured program, and what the catalog finds in its objects.

import Glibc
import GraphPrimitives
import SnapshotFormat

@testable import HeapCapture

/// A reference as a test writes it down: the label as reports show it, the strength, the target.
struct Found: Hashable, CustomStringConvertible {
  var label: String
  var strength: EdgeStrength
  var target: UInt64

  init(_ label: String, _ target: AnyObject, _ strength: EdgeStrength = .strong) {
    self.init(label, address(of: target), strength)
  }

  init(_ label: String, _ target: UInt64, _ strength: EdgeStrength = .strong) {
    self.label = label
    self.strength = strength
    self.target = target
  }

  var description: String { "\(label) -\(strength)-> \(Address(target))" }
}

/// Words of unknown type, with the label of their field.
struct FoundWords: Hashable {
  var label: String
  var offset: Int
  var size: Int
}

/// Keeps what it hears.
struct Collector: ReferenceSink {
  struct Reference {
    var address: UInt64
    var target: UInt64
    var label: LabelIndex
    var strength: EdgeStrength
  }

  var references: [Reference] = []
  var words: [(range: Range<UInt64>, label: LabelIndex)] = []
  var continuations: [Reference] = []
  var tables: [UInt64] = []

  mutating func reference(
    at address: UInt64, to target: UInt64, label: LabelIndex, strength: EdgeStrength
  ) {
    references.append(
      Reference(address: address, target: target, label: label, strength: strength))
  }

  mutating func sideTable(ofDestroyedAt table: UInt64) { tables.append(table) }

  mutating func continuation(at address: UInt64, to task: UInt64, label: LabelIndex) {
    continuations.append(
      Reference(address: address, target: task, label: label, strength: .strong))
  }

  mutating func untypedWords(in range: Range<UInt64>, label: LabelIndex) {
    words.append((range, label))
  }
}

/// A copy of this process that stands still, read as a captured program is.
///
/// The objects that are asked about must exist already when the copy is made.
final class LayoutTarget {
  let memory: TargetMemory
  let images: [LoadedImage]
  let catalog: TypeCatalog
  private let _child: pid_t

  init() throws {
    // Swift does not let fork be called by name; what follows in the child is safe after one.
    let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
    let parent = getpid()
    let child = fork()
    if child == 0 {
      // The threads of the tests block signals, so an alarm would not end a copy that was left over.
      while getppid() == parent { sleep(1) }
      _exit(0)
    }
    _child = child
    do {
      memory = TargetMemory(try ProcessMemory(pid: child, name: "pid"))
      images = loadImages(of: memory)
      catalog = try TypeCatalog(memory: memory, images: images)
      // The tests ask the allocator how large a block is.
      catalog.sizesAreExact = false
    } catch {
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
      throw error
    }
  }

  deinit {
    kill(_child, SIGKILL)
    waitpid(_child, nil, 0)
  }

  func type(at object: UInt64) -> SwiftType? {
    memory.word(at: object).flatMap { catalog.type(ofMetadataWord: $0) }
  }

  func type(of object: AnyObject) -> SwiftType? { type(at: address(of: object)) }

  func collect(_ object: UInt64, size: Int? = nil) -> Collector {
    var collector = Collector()
    guard let type = type(at: object) else { return collector }
    // The allocator keeps a block's size, its own word included, in front of the block.
    let usable = Int(clamping: (memory.word(at: object - 8) ?? 0) & ~7) - 8
    catalog.references(of: object, type: type, allocatedSize: size ?? usable, into: &collector)
    return collector
  }

  func references(at object: UInt64) -> [Found] {
    collect(object).references.map { Found(text(of: $0.label), $0.target, $0.strength) }
  }

  func references(of object: AnyObject) -> [Found] { references(at: address(of: object)) }

  func words(of object: AnyObject) -> [FoundWords] {
    let start = address(of: object)
    return collect(start).words.map {
      FoundWords(
        label: text(of: $0.label), offset: Int($0.range.lowerBound - start), size: $0.range.count)
    }
  }

  /// A label as reports show it, without the function.
  func text(of label: LabelIndex) -> String {
    let row = catalog.labels.row(label)
    switch row.index {
    case Snapshot.Labels.noIndex: return row.name
    case Snapshot.Labels.anyIndex: return "[_]" + (row.name.isEmpty ? "" : "." + row.name)
    default: return "[\(row.index)]" + (row.name.isEmpty ? "" : "." + row.name)
    }
  }
}

/// Where an object lies.
func address(of object: AnyObject) -> UInt64 {
  UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
}
