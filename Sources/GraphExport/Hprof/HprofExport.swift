// HprofExport: the graph as a heap dump of Java, in the binary form "JAVA PROFILE 1.0.2" of HPROF.

internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat
internal import Symbolication

/// Writes a `.hprof`, which VisualVM and Eclipse MAT read.
///
/// Their graph is that of a garbage collector, as Perfetto's is: only references that hold are there. docs/export.md says what
/// becomes of what.
package enum HprofExport {
  /// How many fields a class may have; where objects of one name have more between them, they are written as arrays.
  static let mostFields = 256

  /// - Returns: What the form can't say, in sentences without a full stop.
  /// - Throws: What the stream's taker throws.
  /// - Complexity: O(*V* + *E*), times the fields of a class where its objects list theirs in different orders; 4 bytes an object are in
  ///   memory.
  package static func write(
    _ exported: ExportedSnapshot, to stream: ExportStream
  ) throws -> [String] {
    var writer = HprofWriter(exported, stream)
    return try writer.write()
  }
}

/// A class that objects of one name are instances of.
private struct HprofClass {
  /// The fields of all of them: the row of a reference's name, and which one of that name it is in its object.
  var fields: [UInt64] = []

  /// Whether they are arrays instead, whose elements have no names.
  var isArray = false
  var objectCount: UInt64 = 0
  var bytes: UInt64 = 0

  /// The place of a field.
  ///
  /// - Parameter hint: Where it is looked for first.
  func place(of field: UInt64, hint: Int) -> Int? {
    if hint < fields.count, fields[hint] == field { return hint }
    return fields.firstIndex(of: field)
  }
}

/// What of Java must be there, and what stands for code and roots: classes without objects.
private struct HprofPlace {
  var name: UInt32

  /// The place of the class that it is derived from.
  var superclass = 0

  /// The row of the text that names its instances' only field.
  var field: UInt32?

  /// What refers to objects as static fields do: the row of a text, and the object.
  var statics: [(text: UInt32, target: UInt64)] = []
}

/// One dump on its way. Tags and the order of fields are those of the HPROF manual of the JDK.
private struct HprofWriter {
  /// How many static fields a class may have: they are counted in two bytes.
  private static let mostStatics = Int(UInt16.max)

  /// The serial number of the stack of what has none.
  private static let noStack: UInt32 = 1

  /// What Java's objects take before their fields: two words.
  private static let emptyObjectSize: UInt32 = 16

  private enum Record: UInt8 {
    case text = 0x01
    case loadClass = 0x02
    case frame = 0x04
    case trace = 0x05
    case segment = 0x1C
    case end = 0x2C
  }

  private enum Part: UInt8 {
    case rootClass = 0x05
    case classDump = 0x20
    case instance = 0x21
    case array = 0x22
  }

  private enum Kind: UInt8 {
    case object = 2
    case long = 11
  }

  private let _exported: ExportedSnapshot
  private let _graph: HeapGraph
  private let _labels: Snapshot.Labels
  private let _stream: ExportStream

  private var _objectNames = ObjectNames()
  private var _referenceNames = ReferenceNames()
  private var _code = CodeTree()
  private var _texts = Texts()

  /// The classes of objects by the rows of their names, and which of them each object is of.
  private var _classes: [HprofClass] = []
  private var _classByNode: [UInt32] = []

  /// The classes of no object: the superclass of all, that of code, what else of Java readers look for, then roots by kind.
  private var _places: [HprofPlace] = []
  private static let codePlace = 1

  /// The calls that made objects, and for each call the one that a reader wants to see, which does more than allocate.
  private var _calls: Set<UInt32> = []
  private var _shownCalls: [UInt32] = []

  private var _leftOutCount = 0
  private var _namelessCount = 0

  /// The names of references of the object at hand, and the values of its fields.
  private var _met: [UInt32] = []
  private var _values: [UInt64] = []

  init(_ exported: ExportedSnapshot, _ stream: ExportStream) {
    _exported = exported
    _graph = exported.graph
    _labels = exported.graph.snapshot.labels
    _stream = stream
    _objectNames.startSnapshot(_graph)
    _referenceNames.startSnapshot(_graph)
  }

  /// An object's number is the same in each dump of its run.
  private func id(of node: NodeIndex) -> UInt64 { _exported.identity(of: node) }

  /// Numbers of classes have the highest bit, which no object's has.
  private func id(ofClass row: Int) -> UInt64 { 1 << 63 | UInt64(row + 1) << 4 }
  private func id(ofPlace row: Int) -> UInt64 { id(ofClass: _classes.count + row) }

  mutating func write() throws -> [String] {
    learnClasses()
    learnRoots()
    try writeHeader()
    try writeClassNames()
    try writeCode()
    try writeTexts()
    try writeHeap()
    try _stream.flush()
    return notes
  }

  private var notes: [String] {
    var notes = [
      "hprof has one size for all objects of a class, which is their mean, and arrays have that of their elements: "
        + "the size of an object is in its field (bytes)"
    ]
    if _leftOutCount > 0 {
      notes.append(
        "hprof has references that hold only: \(Units.count(_leftOutCount, "other")) left out")
    }
    if _namelessCount > 0 {
      notes.append(
        "hprof has no names in arrays: \(Units.count(_namelessCount, "reference")) of collections have only a place"
      )
    }
    return notes
  }

  // MARK: - What there is

  /// Meets the names of objects and what their fields are.
  private mutating func learnClasses() {
    _classByNode.reserveCapacity(_graph.nodeCount)
    for node in _graph.nodes {
      let row = Int(_objectNames.row(of: node, graph: _graph, names: _exported.names))
      while _classes.count <= row { _classes.append(HprofClass()) }
      _classByNode.append(UInt32(row))
      _classes[row].objectCount += 1
      let (bytes, isTooLarge) = _classes[row].bytes.addingReportingOverflow(
        _graph.snapshot.nodes.bytes(node))
      _classes[row].bytes = isTooLarge ? .max : bytes
      if _graph.kind(of: node) == .storage, holdsAny(node) { _classes[row].isArray = true }
      if !_classes[row].isArray { learnFields(of: node, class: row) }
      let call = _code.call(of: _graph.distinguishingStack(of: node), names: _exported.names)
      if call != 0 { _calls.insert(call) }
    }
    _shownCalls = _code.callsWithoutAllocators()
    _calls = Set(_calls.map { _shownCalls[Int($0)] })
  }

  private func holdsAny(_ node: NodeIndex) -> Bool {
    _graph.edges(of: node).contains { _exported.holds(EdgeIndex($0), from: node) }
  }

  private mutating func learnFields(of node: NodeIndex, class row: Int) {
    _met.removeAll(keepingCapacity: true)
    for edge in _graph.edges(of: node) where _exported.holds(EdgeIndex(edge), from: node) {
      let field = field(EdgeIndex(edge), from: node)
      if _classes[row].place(of: field, hint: _met.count - 1) != nil { continue }
      _classes[row].fields.append(field)
      if _classes[row].fields.count > HprofExport.mostFields {
        _classes[row].isArray = true
        _classes[row].fields = []
        return
      }
    }
  }

  /// What a reference is among those of its object, which come in order.
  private mutating func field(_ edge: EdgeIndex, from node: NodeIndex) -> UInt64 {
    let reference = _referenceNames.row(of: edge, from: node, names: _exported.names)
    let before = _met.count { $0 == reference }
    _met.append(reference)
    return UInt64(reference) << 32 | UInt64(before)
  }

  /// Meets what refers to objects from outside.
  private mutating func learnRoots() {
    for name in ["java.lang.Object", "(code)", "java.lang.Class", "java.lang.ClassLoader"] {
      _places.append(HprofPlace(name: _texts.row(of: name)))
    }
    // VisualVM finds no way to a root unless it knows which references are weak, so all four kinds must be there.
    let reference = _places.count
    _places.append(
      HprofPlace(
        name: _texts.row(of: "java.lang.ref.Reference"), field: _texts.row(of: "referent")))
    for kind in ["Weak", "Soft", "Final", "Phantom"] {
      _places.append(
        HprofPlace(
          name: _texts.row(of: "java.lang.ref.\(kind)Reference"), superclass: reference))
    }
    var byKind = [[(UInt32, UInt64)]](repeating: [], count: RootKind.allCases.count)
    for row in 0..<_graph.snapshot.roots.count {
      let root = RootIndex(row)
      guard EdgeInfo(rawValue: _graph.snapshot.roots.info[row]).isStrong else {
        _leftOutCount += 1
        continue
      }
      byKind[Int(_graph.kind(of: root).rawValue)].append(
        (_texts.row(of: _exported.names.root(root).name), id(of: _graph.target(of: root))))
    }
    for kind in RootKind.allCases { addPlaces("(\(kind.title))", byKind[Int(kind.rawValue)]) }
    // What is held though no root is known is not garbage there either.
    let held = _texts.row(of: "held")
    addPlaces(
      "(held, but by no root that is known)",
      _graph.heldWithoutRoot.map { (held, id(of: $0)) })
  }

  private mutating func addPlaces(_ name: String, _ statics: [(UInt32, UInt64)]) {
    for first in stride(from: 0, to: statics.count, by: Self.mostStatics) {
      let end = min(first + Self.mostStatics, statics.count)
      _places.append(
        HprofPlace(
          name: _texts.row(of: name),
          statics: statics[first..<end].map { (text: $0.0, target: $0.1) }))
    }
  }

  // MARK: - Records

  private func writeHeader() throws {
    _stream.put("JAVA PROFILE 1.0.2")
    _stream.put(byte: 0)
    _stream.put(big: UInt32(8))
    // The time: none, so that the same snapshot gives the same bytes.
    _stream.put(big: UInt64(0))
    try _stream.checkpoint()
  }

  private func put(_ record: Record, size: Int) {
    _stream.put(byte: record.rawValue)
    _stream.put(big: UInt32(0))
    _stream.put(big: UInt32(size))
  }

  private func id(ofText row: UInt32) -> UInt64 { UInt64(row) + 1 }

  /// A name as Java's own files have it: an array's begins with `[`, and no other does.
  private func className(_ row: Int) -> String {
    let name = _objectNames.names[row].name
    if _classes[row].isArray { return "[L\(name);" }
    return name.hasPrefix("[") ? "(\(name))" : name
  }

  private mutating func writeClassNames() throws {
    for row in _classes.indices {
      try writeClass(row, id: id(ofClass: row), name: _texts.row(of: className(row)))
    }
    for row in _places.indices {
      try writeClass(_classes.count + row, id: id(ofPlace: row), name: _places[row].name)
    }
  }

  private func writeClass(_ row: Int, id: UInt64, name: UInt32) throws {
    put(.loadClass, size: 24)
    _stream.put(big: UInt32(row + 1))
    _stream.put(big: id)
    _stream.put(big: Self.noStack)
    _stream.put(big: self.id(ofText: name))
    try _stream.checkpoint()
  }

  /// Writes the functions, and the stacks that objects are from; the innermost frame comes first.
  private mutating func writeCode() throws {
    let nothing = _texts.row(of: "")
    for (row, frame) in _code.frames.enumerated().dropFirst() {
      put(.frame, size: 40)
      _stream.put(big: UInt64(row))
      _stream.put(big: id(ofText: _texts.row(of: Names.sourceSpelling(of: frame.function))))
      _stream.put(big: id(ofText: nothing))
      _stream.put(big: id(ofText: frame.file.map { _texts.row(of: $0) } ?? nothing))
      _stream.put(big: UInt32(_classes.count + Self.codePlace + 1))
      _stream.put(big: UInt32(clamping: frame.line ?? 0))
      try _stream.checkpoint()
    }
    put(.trace, size: 12)
    for number in [Self.noStack, 0, 0] { _stream.put(big: number) }
    for call in _calls.sorted() {
      var frames: [UInt32] = []
      var next = call
      while next != 0 {
        frames.append(_code.frameByCall[Int(next)])
        next = _code.callers[Int(next)]
      }
      put(.trace, size: 12 + 8 * frames.count)
      for number in [serial(of: call), 0, UInt32(frames.count)] { _stream.put(big: number) }
      for frame in frames { _stream.put(big: UInt64(frame)) }
      try _stream.checkpoint()
    }
  }

  private func serial(of call: UInt32) -> UInt32 { call + Self.noStack }

  /// Writes all texts: readers look them up, so they may come after those that name them.
  private mutating func writeTexts() throws {
    for class_ in _classes {
      for field in class_.fields { _ = _texts.row(of: fieldName(field)) }
    }
    _ = _texts.row(of: Self.sizeField)
    for (row, text) in _texts.all.enumerated() {
      let bytes = Array(text.utf8)
      put(.text, size: 8 + bytes.count)
      _stream.put(big: id(ofText: UInt32(row)))
      _stream.put(bytes: bytes)
      try _stream.checkpoint()
    }
  }

  private static let sizeField = "(bytes)"

  private func fieldName(_ field: UInt64) -> String {
    let name = _referenceNames.names[Int(field >> 32)].shown
    let before = field & UInt64(UInt32.max)
    return before == 0 ? name : "\(name) #\(before + 1)"
  }

  // MARK: - The heap

  private mutating func writeHeap() throws {
    // A piece that has gathered is a segment; a record is never in two.
    let outer = _stream
    let heap = ExportStream { piece in
      outer.put(byte: Record.segment.rawValue)
      outer.put(big: UInt32(0))
      outer.put(big: UInt32(piece.count))
      outer.put(bytes: piece)
      try outer.checkpoint()
    }
    for row in _classes.indices {
      let class_ = _classes[row]
      let mean = class_.objectCount == 0 ? 0 : class_.bytes / class_.objectCount
      // Java's numbers have a sign.
      let size = UInt32(min(mean, UInt64(Int32.max)))
      putClass(id(ofClass: row), size: size, statics: [], to: heap)
      if class_.isArray {
        heap.put(big: UInt16(0))
      } else {
        heap.put(big: UInt16(class_.fields.count + 1))
        putField(_texts.row(of: Self.sizeField), .long, to: heap)
        for field in class_.fields { putField(_texts.row(of: fieldName(field)), .object, to: heap) }
      }
      try heap.checkpoint()
    }
    for (row, place) in _places.enumerated() {
      if !place.statics.isEmpty {
        heap.put(byte: Part.rootClass.rawValue)
        heap.put(big: id(ofPlace: row))
      }
      // Where an object of nothing has a size, readers take those of classes as they are, and don't add up fields.
      putClass(
        id(ofPlace: row), size: row == 0 ? Self.emptyObjectSize : 0, statics: place.statics,
        superclass: row == 0 ? nil : place.superclass, to: heap)
      heap.put(big: UInt16(place.field == nil ? 0 : 1))
      if let field = place.field { putField(field, .object, to: heap) }
      try heap.checkpoint()
    }
    for node in _graph.nodes {
      let row = Int(_classByNode[node.position])
      let call = _code.call(of: _graph.distinguishingStack(of: node), names: _exported.names)
      let stack = serial(of: _shownCalls[Int(call)])
      if _classes[row].isArray {
        putArray(node, class: row, stack: stack, to: heap)
      } else {
        putInstance(node, class: row, stack: stack, to: heap)
      }
      try heap.checkpoint()
    }
    try heap.flush()
    put(.end, size: 0)
  }

  private func putField(_ name: UInt32, _ kind: Kind, to heap: ExportStream) {
    heap.put(big: id(ofText: name))
    heap.put(byte: kind.rawValue)
  }

  /// Puts a class up to its instances' fields.
  private func putClass(
    _ id: UInt64, size: UInt32, statics: [(text: UInt32, target: UInt64)], superclass: Int? = 0,
    to heap: ExportStream
  ) {
    heap.put(byte: Part.classDump.rawValue)
    heap.put(big: id)
    heap.put(big: Self.noStack)
    heap.put(big: superclass.map { self.id(ofPlace: $0) } ?? 0)
    // Loader, signers, domain, and two that are reserved.
    for _ in 0..<5 { heap.put(big: UInt64(0)) }
    heap.put(big: size)
    // Constants.
    heap.put(big: UInt16(0))
    heap.put(big: UInt16(statics.count))
    for field in statics {
      heap.put(big: self.id(ofText: field.text))
      heap.put(byte: Kind.object.rawValue)
      heap.put(big: field.target)
    }
  }

  private mutating func putInstance(
    _ node: NodeIndex, class row: Int, stack: UInt32, to heap: ExportStream
  ) {
    let fieldCount = _classes[row].fields.count
    _values.removeAll(keepingCapacity: true)
    for _ in 0..<fieldCount { _values.append(0) }
    _met.removeAll(keepingCapacity: true)
    for edge in _graph.edges(of: node) {
      guard _exported.holds(EdgeIndex(edge), from: node) else {
        _leftOutCount += 1
        continue
      }
      let field = field(EdgeIndex(edge), from: node)
      if let place = _classes[row].place(of: field, hint: _met.count - 1) {
        _values[place] = id(of: _graph.target(of: EdgeIndex(edge)))
      }
    }
    heap.put(byte: Part.instance.rawValue)
    heap.put(big: id(of: node))
    heap.put(big: stack)
    heap.put(big: id(ofClass: row))
    heap.put(big: UInt32(8 * (fieldCount + 1)))
    heap.put(big: _graph.snapshot.nodes.bytes(node))
    for value in _values { heap.put(big: value) }
  }

  private mutating func putArray(
    _ node: NodeIndex, class row: Int, stack: UInt32, to heap: ExportStream
  ) {
    _values.removeAll(keepingCapacity: true)
    let edges = _graph.edges(of: node)
    // Elements have the places that they have in the array, as long as that leaves few gaps.
    let mostElements = 4 * edges.count + 16
    var isInPlace = true
    for edge in edges {
      guard _exported.holds(EdgeIndex(edge), from: node) else {
        _leftOutCount += 1
        continue
      }
      let target = id(of: _graph.target(of: EdgeIndex(edge)))
      if let index = index(of: EdgeIndex(edge)), isInPlace, index >= _values.count,
        index < mostElements
      {
        while _values.count < index { _values.append(0) }
      } else {
        isInPlace = false
        _namelessCount += 1
      }
      _values.append(target)
    }
    heap.put(byte: Part.array.rawValue)
    heap.put(big: id(of: node))
    heap.put(big: stack)
    heap.put(big: UInt32(_values.count))
    heap.put(big: id(ofClass: row))
    for value in _values { heap.put(big: value) }
  }

  /// The index of an element; nil for what is more or something else.
  private func index(of edge: EdgeIndex) -> Int? {
    let label = Int(_graph.snapshot.edges.label[edge.position])
    let index = _labels.index[label]
    guard _labels.name[label] == 0, _labels.function[label] == 0,
      index < Snapshot.Labels.anyIndex
    else { return nil }
    return Int(index)
  }
}
