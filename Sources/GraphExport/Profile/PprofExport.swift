// PprofExport: what is alive as a profile of pprof.

internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat
internal import Symbolication

/// Writes a profile as `go tool pprof`, Pyroscope and speedscope read it: `profile.proto`, compressed.
///
/// Two values a sample: objects and bytes. Labels tell type, module, generation and whether it is leaked. Of two snapshots
/// it writes what became more: the samples of the first are negative and have the label `pprof::base`, as pprof itself
/// gives it with `-diff_base`.
package enum PprofExport {
  /// - Returns: What the form can't say, in sentences without a full stop.
  /// - Throws: What an analysis and the stream's taker throw.
  /// - Complexity: O(*V* + *E*), beside that O(frames) for each sample.
  package static func write(
    _ snapshots: [ExportedSnapshot], by kind: ProfileKind, to stream: ExportStream
  ) throws -> [String] {
    let samples = try ProfileSamples(snapshots, by: kind)
    let gzip = try GzipStream { bytes in
      stream.put(bytes: bytes)
      try stream.checkpoint()
    }
    var writer = ProfileWriter(samples, ExportStream { try gzip.write($0) })
    try writer.write(
      hasBase: snapshots.count > 1, modules: snapshots.last?.graph.snapshot.modules ?? [])
    try gzip.finish()
    try stream.flush()
    return kind == .path
      ? [
        "pprof has one stack for each object: an object that several ways hold counts by the shortest alone"
      ]
      : []
  }
}

/// One profile on its way. Numbers are of `profile.proto`, package `perftools.profiles`.
private struct ProfileWriter {
  private let _samples: ProfileSamples
  private let _stream: ExportStream
  private var _texts = Texts()
  private var _locations: [ProfileFrame: UInt64] = [:]
  private var _functions: [Function: UInt64] = [:]
  private var _mappings: [String: UInt64] = [:]

  private struct Function: Hashable {
    var name: String
    var file: String?
  }

  init(_ samples: ProfileSamples, _ stream: ExportStream) {
    _samples = samples
    _stream = stream
    _ = _texts.row(of: "")
  }

  private mutating func text(_ text: String) -> UInt64 { UInt64(_texts.row(of: text)) }

  mutating func write(hasBase: Bool, modules: [Snapshot.Module]) throws {
    for (type, unit) in [("inuse_objects", "count"), ("inuse_space", "bytes")] {
      var value = ProtobufMessage()
      value.put(1, text(type))
      value.put(2, text(unit))
      _stream.put(1, value)
    }
    writeMappings(of: modules)
    for (key, cost) in _samples.samples {
      let isBase = hasBase && key.snapshot == 0
      try write(key, cost, isBase: isBase)
    }
    if _samples.kind == .path {
      var profile = ProtobufMessage()
      profile.put(13, text("by path: what holds an object stands where its callers would"))
      _stream.put(bytes: profile.bytes)
    }
    var last = ProtobufMessage()
    last.put(14, text("inuse_space"))
    _stream.put(bytes: last.bytes)
    for text in _texts.all {
      var table = ProtobufMessage()
      table.put(6, text)
      _stream.put(bytes: table.bytes)
      try _stream.checkpoint()
    }
    try _stream.flush()
  }

  /// The files of code, by the names that frames have them under.
  private mutating func writeMappings(of modules: [Snapshot.Module]) {
    guard _samples.kind == .stack else { return }
    for module in modules {
      let name = module.path.split(separator: "/").last.map(String.init) ?? module.path
      if _mappings[name] != nil { continue }
      let id = UInt64(_mappings.count) + 1
      _mappings[name] = id
      var mapping = ProtobufMessage()
      mapping.put(1, id)
      mapping.put(2, module.start)
      mapping.put(3, module.end)
      mapping.put(5, text(module.path))
      mapping.put(6, text(module.buildID))
      // Names are here already: nothing is to be looked up in files.
      for field in 7...10 { mapping.put(field, UInt64(1)) }
      _stream.put(3, mapping)
    }
  }

  private mutating func write(_ key: ProfileSamples.Key, _ cost: Cost, isBase: Bool) throws {
    var sample = ProtobufMessage()
    sample.put(1, packed: _samples.frames(of: key).map { location(of: $0) })
    let sign: Int64 = isBase ? -1 : 1
    sample.put(
      2,
      packed: [Int64(cost.count) * sign, cost.bytes.rawValue * sign].map {
        UInt64(bitPattern: $0)
      })
    let name = _samples.objectNames.names[Int(key.name)]
    var labels = [
      ("type", name.name), ("module", name.module),
      ("generation", key.generation.map { _samples.marks[key.snapshot].name(of: $0) } ?? ""),
    ]
    if key.isLeaked { labels.append(("leaked", "true")) }
    if isBase { labels.append(("pprof::base", "true")) }
    for (key, value) in labels where !value.isEmpty {
      var label = ProtobufMessage()
      label.put(1, text(key))
      label.put(2, text(value))
      sample.put(3, label)
    }
    _stream.put(2, sample)
    try _stream.checkpoint()
  }

  /// The number of a frame's location, which is written where it is new.
  private mutating func location(of frame: ProfileFrame) -> UInt64 {
    if let known = _locations[frame] { return known }
    let id = UInt64(_locations.count) + 1
    _locations[frame] = id
    let source = _samples.source(of: frame)
    var line = ProtobufMessage()
    line.put(1, function(of: source))
    if let number = source.line { line.put(2, Int64(number)) }
    var location = ProtobufMessage()
    location.put(1, id)
    if let mapping = source.module.flatMap({ _mappings[$0] }) { location.put(2, mapping) }
    location.put(4, line)
    _stream.put(4, location)
    return id
  }

  private mutating func function(of frame: SourceFrame) -> UInt64 {
    let key = Function(name: frame.function, file: frame.file)
    if let known = _functions[key] { return known }
    let id = UInt64(_functions.count) + 1
    _functions[key] = id
    var function = ProtobufMessage()
    function.put(1, id)
    // Without a linker's name beside it pprof takes the name as it is; else it drops all that is in parentheses.
    function.put(2, text(frame.function))
    if let file = frame.file { function.put(4, text(file)) }
    _stream.put(5, function)
    return id
  }
}
