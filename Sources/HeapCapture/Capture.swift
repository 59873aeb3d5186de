// Capture: from a stopped program's memory to a snapshot.

internal import GraphPrimitives
package import SnapshotFormat

/// Captures a stopped program that has the agent.
///
/// - Parameters:
///   - source: the stopped program: a frozen twin, for one.
///   - state: the address of the agent's `mg_state` in it.
/// - Throws: ``CaptureError`` where the program can't be read, has no agent or no Swift code.
/// - Complexity: as `captureSnapshot(memory:inventory:threads:)`.
package func captureSnapshot(
  source: any MemorySource, state: UInt64
) throws(CaptureError) -> Snapshot {
  try refusingLost(source, pid: 0) { () throws(CaptureError) in
    let memory = TargetMemory(source)
    let tables = try AgentTables(memory: memory, state: state)
    let threads = tables.threads()
    return try captureSnapshot(
      memory: memory, inventory: try complete(tables, memory: memory, threads: threads),
      threads: threads)
  }
}

/// What a closure reads of a program, if the program is still there afterwards.
///
/// What can't be read any more looks like memory that was never there: what only that held would be
/// called leaked, and types that can't be read have no references.
///
/// - Throws: ``CaptureError/endedMeanwhile(pid:)`` where the program has ended, whatever came of reading it.
func refusingLost<Result>(
  _ source: any MemorySource, pid: Int32, _ body: () throws(CaptureError) -> Result
) throws(CaptureError) -> Result {
  let result: Result
  do throws(CaptureError) {
    result = try body()
  } catch {
    throw source.isStillThere ? error : .endedMeanwhile(pid: pid)
  }
  guard source.isStillThere else { throw .endedMeanwhile(pid: pid) }
  return result
}

/// The inventory of an agent, with the blocks that it never saw where it started late.
///
/// Where the program has another allocator than glibc's those blocks stay unknown, and the snapshot
/// says that it is partial. So does one that has nothing but what the program registered. An agent that takes samples
/// has next to none of the blocks: then nothing but the heap itself will do.
func complete(
  _ tables: AgentTables, memory: TargetMemory, threads: [ThreadState]
) throws(CaptureError) -> any HeapInventory {
  if tables.facts.sampleInterval > 0 {
    return try SampledInventory(tables, memory: memory, threads: threads)
  }
  guard tables.isTracking, tables.facts.isPartial,
    let completed = try? CompletedInventory(tables, memory: memory, threads: threads)
  else { return tables }
  return completed
}

/// Captures a stopped program.
///
/// Recognises Swift objects by their metadata, follows the references that their types declare, and
/// lets reference counts decide which other words are references.
///
/// - Throws: ``CaptureError`` where the program has no Swift code, or the remote mirror is missing.
/// - Complexity: O(*b* + *w* log *b*) for *b* blocks and *w* words of memory that is looked at.
package func captureSnapshot(
  memory: TargetMemory, inventory: any HeapInventory, threads: [ThreadState]
) throws(CaptureError) -> Snapshot {
  var capture = try Capture(memory: memory, inventory: inventory, threads: threads)
  capture.recogniseObjects()
  capture.followTypedReferences()
  capture.readTasks()
  capture.addRegistrations()
  capture.resolveWords()
  return capture.makeSnapshot()
}

/// The steps of a capture, in the order in which `captureSnapshot` takes them.
private struct Capture {
  private let _memory: TargetMemory
  private let _images: [LoadedImage]
  private let _inventory: any HeapInventory
  private let _labels: LabelTable
  private let _catalog: TypeCatalog
  private let _nodes = HeapNodes()
  private let _threads: [ThreadState]

  private let _taskLayout: TaskLayout?

  /// The parts of slabs in which children of `async let` lie, by row.
  private var _pieceByRow: [Int: TaskPiece] = [:]
  private var _tasks = TaskTable()
  private var _foreign: ForeignObjects

  private var _types: [SwiftType] = []
  private var _exact = EdgeTable()

  /// `_exact` and `_declared` once no more are found.
  private var _known: [EdgeRows] = []
  private var _declared = EdgeTable()
  private var _ranges = UntypedRanges()
  private var _continuations = EdgeTable()
  private var _names: [Int: String] = [:]
  private var _resourceTypes: [Int: String] = [:]

  /// What resources that are blocks cost, by the program's word.
  private var _resourceBytes: [Int: UInt64] = [:]
  private var _scanned = EdgeTable()
  private var _roots: [WordResolver.Root] = []
  private var _diagnostics: [String: Int] = [:]

  init(
    memory: TargetMemory, inventory: any HeapInventory, threads: [ThreadState]
  ) throws(CaptureError) {
    _memory = memory
    _images = loadImages(of: memory)
    try checkIsSwift(_images, executable: memory.source.executable)
    _inventory = inventory
    _labels = LabelTable()
    _catalog = try TypeCatalog(memory: memory, images: _images, labels: _labels)
    _catalog.sizesAreExact = inventory.facts.hasAgent && inventory.facts.sampleInterval == 0
    _threads = threads
    _taskLayout = _catalog.taskLayout
    _foreign = ForeignObjects(nodes: _nodes, memory: memory, images: [])
    if let program = _images.first(where: { $0.module.path == memory.source.executable }),
      program.sections["swift5_type_metadata"] != nil, program.sections["swift5_fieldmd"] == nil
    {
      _diagnostics[
        "\(fileName(of: program.module.path)) has no reflection metadata, so its fields are unknown and"
          + " read as words; build it without -disable-reflection-metadata"] = 1
    }
    for gap in _images.compactMap(\.fileGap) { _diagnostics[gap] = 1 }
    if _taskLayout == nil,
      _images.address(ofSymbol: "_swift_concurrency_debug_internal_layout_version") != nil
    {
      _diagnostics["tasks have a layout that this version does not know; they are not listed"] = 1
    }
  }

  // MARK: Nodes

  /// Makes a node of each block, and an object of each whose first words are metadata and counts.
  mutating func recogniseObjects() {
    _addBlocks()
    // The cells of all blocks have been read.
    _memory.release(_inventory.ownRanges())
    _nodes.buildIndex()
    var firstByTypeID: [Int: Int] = [:]
    func remember(_ type: SwiftType, for row: Int) {
      _nodes.kind[row] = type.kind
      if firstByTypeID[type.id] == nil {
        firstByTypeID[type.id] = _types.count
        _types.append(type)
      }
      _nodes.typeID[row] = Int32(firstByTypeID[type.id] ?? 0)
    }
    for row in 0..<_nodes.count where _nodes.size[row] >= 16 {
      let address = _nodes.address[row]
      if let piece = _pieceByRow[row], let layout = _taskLayout {
        // The parent's memory holds a child; its count is not used.
        let word = piece.isChild ? layout.taskMetadata : layout.slabMetadata
        if let type = _catalog.type(ofMetadataWord: word) { remember(type, for: row) }
        continue
      }
      guard let header = _memory.bytes(at: address, count: 16) else { continue }
      let word = header.load(as: UInt64.self)
      if word < 4096 { continue }
      guard let type = _catalog.type(ofMetadataWord: word),
        _catalog.fits(type, at: address, allocatedSize: Int(clamping: _nodes.size[row]))
      else { continue }
      if type.isCounted {
        guard
          let counts = ReferenceCounts(
            word: header.load(fromByteOffset: 8, as: UInt64.self), memory: _memory, object: address)
        else { continue }
        _nodes.strong[row] = counts.strong.map { Int32(clamping: $0) } ?? HeapNodes.uncounted
        let unowned = max(0, counts.unowned - (counts.isDeiniting ? 0 : 1))
        if unowned > 0 { _nodes.unowned[row] = Int32(clamping: unowned) }
        if counts.weak > 0 { _nodes.weak[row] = Int32(clamping: counts.weak) }
        if counts.sideTable != 0 { _nodes.sideTable[row] = counts.sideTable }
        if counts.isDeiniting { _nodes.state[row] = .deinited }
      } else if type.kind == .cBlock, let count = ReferenceCounts.count(ofBlock: header) {
        _nodes.strong[row] = Int32(count)
      }
      remember(type, for: row)
    }
    _markSideTables()
    _foreign = ForeignObjects(nodes: _nodes, memory: _memory, images: _images)
    for hidden in _foreign.hiddenReferences {
      _exact.append(
        from: hidden.from, to: hidden.to, label: _labels.label(hidden.name),
        info: EdgeInfo(.strong, .reflected))
    }
  }

  /// Collects the blocks of the heap and, between them in order of address, registered resources.
  private mutating func _addBlocks() {
    var resources: [Registration] = _inventory.registrations()
      .filter { $0.isResource && !$0.isBlock }
      .sorted { $0.address < $1.address }
    resources.reverse()
    var resourceRows: [(Int, String)] = []
    let nodes = _nodes
    let memory = _memory
    let layout = _taskLayout
    var pieces: [Int: TaskPiece] = [:]
    func appendResource(_ resource: Registration) {
      if let last = nodes.address.last, last >= resource.address { return }
      resourceRows.append((nodes.count, resource.name))
      nodes.append(
        HeapBlock(
          address: resource.address, size: resource.bytes, generation: resource.generation,
          stack: resource.stack, isRegistered: true))
    }
    _inventory.forEachBlock { block in
      while let resource = resources.last, resource.address < block.address {
        appendResource(resource)
        resources.removeLast()
      }
      if resources.last?.address == block.address { resources.removeLast() }
      if let layout, block.size >= 64, memory.word(at: block.address) == layout.slabMetadata {
        let found = layout.pieces(ofSlab: block.address, size: block.size)
        for piece in found {
          pieces[nodes.count] = piece
          var part = block
          part.address = piece.range.lowerBound
          part.size = piece.range.upperBound - piece.range.lowerBound
          nodes.append(part)
        }
        if !found.isEmpty { return }
      }
      nodes.append(block)
    }
    _pieceByRow = pieces
    while let resource = resources.popLast() { appendResource(resource) }
    for (row, name) in resourceRows {
      _nodes.kind[row] = .resource
      _resourceTypes[row] = name
    }
  }

  private mutating func _markSideTables() {
    let label = _labels.label("side table")
    for (row, address) in _nodes.sideTable.sorted(by: { $0.key < $1.key }) {
      guard let table = _nodes.row(startingAt: address), _nodes.kind[table] == .block
      else { continue }
      _nodes.kind[table] = .sideTable
      _exact.append(from: row, to: table, label: label, info: EdgeInfo(.strong, .reflected))
    }
  }

  // MARK: Typed references

  /// Hears of the references of one object after the other.
  private struct Collector: ReferenceSink {
    let nodes: HeapNodes
    let childTasks: ChildTasks
    var row = 0
    var exact: EdgeTable
    var ranges: UntypedRanges
    var continuations = EdgeTable()
    var unresolved = 0
    let layout: TaskLayout?

    /// What a reference is called that leads to the side table of an object that is gone.
    let destroyed: LabelIndex

    mutating func reference(
      at address: UInt64, to target: UInt64, label: LabelIndex, strength: EdgeStrength
    ) {
      guard let found = nodes.row(startingAt: target) else {
        // Objects that the compiler laid out in a module's data have no block.
        if nodes.bounds.contains(target) { unresolved += 1 }
        return
      }
      switch strength {
      case .strong:
        nodes.explained[found] += 1
      case .weak:
        // The side table outlives its object; somebody else may live at the address now.
        if nodes.sideTable[found] == nil { return }
        nodes.weakFound[found, default: 0] += 1
      case .unowned:
        nodes.unownedFound[found, default: 0] += 1
      case .unmanaged:
        // An address without a count of its own, or the one that `passRetained` made: the count of
        // the object decides.
        ranges.append(row: row, range: address..<(address + 8), label: label)
      }
      exact.append(from: row, to: found, label: label, info: EdgeInfo(strength, .reflected))
    }

    mutating func sideTable(ofDestroyedAt table: UInt64) {
      guard let found = nodes.row(startingAt: table),
        nodes.kind[found] == .block && (32...48).contains(nodes.size[found])
          || nodes.kind[found] == .sideTable
      else { return }
      nodes.kind[found] = .sideTable
      exact.append(
        from: row, to: found, label: destroyed, info: EdgeInfo(.strong, .reflected))
    }

    mutating func continuation(at address: UInt64, to task: UInt64, label: LabelIndex) {
      guard let found = childTasks.row(ofTask: task, in: nodes) else { return }
      // Nothing counts who holds a child in its parent's memory; one that has finished is held by
      // its parent alone.
      if nodes.kind[found] == .task, nodes.strong[found] < 0,
        layout?.info(of: task).state == .complete
      {
        return
      }
      continuations.append(
        from: row, to: found, label: label, info: EdgeInfo(.strong, .reflected))
    }

    mutating func untypedWords(in range: Range<UInt64>, label: LabelIndex) {
      ranges.append(row: row, range: range, label: label)
    }
  }

  /// How much of the heap is followed before its copies are given up: several pieces of them.
  private static let _sweptAtOnce: UInt64 = 1 << 22

  /// Follows what the types of all objects declare, and counts how far that explains the counts.
  mutating func followTypedReferences() {
    var collector = Collector(
      nodes: _nodes, childTasks: ChildTasks(memory: _memory, images: _images), exact: _exact,
      ranges: _ranges, layout: _taskLayout,
      destroyed: _labels.label("side table of a destroyed object"))
    _exact = EdgeTable()
    _ranges = UntypedRanges()
    let child = _labels.label("child")
    let rest = _labels.label("slab")
    // Copies of the heap behind this place are given up, but for those with words that are looked at later.
    var released = _nodes.bounds.lowerBound
    var firstRange = 0
    for row in 0..<_nodes.count {
      collector.row = row
      let address = _nodes.address[row]
      if address - released >= Self._sweptAtOnce {
        _memory.release(
          [released..<address], needed: collector.ranges.ranges(from: firstRange))
        released = address
        firstRange = collector.ranges.row.count
      }
      if let piece = _pieceByRow[row] {
        if piece.owner != address, let owner = _nodes.row(startingAt: piece.owner) {
          collector.exact.append(
            from: owner, to: row, label: piece.isChild ? child : rest,
            info: EdgeInfo(.strong, .reflected))
        }
        for range in piece.live { collector.untypedWords(in: range, label: .none) }
        continue
      }
      let typeID = Int(_nodes.typeID[row])
      if typeID < 0 {
        let kind = _nodes.kind[row]
        if kind == .block || kind == .cStorage, _nodes.size[row] >= 8 {
          for words in _foreign.wordsInUse(of: row) {
            collector.untypedWords(in: words, label: .none)
          }
        }
        continue
      }
      // What a destroyed object held is released; its memory is not looked at.
      if _nodes.state[row] != .live { continue }
      let type = _types[typeID]
      _catalog.references(
        of: address, type: type, allocatedSize: Int(clamping: _nodes.size[row]), into: &collector)
    }
    _exact = collector.exact
    _ranges = collector.ranges
    _memory.release(
      [released..<max(released, _nodes.bounds.upperBound)], needed: _ranges.ranges(from: firstRange)
    )
    _tellDestructionFromZombies()
    _continuations = collector.continuations
    if collector.unresolved > 0 {
      _diagnostics["a typed reference leads to no block of the heap", default: 0] +=
        collector.unresolved
    }
  }

  /// Reads the tasks.
  mutating func readTasks() {
    guard let layout = _taskLayout else { return }
    _tasks = TaskTable(layout: layout, nodes: _nodes, memory: _memory)
    for block in _tasks.queueBlocks { _nodes.kind[block] = .runtime }
    // A child resumes its parent; one in its parent's memory counts no reference for it.
    let label = _labels.label("parent")
    for task in _tasks.rows {
      guard let parent = task.parent.flatMap({ _nodes.row(startingAt: $0) }),
        _nodes.kind[parent] == .task, _nodes.strong[parent] == HeapNodes.uncounted
      else { continue }
      _exact.append(
        from: task.node, to: parent, label: label, info: EdgeInfo(.strong, .reflected))
    }
    // A child of a group counts no reference of its parent's either: its one retain is its own until it has
    // finished. The parent can't end before it, and is who can cancel it.
    let childTasks = ChildTasks(memory: _memory, images: _images)
    let childLabel = _labels.label("child")
    for task in _tasks.rows where task.info.kind == .groupChild {
      guard let parent = task.parent.flatMap({ childTasks.row(ofTask: $0, in: _nodes) }),
        parent != task.node
      else { continue }
      _declared.append(
        from: parent, to: task.node, label: childLabel, info: EdgeInfo(.strong, .declared))
    }
  }

  /// Tells objects that are being destroyed from those that only unowned references keep.
  ///
  /// The header says the same of both but for the unowned count: until its destruction is over an object
  /// has one of its own. Of what it held some may be released and some not yet, as of an array whose
  /// elements go one after the other: its words hold what still has a retain to explain.
  private mutating func _tellDestructionFromZombies() {
    var isAny = false
    for row in 0..<_nodes.count
    where _nodes.state[row] == .deinited
      && _nodes.unowned[row, default: 0] > _nodes.unownedFound[row, default: 0]
    {
      _nodes.state[row] = .deiniting
      // Its own, which goes with the end of its destruction.
      _nodes.unowned[row, default: 0] -= 1
      let address = _nodes.address[row]
      // Elements of an array may lie in what the allocator added.
      let usable = _catalog.usableSize(of: address, Int(clamping: _nodes.size[row]))
      if usable > 16 {
        _ranges.append(
          row: row, range: (address + 16)..<(address + UInt64(usable)), label: .none)
      }
      isAny = true
    }
    if isAny { _ranges.sortByRow() }
  }

  /// Adds what the program registered: names, resources, edges.
  mutating func addRegistrations() {
    for registration in _inventory.registrations() where registration.isBlock {
      guard let row = _nodes.row(startingAt: registration.address), _nodes.isRegistered[row] else {
        continue
      }
      if registration.isResource {
        _resourceTypes[row] = registration.name
        _resourceBytes[row] = registration.bytes
        if _nodes.typeID[row] < 0 { _nodes.kind[row] = .resource }
      } else {
        _names[row] = registration.name
      }
    }
    for edge in _inventory.declaredEdges() {
      guard let from = _nodes.row(startingAt: edge.from), let to = _nodes.row(startingAt: edge.to)
      else { continue }
      _declared.append(
        from: from, to: to, label: _labels.label(edge.label), info: EdgeInfo(.strong, .declared))
    }
  }

  // MARK: Words without a type

  /// Lets the counts decide which words hold, and finds the roots.
  mutating func resolveWords() {
    let nodes = _nodes
    let taskLayout = _taskLayout
    let foreign = _foreign
    let taskBySlab = taskLayout?.taskBySlab(nodes) ?? [:]
    let frameStart: (Int) -> UInt64? = { row in
      taskLayout?.frameStart(
        of: nodes.address[row], until: nodes.address[row] + nodes.size[row])
    }
    let words = WordLabels(
      memory: _memory, nodes: _nodes, labels: _labels, images: _images, tasks: _tasks,
      foreign: _foreign, frameStart: frameStart)
    let types = _types
    let childTasks = ChildTasks(memory: _memory, images: _images)
    let exact = _exact
    _exact = EdgeTable()
    _known = [
      EdgeRows(consume exact, nodeCount: nodes.count),
      EdgeRows(_declared, nodeCount: nodes.count),
    ]
    var resolver = WordResolver(
      memory: _memory, nodes: _nodes, exactEdges: _known, ranges: _ranges,
      isStringStorage: _nodes.typeID.map {
        $0 >= 0 && types[Int($0)].name == "Swift.__StringStorage"
      },
      labelOfWord: { row, place in words.label(ofWordAt: place, in: row) },
      parentOfChildTask: { childTasks.row(ofTask: $0, in: nodes) },
      frameStart: frameStart,
      taskOfContext: { owner, place, slab in
        foreign.reference(at: place, in: owner)?.name == "context" ? taskBySlab[slab] : nil
      })

    let ownRanges = _inventory.ownRanges().sorted { $0.lowerBound < $1.lowerBound }
    // Each module's block may be preceded by bytes that align it.
    let threadLocalSize = _images.reduce(UInt64(0)) { $0 + UInt64($1.tlsTemplateSize) + 64 }
    let returned = returnedMain(of: _memory, threads: _threads, images: _images)
    let stacks = _threads.indices.map { index in
      var stack = ThreadStack(
        thread: _threads[index], memory: _memory, mappings: _memory.source.mappings,
        threadLocalSize: threadLocalSize)
      if index == returned?.thread, let exit = returned?.exit { stack?.begin(at: exit) }
      return stack
    }

    for (index, stack) in stacks.enumerated() {
      guard let stack else { continue }
      for row in freeContinuations(
        of: stack, thread: _threads[index].idInside, nodes: _nodes, memory: _memory)
      {
        resolver.disregardWords(of: row)
        _nodes.kind[row] = .runtime
      }
    }
    for row in streamBuffers(images: _images, nodes: _nodes, memory: _memory) {
      resolver.disregardWords(of: row)
    }
    resolver.resolveContinuations(_continuations)
    resolver.resolveCaptures()
    for image in _images {
      let isLibc = image.module.path.split(separator: "/").last?.hasPrefix("libc.so") == true
      for range in image.dataRanges {
        for piece in subtract(ownRanges, from: range) {
          resolver.scanRoots(piece, kind: .global, isAllocators: isLibc)
        }
      }
    }
    if let executor = mainExecutor(nodes: _nodes, types: _types) {
      resolver.addCountedRoot(
        .runtime, to: executor, label: _labels.label("run() of the main executor"))
    }
    for row in 0..<_nodes.count
    where _nodes.typeID[row] >= 0 && _types[Int(_nodes.typeID[row])].isCounted
      && _nodes.strong[row] == HeapNodes.uncounted && _pieceByRow[row] == nil
    {
      resolver.addRoot(.runtime, to: row, label: .none)
    }
    resolver.propagate()

    for (index, stack) in stacks.enumerated() {
      guard let stack else { continue }
      resolver.scanRoots(stack.threadLocal, kind: .threadLocal, thread: UInt32(index))
    }
    resolver.propagate()

    for (index, thread) in _threads.enumerated() {
      guard let stack = stacks[index] else {
        _diagnostics[
          "a thread's stack was not found; objects with a retain that nothing explains count as held",
          default: 0] += 1
        continue
      }
      if !thread.isStopped {
        _diagnostics["a thread did not stop; its registers are unknown", default: 0] += 1
      } else {
        for (register, value) in thread.registers.enumerated() {
          resolver.scanRegister(
            value, label: _labels.label(registerNames[register]), pc: thread.pc,
            thread: UInt32(index))
        }
      }
      resolver.scanRoots(stack.live, kind: .stack, thread: UInt32(index), pc: stack.pc(ofWordAt:))
    }
    resolver.propagate()
    // After all that is certainly in use: old words are frequent here.
    for (index, thread) in _threads.enumerated() {
      let interrupted = InterruptedThread(thread, memory: _memory)
      interrupted?.scan(&resolver, labels: _labels, thread: UInt32(index))
    }
    let endedStack = endedMainStack(of: _memory, threads: _threads, images: _images)
    if let endedStack {
      resolver.scanRoots(endedStack, kind: .stack)
      resolver.propagate()
    }
    let mapped = MappedMemory(
      memory: _memory, nodes: _nodes, images: _images, threads: _threads,
      mainThread: _inventory.facts.pid, threadLocalSize: threadLocalSize)
    for range in mapped.ranges() {
      for piece in subtract(ownRanges, from: range) { resolver.scanRoots(piece, kind: .mapped) }
    }
    resolver.propagate()
    resolver.resolveUnreached()
    if stacks.contains(where: { $0 == nil }) {
      // What isn't known to be held may be held by a stack that was not found.
      resolver.holdUnexplained(.stack, where: { _ in true })
    }
    if endedStack != nil {
      // Its end has overwritten some of the frames that it left.
      resolver.holdUnexplained(
        .stack,
        where: blocksMadeInMain(
          inventory: _inventory, images: _images, nodes: _nodes, memory: _memory))
    }

    _scanned = resolver.edges.without(_declared)
    _roots = resolver.roots
    _ranges = UntypedRanges()
    _nodes.explained = []
  }

  // MARK: The snapshot

  /// Puts everything into columns.
  ///
  /// What has been put there is given up at once: the tables and the columns together would be twice as large.
  mutating func makeSnapshot() -> Snapshot {
    var builder = SnapshotBuilder()
    builder.storage = storageUse(of: _nodes, types: _types, memory: _memory)
    let nodes = _nodes
    let usage = MemoryUsage(
      pages: _memory.source.residentPages, residentBytes: _memory.source.residentBytes,
      mappings: _memory.source.mappings, nodes: nodes, threads: _threads,
      ownRanges: _inventory.ownRanges(), isSwift: { nodes.typeID[$0] >= 0 })
    let trie = _inventory.stackTrie()
    builder.stackParents = trie.parents
    builder.stackPCs = trie.pcs
    let labelRows = _labels.copy(into: &builder)

    let typeRows = _types.map { builder.type($0.name, module: $0.module) }
    for (row, type) in zip(typeRows, _types) {
      _catalog.declareFields(of: type, as: row, in: &builder)
    }
    let blockType = builder.type("malloc block")
    let sideTableType = builder.type("weak reference side table")
    let continuationType = builder.type("libdispatch free continuation")
    let queueType = builder.type("task group queue")
    var rowsOfTypes: [UInt32] = []
    rowsOfTypes.reserveCapacity(nodes.count)
    for row in 0..<nodes.count {
      let typeID = Int(_nodes.typeID[row])
      let type: TypeIndex
      if let resource = _resourceTypes[row], typeID < 0 {
        type = builder.type(resource)
      } else if _nodes.kind[row] != .runtime, let foreign = _foreign.typeName(of: row) {
        type = builder.type(foreign.name, module: foreign.module)
      } else if typeID >= 0 {
        type = typeRows[typeID]
      } else {
        switch _nodes.kind[row] {
        case .sideTable: type = sideTableType
        case .runtime: type = _tasks.queueBlocks.contains(row) ? queueType : continuationType
        default: type = blockType
        }
      }
      rowsOfTypes.append(type.rawValue)
      if let name = _names[row] { builder.nodeNames[UInt32(row)] = builder.string(name) }
    }
    if _inventory.facts.sampleInterval > 0 {
      let rows = nodes.sampledBytes.keys.sorted()
      builder.sampling = Snapshot.Sampling(
        interval: _inventory.facts.sampleInterval, node: Column(rows.map { UInt32($0) }),
        bytes: Column(rows.map { nodes.sampledBytes[$0] ?? 0 }))
    }
    let nodeCount = nodes.count
    builder.ascendingNodes = _nodeColumns(
      types: consume rowsOfTypes, trieCount: trie.parents.count)
    nodes.removeAll()
    // No type is asked for any more, so nothing points into the copies.
    _memory.release([0..<UInt64.max], isKeptToo: true)
    var known = _known
    _known = []
    let scanned = _scanned
    _scanned = EdgeTable()
    known.append(EdgeRows(consume scanned, nodeCount: nodeCount))
    builder.ascendingEdges = EdgeRows.columns(of: consume known, nodeCount: nodeCount) {
      labelRows[$0.position]
    }
    for root in _roots {
      builder.addRoot(
        root.kind, to: UInt32(root.target), address: root.address, pc: root.pc, thread: root.thread,
        label: labelRows[root.label.position], strength: root.strength,
        provenance: root.kind == .runtime ? .reflected : .scanned)
    }
    var stacks = TaskStacks()
    for task in _tasks.rows {
      let stack = stacks.row(
        of: task.functions, parents: &builder.stackParents, pcs: &builder.stackPCs)
      builder.tasks.append(
        SnapshotBuilder.Task(
          node: UInt32(task.node), address: task.address, id: task.id, info: task.info,
          parent: task.parent ?? 0, suspendedAt: stack))
    }
    builder.modules = _images.map(\.module)
    builder.threads = _threads.map {
      Snapshot.Thread(id: $0.id, name: $0.name, stackPointer: $0.stackPointer, pc: $0.pc)
    }
    builder.marks = _inventory.marks()
    let facts = _inventory.facts
    builder.process = Snapshot.ProcessFacts(
      pid: facts.pid, executable: _memory.source.executable, mark: facts.markName,
      source: _memory.source.name, hasAgent: facts.hasAgent, isPartial: facts.isPartial,
      stackMode: facts.stackMode,
      runIdentity: facts.runIdentity,
      memory: usage.figures)
    for (text, count) in _diagnostics { builder.note(text, count: count) }
    for (text, count) in _catalog.diagnostics { builder.note(text, count: count) }
    for (text, count) in _inventory.diagnostics { builder.note(text, count: count) }
    return builder.finish()
  }

  /// The columns of the nodes; each of capture's own goes when it is not needed any more, since both together would be
  /// twice as large.
  private func _nodeColumns(types: consuming [UInt32], trieCount: Int) -> Snapshot.Nodes {
    let nodes = _nodes
    let count = nodes.count
    let type = Column(types)
    types = []
    nodes.isRegistered = []
    var largeNode: [UInt32] = []
    var largeBytes: [UInt64] = []
    let size = Column<UInt32>(count: count) { rows in
      for row in 0..<count {
        // A resource costs more than the block that stands for it; its words are the block's alone.
        let bytes = max(nodes.size[row], _resourceBytes.isEmpty ? 0 : _resourceBytes[row] ?? 0)
        rows.initializeElement(at: row, to: UInt32(clamping: bytes))
        if bytes >= UInt64(UInt32.max) {
          largeNode.append(UInt32(row))
          largeBytes.append(bytes)
        }
      }
    }
    nodes.size = []
    let strongCount = Column<UInt32>(count: count) { rows in
      for row in 0..<count {
        rows.initializeElement(
          at: row,
          to: nodes.strong[row] < 0 || nodes.typeID[row] < 0
            ? Snapshot.Nodes.uncounted : UInt32(nodes.strong[row]))
      }
    }
    nodes.strong = []
    nodes.typeID = []
    let stack = Column<UInt32>(count: count) { rows in
      for row in 0..<count {
        rows.initializeElement(
          at: row, to: _inventory.trieRow(ofStack: nodes.stackSlot[row], trieCount: trieCount))
      }
    }
    nodes.stackSlot = []
    func counts(_ countByRow: [Int: Int32]) -> Column<UInt16> {
      Column(count: count) { rows in
        rows.initialize(repeating: 0)
        for (row, count) in countByRow { rows[row] = UInt16(clamping: count) }
      }
    }
    func bytes<Value: RawRepresentable>(_ values: [Value]) -> Column<UInt8>
    where Value.RawValue == UInt8 {
      Column(count: count) { rows in
        for row in 0..<count { rows.initializeElement(at: row, to: values[row].rawValue) }
      }
    }
    let address = Column(nodes.address)
    nodes.address = []
    return Snapshot.Nodes(
      address: address, size: size, type: type, stack: stack,
      generation: Column(nodes.generation), kind: bytes(nodes.kind), state: bytes(nodes.state),
      strongCount: strongCount, unownedCount: counts(nodes.unowned), weakCount: counts(nodes.weak),
      largeNode: Column(largeNode), largeBytes: Column(largeBytes))
  }
}
