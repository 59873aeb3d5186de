// Snapshot+Validate: the proof of everything that loops over columns rely on.

internal import GraphPrimitives

/// What makes a snapshot's columns unusable, before it is known where in a file they lie.
internal struct Malformation: Error {
  var section: SnapshotSection

  /// The offending place, in bytes from the start of the section.
  var offset: UInt64
  var reason: String

  init(_ section: SnapshotSection, row: Int, _ reason: String) {
    self.section = section
    offset = UInt64(row) * UInt64(section.width)
    self.reason = reason
  }
}

extension Snapshot {
  /// Checks what loops over columns rely on, so that they need not check it themselves.
  ///
  /// After it every row that is named exists, the columns of a table are equally long, addresses are
  /// strictly ascending, `edges.firstEdge` cuts the edges into one run for each node, a stack's parent
  /// comes before it, and every kind, state, strength and provenance is a known one.
  ///
  /// - Throws: `SnapshotError.malformed` naming the first column and row that breaks a rule.
  /// - Complexity: O(*n* + *e* + *s*) for *n* nodes, *e* edges and *s* stacks; reads every column once.
  public func validate() throws(SnapshotError) {
    do throws(Malformation) {
      try check()
    } catch {
      throw .malformed(
        path: "", section: error.section.rawValue, offset: error.offset, reason: error.reason)
    }
  }

  /// The body of `validate()`.
  internal func check() throws(Malformation) {
    try _checkStrings()
    try _checkNames()
    try _checkNodes()
    try _checkEdges()
    try _checkRoots()
    try _checkTasks()
    try _checkStorage()
    try _checkFields()
    try _checkSampling()
    for (row, module) in modules.enumerated() where module.end < module.start {
      throw Malformation(.modules, row: 0, "module \(row) ends before it starts")
    }
  }

  private func _checkStrings() throws(Malformation) {
    let table = strings.offset
    guard table.count >= 2, table.count <= Int(UInt32.max) else {
      throw Malformation(
        .stringsOffset, row: 0, "there are \(table.count) rows, at least 2 are needed")
    }
    try _checkRuns(.stringsOffset, table, end: strings.bytes.count, of: "strings.bytes")
    guard table[1] == 0 else {
      throw Malformation(.stringsOffset, row: 1, "string 0 is not empty")
    }
  }

  /// Checks types, labels, stacks and the names of nodes.
  private func _checkNames() throws(Malformation) {
    let texts = strings.count
    try _checkTable(.typesName, types.count)
    try _checkCount(.typesModule, types.module.count, types.count, of: "types")
    try _checkRows(.typesName, types.name, below: texts, of: "strings")
    try _checkRows(.typesModule, types.module, below: texts, of: "strings")

    try _checkTable(.labelsName, labels.count)
    try _checkCount(.labelsIndex, labels.index.count, labels.count, of: "labels")
    try _checkCount(.labelsFunction, labels.function.count, labels.count, of: "labels")
    try _checkRows(.labelsName, labels.name, below: texts, of: "strings")
    guard labels.count >= 1 else { throw Malformation(.labelsName, row: 0, "row 0 is missing") }
    guard labels.name[0] == 0 else {
      throw Malformation(.labelsName, row: 0, "row 0 has a name; it is the label of unnamed edges")
    }
    guard labels.index[0] == Labels.noIndex else {
      throw Malformation(
        .labelsIndex, row: 0, "row 0 has an index; it is the label of unnamed edges")
    }
    guard labels.function[0] == 0 else {
      throw Malformation(
        .labelsFunction, row: 0, "row 0 has a function; it is the label of unnamed edges")
    }

    try _checkTable(.stacksParent, stacks.count)
    try _checkCount(.stacksPC, stacks.pc.count, stacks.count, of: "stacks")
    guard stacks.count >= 1 else { throw Malformation(.stacksParent, row: 0, "row 0 is missing") }
    guard stacks.parent[0] == 0 else {
      throw Malformation(.stacksParent, row: 0, "row 0 has a caller; it is the outermost row")
    }
    let ascending = stacks.parent.withUnsafeBufferPointer { parents in
      var row = 1
      while row < parents.count, Int(parents[row]) < row { row += 1 }
      return row
    }
    if ascending < stacks.count {
      throw Malformation(
        .stacksParent, row: ascending,
        "row \(ascending) names row \(stacks.parent[ascending]) as its caller, which does not come "
          + "before it")
    }
  }

  private func _checkNodes() throws(Malformation) {
    let count = nodes.count
    try _checkTable(.nodesAddress, count)
    try _checkCount(.nodesSize, nodes.size.count, count, of: "nodes")
    try _checkCount(.nodesType, nodes.type.count, count, of: "nodes")
    try _checkCount(.nodesStack, nodes.stack.count, count, of: "nodes")
    try _checkCount(.nodesGeneration, nodes.generation.count, count, of: "nodes")
    try _checkCount(.nodesKind, nodes.kind.count, count, of: "nodes")
    try _checkCount(.nodesState, nodes.state.count, count, of: "nodes")
    try _checkCount(.nodesStrongCount, nodes.strongCount.count, count, of: "nodes")
    try _checkCount(.nodesUnownedCount, nodes.unownedCount.count, count, of: "nodes")
    try _checkCount(.nodesWeakCount, nodes.weakCount.count, count, of: "nodes")

    try _checkAscending(.nodesAddress, nodes.address)
    try _checkRows(.nodesType, nodes.type, below: types.count, of: "types")
    try _checkRows(.nodesStack, nodes.stack, below: stacks.count, of: "stacks")
    try _checkKinds(.nodesKind, nodes.kind, .kind)
    try _checkKinds(.nodesState, nodes.state, .state)

    try _checkTable(.largeSizesNode, nodes.largeNode.count)
    try _checkCount(
      .largeSizesBytes, nodes.largeBytes.count, nodes.largeNode.count, of: "largeSizes")
    try _checkAscending(.largeSizesNode, nodes.largeNode)
    try _checkRows(.largeSizesNode, nodes.largeNode, below: count, of: "nodes")
    for (row, node) in nodes.largeNode.enumerated() {
      guard nodes.size[Int(node)] == UInt32.max else {
        throw Malformation(
          .largeSizesNode, row: row, "row \(row) names node \(node), whose size is in nodes.size")
      }
      guard nodes.largeBytes[row] >= UInt64(UInt32.max) else {
        throw Malformation(
          .largeSizesBytes, row: row,
          "row \(row) is \(nodes.largeBytes[row]), which nodes.size could have held")
      }
    }
    try _checkEnds()

    let names = nodeNames
    for (node, name) in names {
      guard node.position < count, name.position < strings.count else {
        throw Malformation(
          .namesNode, row: 0,
          "node \(node.rawValue) has string \(name.rawValue) as its name; there are \(count) nodes and "
            + "\(strings.count) strings")
      }
    }
  }

  /// Checks that no node ends past the end of the address space, so that ranges can be formed.
  private func _checkEnds() throws(Malformation) {
    let count = nodes.count
    let bad = nodes.address.withUnsafeBufferPointer { addresses in
      nodes.size.withUnsafeBufferPointer { sizes in
        // Addresses ascend, so nearly all nodes lie below this line and need no look of their own.
        var row = count
        while row > 0, addresses[row - 1] > UInt64.max - UInt64(UInt32.max) { row -= 1 }
        while row < count, !addresses[row].addingReportingOverflow(UInt64(sizes[row])).overflow {
          row += 1
        }
        return row
      }
    }
    let large = nodes.largeNode.indices.first {
      nodes.address[Int(nodes.largeNode[$0])].addingReportingOverflow(nodes.largeBytes[$0]).overflow
    }
    if bad < count {
      throw Malformation(
        .nodesSize, row: bad, "node \(bad) ends past the end of the address space")
    }
    if let large {
      throw Malformation(
        .largeSizesBytes, row: large,
        "node \(nodes.largeNode[large]) ends past the end of the address space")
    }
  }

  private func _checkEdges() throws(Malformation) {
    let count = edges.count
    try _checkTable(.edgesTarget, count)
    try _checkCount(
      .edgesFirstEdge, edges.firstEdge.count, nodes.count + 1, of: "nodes, and one more")
    try _checkCount(.edgesLabel, edges.label.count, count, of: "edges")
    try _checkCount(.edgesInfo, edges.info.count, count, of: "edges")
    try _checkRuns(.edgesFirstEdge, edges.firstEdge, end: count, of: "edges")
    try _checkRows(.edgesTarget, edges.target, below: nodes.count, of: "nodes")
    try _checkRows(.edgesLabel, edges.label, below: labels.count, of: "labels")
    try _checkKinds(.edgesInfo, edges.info, .info)
  }

  private func _checkRoots() throws(Malformation) {
    let count = roots.count
    try _checkTable(.rootsTarget, count)
    try _checkCount(.rootsKind, roots.kind.count, count, of: "roots")
    try _checkCount(.rootsInfo, roots.info.count, count, of: "roots")
    try _checkCount(.rootsAddress, roots.address.count, count, of: "roots")
    try _checkCount(.rootsPC, roots.pc.count, count, of: "roots")
    try _checkCount(.rootsThread, roots.thread.count, count, of: "roots")
    try _checkCount(.rootsLabel, roots.label.count, count, of: "roots")
    try _checkKinds(.rootsKind, roots.kind, .root)
    try _checkRows(.rootsTarget, roots.target, below: nodes.count, of: "nodes")
    try _checkKinds(.rootsInfo, roots.info, .info)
    try _checkRows(.rootsLabel, roots.label, below: labels.count, of: "labels")
    let limit = threads.count
    let bad = roots.thread.withUnsafeBufferPointer { rows in
      var row = 0
      while row < rows.count, Int(rows[row]) < limit || rows[row] == UInt32.max { row += 1 }
      return row
    }
    if bad < count {
      throw Malformation(
        .rootsThread, row: bad,
        "row \(bad) names row \(roots.thread[bad]) of threads, which has \(limit)")
    }
  }

  private func _checkTasks() throws(Malformation) {
    let count = tasks.count
    try _checkTable(.tasksAddress, count)
    try _checkCount(.tasksNode, tasks.node.count, count, of: "tasks")
    try _checkCount(.tasksID, tasks.id.count, count, of: "tasks")
    try _checkCount(.tasksInfo, tasks.info.count, count, of: "tasks")
    try _checkCount(.tasksParent, tasks.parent.count, count, of: "tasks")
    try _checkCount(.tasksSuspendedAt, tasks.suspendedAt.count, count, of: "tasks")
    try _checkAscending(.tasksAddress, tasks.address)
    try _checkRows(.tasksNode, tasks.node, below: nodes.count, of: "nodes")
    try _checkRows(.tasksSuspendedAt, tasks.suspendedAt, below: stacks.count, of: "stacks")
    for (row, parent) in tasks.parent.enumerated() {
      guard parent == Tasks.noParent || Int(parent) < count else {
        throw Malformation(
          .tasksParent, row: row,
          "row \(row) names row \(parent) of tasks, which has \(count)")
      }
    }
  }

  private func _checkStorage() throws(Malformation) {
    let count = storage.rowCount
    try _checkCount(.storageCount, storage.count.count, count, of: "storages")
    try _checkCount(.storageCapacity, storage.capacity.count, count, of: "storages")
    try _checkCount(.storageText, storage.text.count, count, of: "storages")
    try _checkAscending(.storageNode, storage.node)
    try _checkRows(.storageNode, storage.node, below: nodes.count, of: "nodes")
    for row in 0..<count where storage.count[row] > storage.capacity[row] {
      throw Malformation(
        .storageCount, row: row,
        "row \(row) is \(storage.count[row]), more than its capacity \(storage.capacity[row])")
    }
  }

  private func _checkSampling() throws(Malformation) {
    guard let sampling else { return }
    guard sampling.interval > 0 else { throw Malformation(.sampling, row: 0, "the interval is 0") }
    try _checkCount(.samplesBytes, sampling.bytes.count, sampling.node.count, of: "samples")
    try _checkAscending(.samplesNode, sampling.node)
    try _checkRows(.samplesNode, sampling.node, below: nodes.count, of: "nodes")
  }

  private func _checkFields() throws(Malformation) {
    let count = fields.rowCount
    try _checkCount(.fieldsName, fields.name.count, count, of: "fields")
    try _checkCount(.fieldsDeclaration, fields.declaration.count, count, of: "fields")
    try _checkRows(.fieldsType, fields.type, below: types.count, of: "types")
    try _checkRows(.fieldsName, fields.name, below: strings.count, of: "strings")
    for row in 1..<max(count, 1)
    where (fields.type[row - 1], fields.name[row - 1]) >= (fields.type[row], fields.name[row]) {
      throw Malformation(
        .fieldsName, row: row, "row \(row) is not greater than the row before it")
    }
  }

  /// Checks that a table's rows can be numbered, `UInt32.max` left for none.
  private func _checkTable(_ section: SnapshotSection, _ count: Int) throws(Malformation) {
    guard count < Int(UInt32.max) else {
      throw Malformation(section, row: 0, "there are \(count) rows, more than can be numbered")
    }
  }

  private func _checkCount(
    _ section: SnapshotSection, _ found: Int, _ expected: Int, of table: String
  ) throws(Malformation) {
    guard found == expected else {
      throw Malformation(
        section, row: 0, "there are \(found) rows and should be \(expected), the number of \(table)"
      )
    }
  }

  /// Checks that every row that a column names exists.
  private func _checkRows(
    _ section: SnapshotSection, _ column: Column<UInt32>, below limit: Int, of table: String
  ) throws(Malformation) {
    let bad = column.withUnsafeBufferPointer { rows -> Int? in
      // First without an early end: that loop is vectorized.
      var greatest: UInt32 = 0
      var row = 0
      while row < rows.count {
        greatest = max(greatest, rows[row])
        row &+= 1
      }
      if rows.isEmpty || Int(greatest) < limit { return nil }
      return rows.firstIndex { Int($0) >= limit }
    }
    if let bad {
      throw Malformation(
        section, row: bad, "row \(bad) names row \(column[bad]) of \(table), which has \(limit)")
    }
  }

  private func _checkAscending<Number: FixedWidthInteger & BitwiseCopyable & Sendable>(
    _ section: SnapshotSection, _ column: Column<Number>
  ) throws(Malformation) {
    let bad = column.withUnsafeBufferPointer { rows in
      var row = 1
      while row < rows.count, rows[row - 1] < rows[row] { row += 1 }
      return row
    }
    if bad < column.count {
      throw Malformation(section, row: bad, "row \(bad) is not greater than the row before it")
    }
  }

  /// Checks the starts of runs: from 0, never descending, up to the number of what they divide.
  private func _checkRuns(
    _ section: SnapshotSection, _ column: Column<UInt32>, end: Int, of table: String
  ) throws(Malformation) {
    guard column.first == 0 else { throw Malformation(section, row: 0, "row 0 is not 0") }
    let bad = column.withUnsafeBufferPointer { rows in
      var row = 1
      while row < rows.count, rows[row - 1] <= rows[row] { row += 1 }
      return row
    }
    if bad < column.count {
      throw Malformation(section, row: bad, "row \(bad) is less than the row before it")
    }
    let last = column.count - 1
    guard Int(column[last]) == end else {
      throw Malformation(
        section, row: last,
        "the last row is \(column[last]) and should be \(end), the size of \(table)")
    }
  }

  private func _checkKinds(
    _ section: SnapshotSection, _ column: Column<UInt8>, _ vocabulary: Vocabulary
  ) throws(Malformation) {
    if let bad = vocabulary.firstUnknown(in: column) {
      throw Malformation(
        section, row: bad, "row \(bad) is \(column[bad]), which is no \(vocabulary.noun)")
    }
  }
}
