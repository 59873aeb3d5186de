// ForeignObjects: the objects of CoreFoundation and libdispatch among the blocks of a captured program.

internal import SnapshotFormat

/// What blocks of C libraries are, by row: their types' names and the names of their references.
///
/// This names and folds, and knows words that the library doesn't read; which of the others hold is decided by
/// the counts, as for any word without a type.
struct ForeignObjects {
  private enum Role {
    case coreFoundation(String)

    /// The table of a collection of CoreFoundation; its elements begin at an offset.
    case table(name: String)
    case dispatch(DispatchLayouts.Part)
  }

  private let _nodes: HeapNodes
  private let _memory: TargetMemory
  private var _roleByRow: [Int: Role] = [:]

  /// A bit for each row, set where it has a role: most have none, and each reference asks.
  private var _hasRole: [UInt64] = []

  /// A reference that no word shows as it is.
  struct HiddenReference {
    var from: Int
    var to: Int
    var name: String
  }
  private(set) var hiddenReferences: [HiddenReference] = []

  /// The places that are looked at, by row, of blocks in which the library doesn't read the others.
  private var _placesInUse: [Int: [Range<UInt64>]] = [:]

  /// Looks at all blocks, once the Swift objects among them are known.
  ///
  /// - Complexity: O(*n*) for *n* blocks.
  init(nodes: HeapNodes, memory: TargetMemory, images: [LoadedImage]) {
    self.init(
      nodes: nodes, memory: memory,
      coreFoundation: CoreFoundationLayouts(memory: memory, images: images),
      dispatch: DispatchLayouts(memory: memory, images: images))
  }

  /// The same with the layouts of the libraries that the program has.
  init(
    nodes: HeapNodes, memory: TargetMemory, coreFoundation: CoreFoundationLayouts?,
    dispatch: DispatchLayouts?
  ) {
    _nodes = nodes
    _memory = memory
    if let coreFoundation { _addCoreFoundation(coreFoundation) }
    if let dispatch { _addDispatch(dispatch) }
    if _roleByRow.isEmpty { return }
    _hasRole = [UInt64](repeating: 0, count: nodes.count / 64 + 1)
    for row in _roleByRow.keys { _hasRole[row / 64] |= 1 << UInt64(row % 64) }
  }

  private func _role(of row: Int) -> Role? {
    guard row / 64 < _hasRole.count, _hasRole[row / 64] & 1 << UInt64(row % 64) != 0 else {
      return nil
    }
    return _roleByRow[row]
  }

  private mutating func _addCoreFoundation(_ layouts: CoreFoundationLayouts) {
    for row in 0..<_nodes.count where _nodes.kind[row] == .coreFoundation {
      guard let name = layouts.className(of: _nodes.address[row]) else { continue }
      _roleByRow[row] = .coreFoundation(name)
      if CoreFoundationLayouts.folded.contains(name) { _nodes.kind[row] = .cStorage }
    }
    for (row, role) in _roleByRow {
      guard case .coreFoundation(let name) = role else { continue }
      let object = _nodes.address[row]
      let tables: [(UInt64, String)]
      if name == "CFArray" {
        tables = [(48, "")]
      } else if name == "CFDictionary" {
        tables = [(48, ""), (56, "key")]
      } else if CoreFoundationLayouts.hashTables.contains(name) {
        tables = [(48, "")]
      } else {
        continue
      }
      for (place, name) in tables {
        guard place + 8 <= _nodes.size[row], let word = _memory.word(at: object + place),
          let table = _nodes.row(startingAt: word), _nodes.typeID[table] < 0,
          _nodes.kind[table] == .block
        else { continue }
        _nodes.kind[table] = .cStorage
        _roleByRow[table] = .table(name: name)
      }
    }
  }

  private mutating func _addDispatch(_ layouts: DispatchLayouts) {
    var handlers: [DispatchLayouts.Handler] = []
    for row in 0..<_nodes.count where _nodes.typeID[row] < 0 && _nodes.kind[row] == .block {
      let block = _nodes.address[row]
      guard let part = layouts.part(at: block, size: _nodes.size[row]) else { continue }
      _roleByRow[row] = .dispatch(part)
      switch part {
      case .continuation:
        _nodes.kind[row] = .cStorage
        // A queue, a source or a timer has it for itself. Words that are left over point to it, too.
        _nodes.strong[row] = 1
        _placesInUse[row] = layouts.wordsInUse(ofContinuation: block, size: _nodes.size[row])
      case .registration(let kind, let start):
        handlers += layouts.handlers(ofRegistration: block, kind: kind, at: start)
        if let owner = layouts.owner(ofRegistration: block, at: start),
          let source = _nodes.row(startingAt: owner)
        {
          hiddenReferences.append(HiddenReference(from: row, to: source, name: "source"))
        }
      case .object:
        break
      }
    }
    for handler in handlers {
      guard let row = _nodes.row(startingAt: handler.block), _nodes.typeID[row] < 0,
        let places = layouts.wordsInUse(
          ofContinuation: handler.block, size: _nodes.size[row], handler: handler)
      else { continue }
      _placesInUse[row] = places
    }
  }

  /// The words of a block that has no type which can hold something.
  func wordsInUse(of row: Int) -> [Range<UInt64>] {
    let start = _nodes.address[row]
    guard let places = _placesInUse[row] else { return [start..<(start + _nodes.size[row])] }
    return places.map { start + $0.lowerBound..<start + $0.upperBound }
  }

  /// The name of a block's type; nil for one that is no object of a known library.
  func typeName(of row: Int) -> (name: String, module: String)? {
    switch _role(of: row) {
    case .coreFoundation(let name): (name, "CoreFoundation")
    case .table: ("CoreFoundation table", "CoreFoundation")
    case .dispatch(let part): (DispatchLayouts.typeName(of: part), "Dispatch")
    case nil: nil
    }
  }

  /// What the reference at a place in a block is called, and whether it is an element; nil where that is
  /// not known.
  func reference(at place: UInt64, in row: Int) -> (name: String, isElement: Bool)? {
    switch _role(of: row) {
    case .coreFoundation(let name):
      if CoreFoundationLayouts.folded.contains(name), name != "CFRunLoopMode" {
        // A mutable collection's elements are in a table, an immutable one's in itself.
        let leadsToTable =
          _memory.word(at: _nodes.address[row] + place).flatMap { _nodes.row(startingAt: $0) }
          .map { if case .table = _role(of: $0) { true } else { false } } ?? false
        return ("", !leadsToTable)
      }
      guard let fields = CoreFoundationLayouts.fieldsByClass[name],
        let field = fields.first(where: { $0.offset == place }), _isLaidOut(row, fields)
      else { return nil }
      return (field.name, false)
    case .table(let name):
      return (name, true)
    case .dispatch(let part):
      return DispatchLayouts.name(ofPlace: place, in: part).map { ($0, false) }
    case nil:
      return nil
    }
  }

  /// Whether all fields of an object lead to nothing or to what its layout says.
  private func _isLaidOut(_ row: Int, _ fields: [CoreFoundationLayouts.Field]) -> Bool {
    fields.allSatisfy { field in
      guard let target = field.target else { return true }
      guard field.offset + 8 <= _nodes.size[row],
        let word = _memory.word(at: _nodes.address[row] + field.offset)
      else { return false }
      guard word != 0, let found = _nodes.row(startingAt: word) else {
        // Constant strings lie in the library's data.
        return true
      }
      guard case .coreFoundation(let name) = _role(of: found) else { return false }
      return name == target
    }
  }
}
