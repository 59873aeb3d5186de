// Snapshot+Read: a file as a snapshot, its columns left where they lie.

internal import GraphPrimitives

extension Snapshot {
  /// Maps a snapshot file.
  ///
  /// Columns view the mapping, so a snapshot costs the page cache's memory and not the process's; only
  /// the small tables are copied. The snapshot is a valid one: `validate()` has been called.
  /// The file must not be changed in place while the snapshot is in use; renaming another over it and
  /// deleting it do no harm.
  ///
  /// - Parameter verifyingChecksums: Whether every byte is compared with what was written. Without it
  ///   a damaged file may give a snapshot that is not what was written; it is a valid one all the same.
  /// - Throws: `SnapshotError` naming the section and the offset.
  /// - Complexity: O(*b*) for *b* bytes, each of which is read.
  public init(contentsOf path: String, verifyingChecksums: Bool = true) throws(SnapshotError) {
    try self.init(
      SnapshotBytes(mapping: path), path: path, verifyingChecksums: verifyingChecksums)
  }

  /// Reads a snapshot from a file's bytes, which are copied. `path` is what errors call it.
  package init(
    bytes: [UInt8], path: String = "", verifyingChecksums: Bool = true
  ) throws(SnapshotError) {
    try self.init(
      SnapshotBytes(copying: bytes), path: path, verifyingChecksums: verifyingChecksums)
  }

  private init(
    _ file: SnapshotBytes, path: String, verifyingChecksums: Bool
  ) throws(SnapshotError) {
    let table = try SectionTable(file.bytes, path: path, verifyingChecksum: verifyingChecksums)
    for entry in table.entries
    where entry.isRequired && SnapshotSection(rawValue: entry.name) == nil {
      throw .unknownSection(path: path, section: entry.name, offset: entry.offset)
    }
    if verifyingChecksums { try table.verifyChecksums(file.bytes, path: path) }
    let sections = try Sections(file: file, table: table, path: path)
    do throws(Malformation) {
      self = try sections.snapshot()
      if table.version > .current { _replaceUnknownKinds() }
      try check()
    } catch {
      throw .malformed(
        path: path, section: error.section.rawValue,
        offset: sections.offset(of: error.section) + error.offset, reason: error.reason)
    }
  }

  /// Reads values that only a newer minor version knows as what can't make a false leak, and counts
  /// them.
  private mutating func _replaceUnknownKinds() {
    func replace(_ column: inout Column<UInt8>, _ vocabulary: Vocabulary, _ text: String) {
      let (known, count) = vocabulary.substituted(column)
      column = known
      if count > 0 { diagnostics.append(Diagnostic(text: text, count: count)) }
    }
    replace(
      &nodes.kind, .kind, "a node of a kind that this version does not know is shown as a block")
    replace(
      &nodes.state, .state, "a node in a state that this version does not know is shown as live")
    replace(
      &edges.info, .info,
      "an edge of a strength or provenance that this version does not know is "
        + "taken as strong or scanned")
    replace(
      &roots.info, .info,
      "a root of a strength or provenance that this version does not know is "
        + "taken as strong or scanned")
    replace(
      &roots.kind, .root, "a root of a kind that this version does not know is shown as runtime")
  }
}

/// The known sections of a file, as columns and tables.
private struct Sections {
  private let _file: SnapshotBytes
  private var _entryBySection: [SnapshotSection: SectionTable.Entry] = [:]

  init(file: SnapshotBytes, table: SectionTable, path: String) throws(SnapshotError) {
    _file = file
    for entry in table.entries {
      guard let section = SnapshotSection(rawValue: entry.name) else { continue }
      guard entry.width == section.width else {
        throw .malformed(
          path: path, section: entry.name, offset: entry.offset,
          reason: "rows of \(entry.width) bytes instead of \(section.width)")
      }
      _entryBySection[section] = entry
    }
    for section in SnapshotSection.allCases
    where section.isRequired && _entryBySection[section] == nil {
      throw .missingSection(path: path, section: section.rawValue)
    }
  }

  /// Where a section starts; 0 for one that is not there.
  func offset(of section: SnapshotSection) -> UInt64 { _entryBySection[section]?.offset ?? 0 }

  private func _bytes(_ section: SnapshotSection) -> UnsafeRawBufferPointer {
    guard let entry = _entryBySection[section] else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    let start = Int(entry.offset)
    return UnsafeRawBufferPointer(rebasing: _file.bytes[start..<start + Int(entry.length)])
  }

  /// The rows of a section, where they lie; `Element` is as wide as the section's rows.
  private func _column<Element>(_ section: SnapshotSection) -> Column<Element> {
    assert(MemoryLayout<Element>.size == section.width)
    let bytes = _bytes(section)
    if bytes.isEmpty { return Column() }
    // Sections start at multiples of 64 and lie in memory that starts at one.
    return Column(bytes.assumingMemoryBound(to: Element.self), owner: _file)
  }

  func snapshot() throws(Malformation) -> Snapshot {
    Snapshot(
      nodes: Snapshot.Nodes(
        address: _column(.nodesAddress), size: _column(.nodesSize), type: _column(.nodesType),
        stack: _column(.nodesStack), generation: _column(.nodesGeneration),
        kind: _column(.nodesKind), state: _column(.nodesState),
        strongCount: _column(.nodesStrongCount), unownedCount: _column(.nodesUnownedCount),
        weakCount: _column(.nodesWeakCount), largeNode: _column(.largeSizesNode),
        largeBytes: _column(.largeSizesBytes)),
      edges: Snapshot.Edges(
        firstEdge: _column(.edgesFirstEdge), target: _column(.edgesTarget),
        label: _column(.edgesLabel), info: _column(.edgesInfo)),
      roots: Snapshot.Roots(
        kind: _column(.rootsKind), target: _column(.rootsTarget), info: _column(.rootsInfo),
        address: _column(.rootsAddress), pc: _column(.rootsPC), thread: _column(.rootsThread),
        label: _column(.rootsLabel)),
      types: Snapshot.Types(name: _column(.typesName), module: _column(.typesModule)),
      labels: Snapshot.Labels(
        name: _column(.labelsName), index: _column(.labelsIndex),
        function: _column(.labelsFunction)),
      stacks: Snapshot.Stacks(parent: _column(.stacksParent), pc: _column(.stacksPC)),
      modules: try _modules(), threads: try _threads(), marks: try _marks(),
      strings: StringTable(offset: _column(.stringsOffset), bytes: _column(.stringsBytes)),
      process: try _process(), nodeNames: try _nodeNames(), diagnostics: try _diagnostics(),
      tasks: Snapshot.Tasks(
        node: _column(.tasksNode), address: _column(.tasksAddress), id: _column(.tasksID),
        info: _column(.tasksInfo), parent: _column(.tasksParent),
        suspendedAt: _column(.tasksSuspendedAt)),
      storage: Snapshot.Storage(
        node: _column(.storageNode), count: _column(.storageCount),
        capacity: _column(.storageCapacity), text: _column(.storageText)),
      fields: Snapshot.Fields(
        type: _column(.fieldsType), name: _column(.fieldsName),
        declaration: _column(.fieldsDeclaration)),
      sampling: try _sampling())
  }

  /// Reads the records of a stream, none where the section is left out.
  private func _records<Record>(
    _ section: SnapshotSection, minimumSize: Int,
    _ record: (inout StreamReader) throws(Malformation) -> Record
  ) throws(Malformation) -> [Record] {
    guard _entryBySection[section] != nil else { return [] }
    var stream = StreamReader(_bytes(section), section)
    let count = try stream.count(ofRecordsOfAtLeast: minimumSize)
    var records: [Record] = []
    records.reserveCapacity(count)
    for _ in 0..<count { records.append(try record(&stream)) }
    try stream.finish()
    return records
  }

  private func _modules() throws(Malformation) -> [Snapshot.Module] {
    try _records(.modules, minimumSize: 32) { (stream) throws(Malformation) in
      Snapshot.Module(
        path: try stream.text(), buildID: try stream.text(), bias: try stream.number(UInt64.self),
        start: try stream.number(UInt64.self), end: try stream.number(UInt64.self))
    }
  }

  private func _threads() throws(Malformation) -> [Snapshot.Thread] {
    try _records(.threads, minimumSize: 24) { (stream) throws(Malformation) in
      Snapshot.Thread(
        id: try stream.number(UInt32.self), name: try stream.text(),
        stackPointer: try stream.number(UInt64.self), pc: try stream.number(UInt64.self))
    }
  }

  private func _marks() throws(Malformation) -> [Snapshot.Mark] {
    try _records(.marks, minimumSize: 14) { (stream) throws(Malformation) in
      Snapshot.Mark(
        name: try stream.text(), generation: try stream.number(UInt16.self),
        time: try stream.number(UInt64.self))
    }
  }

  private func _diagnostics() throws(Malformation) -> [Snapshot.Diagnostic] {
    try _records(.diagnostics, minimumSize: 12) { (stream) throws(Malformation) in
      let text = try stream.text()
      guard let count = Int(exactly: try stream.number(UInt64.self)) else {
        throw stream.failure("a count is 2^63 or more")
      }
      return Snapshot.Diagnostic(text: text, count: count)
    }
  }

  private func _process() throws(Malformation) -> Snapshot.ProcessFacts {
    var stream = StreamReader(_bytes(.process), .process)
    let pid = try stream.number(UInt32.self)
    let flags = try stream.number(UInt32.self)
    let runIdentity = try stream.number(UInt64.self)
    var process = Snapshot.ProcessFacts(
      pid: pid, executable: try stream.text(), mark: try stream.text(), source: try stream.text(),
      hasAgent: flags & 1 != 0, isPartial: flags & 2 != 0, stackMode: try stream.text(),
      runIdentity: runIdentity)
    for _ in 0..<(try stream.count(ofRecordsOfAtLeast: 12)) {
      let name = try stream.text()
      guard process.memory.updateValue(try stream.number(UInt64.self), forKey: name) == nil else {
        throw stream.failure("the figure \"\(name)\" is there twice")
      }
    }
    try stream.finish()
    return process
  }

  private func _sampling() throws(Malformation) -> Snapshot.Sampling? {
    let (nodes, bytes): (Column<UInt32>, Column<UInt64>) =
      (_column(.samplesNode), _column(.samplesBytes))
    guard _entryBySection[.sampling] != nil else {
      guard nodes.isEmpty && bytes.isEmpty else {
        throw Malformation(.samplesNode, row: 0, "there are samples and no interval of them")
      }
      return nil
    }
    var stream = StreamReader(_bytes(.sampling), .sampling)
    let interval = try stream.number(UInt64.self)
    guard interval > 0 else { throw stream.failure("the interval is 0") }
    try stream.finish()
    return Snapshot.Sampling(interval: interval, node: nodes, bytes: bytes)
  }

  private func _nodeNames() throws(Malformation) -> [NodeIndex: StringIndex] {
    let nodes: Column<UInt32> = _column(.namesNode)
    let texts: Column<UInt32> = _column(.namesText)
    guard nodes.count == texts.count else {
      throw Malformation(
        .namesText, row: 0,
        "there are \(texts.count) rows and should be \(nodes.count), the number of names")
    }
    var names: [NodeIndex: StringIndex] = [:]
    names.reserveCapacity(nodes.count)
    for row in nodes.indices {
      guard row == 0 || nodes[row - 1] < nodes[row] else {
        throw Malformation(.namesNode, row: row, "row \(row) is not greater than the row before it")
      }
      names[NodeIndex(rawValue: nodes[row])] = StringIndex(rawValue: texts[row])
    }
    return names
  }
}
