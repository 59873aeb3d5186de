// SnapshotEncoder: a snapshot as the sections of a file, their places, and the header before them.

internal import GraphPrimitives

/// A snapshot's sections with their places in a file. Columns are not copied: their bytes are written
/// from where they lie.
internal struct SnapshotEncoder {
  /// A section and its place.
  struct Placed {
    let section: SnapshotSection
    let offset: UInt64

    /// Valid as long as the encoder lives.
    let bytes: UnsafeRawBufferPointer
  }

  /// The header and the section table.
  let head: [UInt8]

  /// In the order of the file.
  let sections: [Placed]

  /// The size of the whole file.
  let fileSize: UInt64

  /// What keeps the sections' bytes in memory.
  private let _owners: [AnyObject]

  /// Lays out a snapshot.
  ///
  /// - Precondition: `snapshot` is valid.
  /// - Complexity: O(*b*) for *b* bytes, which are read once for the checksums.
  init(_ snapshot: Snapshot) {
    var contents: [(SnapshotSection, UnsafeRawBufferPointer)] = []
    var owners: [AnyObject] = []
    for section in SnapshotSection.allCases {
      let (bytes, owner) = Self._contents(of: section, in: snapshot)
      if bytes.isEmpty && !section.isRequired { continue }
      contents.append((section, bytes))
      if let owner { owners.append(owner) }
    }

    var offset = SnapshotLayout.aligned(
      UInt64(SnapshotLayout.headerSize + contents.count * SnapshotLayout.Entry.size))
    var table = StreamWriter()
    var sections: [Placed] = []
    for (section, bytes) in contents {
      sections.append(Placed(section: section, offset: offset, bytes: bytes))
      let name = Array(section.rawValue.utf8)
      for position in 0..<SnapshotLayout.Entry.nameLength {
        table.put(position < name.count ? name[position] : 0)
      }
      table.put(UInt16(section.width))
      table.put(section.isRequired || section.changesMeaning ? SnapshotLayout.requiredFlag : 0)
      table.put(offset)
      table.put(UInt64(bytes.count))
      table.put(Checksum.of(bytes))
      table.put(UInt32(0))
      offset = SnapshotLayout.aligned(offset + UInt64(bytes.count))
    }

    var version = StreamWriter()
    version.put(UInt16(SnapshotVersion.current.major))
    version.put(UInt16(SnapshotVersion.current.minor))
    var rest = StreamWriter()
    rest.put(offset)
    rest.put(UInt32(contents.count))
    while SnapshotLayout.Header.fileSize + rest.bytes.count < SnapshotLayout.headerSize {
      rest.put(UInt8(0))
    }
    let beforeChecksum = SnapshotLayout.magic + version.bytes
    let afterChecksum = rest.bytes + table.bytes
    var checksum = Checksum()
    beforeChecksum.withUnsafeBytes { checksum.update($0) }
    afterChecksum.withUnsafeBytes { checksum.update($0) }
    var checksumBytes = StreamWriter()
    checksumBytes.put(checksum.value)

    head = beforeChecksum + checksumBytes.bytes + afterChecksum
    self.sections = sections
    fileSize = offset
    _owners = owners
  }

  /// The file as one piece of memory, for tests and small snapshots.
  func serialized() -> [UInt8] {
    withExtendedLifetime(_owners) {
      var file = [UInt8](repeating: 0, count: Int(fileSize))
      file.withUnsafeMutableBytes { bytes in
        bytes.copyBytes(from: head)
        for placed in sections where !placed.bytes.isEmpty {
          UnsafeMutableRawBufferPointer(rebasing: bytes[Int(placed.offset)...]).copyMemory(
            from: placed.bytes)
        }
      }
      return file
    }
  }

  /// Calls `body` with each piece of the file that is not empty and its place; what lies between them
  /// is zero.
  func forEachPiece<E: Error>(
    _ body: (UnsafeRawBufferPointer, UInt64) throws(E) -> Void
  ) throws(E) {
    defer { withExtendedLifetime(_owners) {} }
    let first = Column(head)
    defer { withExtendedLifetime(first) {} }
    try body(UnsafeRawBufferPointer(first._rows), 0)
    for placed in sections where !placed.bytes.isEmpty { try body(placed.bytes, placed.offset) }
  }

  /// The bytes of a section, and what keeps them in memory.
  private static func _contents(
    of section: SnapshotSection, in snapshot: Snapshot
  ) -> (UnsafeRawBufferPointer, AnyObject?) {
    func rows<Element>(_ column: Column<Element>) -> (UnsafeRawBufferPointer, AnyObject?) {
      (UnsafeRawBufferPointer(column._rows), column._owner)
    }
    let nodes = snapshot.nodes
    let edges = snapshot.edges
    let roots = snapshot.roots
    return switch section {
    case .nodesAddress: rows(nodes.address)
    case .nodesSize: rows(nodes.size)
    case .nodesType: rows(nodes.type)
    case .nodesStack: rows(nodes.stack)
    case .nodesGeneration: rows(nodes.generation)
    case .nodesKind: rows(nodes.kind)
    case .nodesState: rows(nodes.state)
    case .nodesStrongCount: rows(nodes.strongCount)
    case .nodesUnownedCount: rows(nodes.unownedCount)
    case .nodesWeakCount: rows(nodes.weakCount)
    case .edgesFirstEdge: rows(edges.firstEdge)
    case .edgesTarget: rows(edges.target)
    case .edgesLabel: rows(edges.label)
    case .edgesInfo: rows(edges.info)
    case .rootsKind: rows(roots.kind)
    case .rootsTarget: rows(roots.target)
    case .rootsInfo: rows(roots.info)
    case .rootsAddress: rows(roots.address)
    case .rootsPC: rows(roots.pc)
    case .rootsThread: rows(roots.thread)
    case .rootsLabel: rows(roots.label)
    case .typesName: rows(snapshot.types.name)
    case .typesModule: rows(snapshot.types.module)
    case .labelsName: rows(snapshot.labels.name)
    case .labelsIndex: rows(snapshot.labels.index)
    case .labelsFunction: rows(snapshot.labels.function)
    case .stacksParent: rows(snapshot.stacks.parent)
    case .stacksPC: rows(snapshot.stacks.pc)
    case .stringsOffset: rows(snapshot.strings.offset)
    case .stringsBytes: rows(snapshot.strings.bytes)
    case .process: rows(Column(_process(snapshot.process)))
    case .largeSizesNode: rows(nodes.largeNode)
    case .largeSizesBytes: rows(nodes.largeBytes)
    case .namesNode: rows(Column(snapshot.nodeNames.keys.map(\.rawValue).sorted()))
    case .namesText:
      rows(Column(snapshot.nodeNames.sorted { $0.key < $1.key }.map(\.value.rawValue)))
    case .tasksNode: rows(snapshot.tasks.node)
    case .tasksAddress: rows(snapshot.tasks.address)
    case .tasksID: rows(snapshot.tasks.id)
    case .tasksInfo: rows(snapshot.tasks.info)
    case .tasksParent: rows(snapshot.tasks.parent)
    case .tasksSuspendedAt: rows(snapshot.tasks.suspendedAt)
    case .storageNode: rows(snapshot.storage.node)
    case .storageCount: rows(snapshot.storage.count)
    case .storageCapacity: rows(snapshot.storage.capacity)
    case .storageText: rows(snapshot.storage.text)
    case .fieldsType: rows(snapshot.fields.type)
    case .fieldsName: rows(snapshot.fields.name)
    case .fieldsDeclaration: rows(snapshot.fields.declaration)
    case .sampling: rows(Column(_sampling(snapshot.sampling)))
    case .samplesNode: rows(snapshot.sampling?.node ?? Column())
    case .samplesBytes: rows(snapshot.sampling?.bytes ?? Column())
    case .modules:
      rows(
        _stream(snapshot.modules) { module, stream in
          stream.put(module.path)
          stream.put(module.buildID)
          stream.put(module.bias)
          stream.put(module.start)
          stream.put(module.end)
        })
    case .threads:
      rows(
        _stream(snapshot.threads) { thread, stream in
          stream.put(thread.id)
          stream.put(thread.name)
          stream.put(thread.stackPointer)
          stream.put(thread.pc)
        })
    case .marks:
      rows(
        _stream(snapshot.marks) { mark, stream in
          stream.put(mark.name)
          stream.put(mark.generation)
          stream.put(mark.time)
        })
    case .diagnostics:
      rows(
        _stream(snapshot.diagnostics) { diagnostic, stream in
          stream.put(diagnostic.text)
          stream.put(UInt64(max(diagnostic.count, 0)))
        })
    }
  }

  /// The number of records and the records, or nothing if there are none.
  private static func _stream<Record>(
    _ records: [Record], _ put: (Record, inout StreamWriter) -> Void
  ) -> Column<UInt8> {
    guard !records.isEmpty else { return Column() }
    var stream = StreamWriter()
    stream.put(UInt32(records.count))
    for record in records { put(record, &stream) }
    return Column(stream.bytes)
  }

  private static func _sampling(_ sampling: Snapshot.Sampling?) -> [UInt8] {
    guard let sampling else { return [] }
    var stream = StreamWriter()
    stream.put(sampling.interval)
    return stream.bytes
  }

  private static func _process(_ process: Snapshot.ProcessFacts) -> [UInt8] {
    var stream = StreamWriter()
    stream.put(process.pid)
    stream.put(UInt32((process.hasAgent ? 1 : 0) | (process.isPartial ? 2 : 0)))
    stream.put(process.runIdentity)
    stream.put(process.executable)
    stream.put(process.mark)
    stream.put(process.source)
    stream.put(process.stackMode)
    stream.put(UInt32(process.memory.count))
    let figures = process.memory.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    for (name, bytes) in figures {
      stream.put(name)
      stream.put(bytes)
    }
    return stream.bytes
  }
}
