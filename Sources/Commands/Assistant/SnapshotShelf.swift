// SnapshotShelf: the snapshots that a server may open, those that it has in memory, and what was answered of them.

internal import Glibc
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// What verbs read between calls, and where their reports go instead of to a console.
protocol ReportSession: AnyObject, Sendable {
  /// The file that an operand names.
  func path(of operand: String) throws -> String

  /// The snapshot that an operand names.
  func input(_ operand: String) throws -> ReportInput

  /// What was made of a snapshot earlier; nil for nothing.
  func inspection(of input: ReportInput) -> Inspection?

  /// Keeps what was made of a snapshot.
  func keep(_ inspection: Inspection)

  /// Takes a report.
  func take(_ envelope: ReportEnvelope)
}

/// The snapshots of a server: files that were named when it was started, and those in folders that were.
///
/// Nothing else is opened, whatever a client names. Snapshots are read when they are first asked for, and read again when their
/// file has changed; the few that were used last stay in memory.
///
/// Used by the server's loop alone, one call at a time.
final class SnapshotShelf: ReportSession, @unchecked Sendable {
  /// A snapshot that may be opened.
  struct Item {
    /// What clients call it: its path below the folder, without its ending, or the file as it was given.
    var name: String
    var path: String
    var bytes: Int
    var secondsSince1970: Int
    fileprivate var stamp: Stamp
  }

  /// What tells a file from the one that it replaced.
  fileprivate struct Stamp: Hashable {
    var device: UInt
    var inode: UInt
    var bytes: Int
    var seconds: Int
    var nanoseconds: Int
  }

  private struct Shelved {
    var stamp: Stamp
    var input: ReportInput
    var inspection: Inspection?
    var lastUse: Int
  }

  /// The most snapshots in memory; a comparison needs two.
  static let mostSnapshots = 4

  /// The most bytes of their files together, the ones in use aside.
  static let mostBytes = 1 << 30

  /// The most reports that are kept for their next page.
  static let mostReports = 12

  private let _operands: [(path: String, isFolder: Bool)]
  private let _call: Invocation
  private var _shelved: [String: Shelved] = [:]
  private var _reports: [(key: [String], report: AnsweredReport)] = []
  private var _taken: ReportEnvelope?
  private var _clock = 0

  /// - Parameters:
  ///   - operands: Files and folders.
  ///   - call: The call of the server, whose console and options the verbs get.
  /// - Throws: ``CommandError`` for an operand that is not there.
  init(_ operands: [String], of call: Invocation) throws(CommandError) {
    var found: [(path: String, isFolder: Bool)] = []
    for operand in operands {
      var status = stat()
      guard stat(operand, &status) == 0 else {
        throw CommandError(
          operand, String(cString: strerror(errno)),
          mend: "give snapshots, or folders with snapshots", status: .unreadable)
      }
      found.append((operand, status.st_mode & S_IFMT == S_IFDIR))
    }
    _operands = found
    _call = call
  }

  // MARK: - What there is

  /// The snapshots that may be opened, in the order of the operands, those of a folder by name.
  ///
  /// - Complexity: O(files in the folders).
  func items() throws(CommandError) -> [Item] {
    var items: [Item] = []
    var names: Set<String> = []
    for operand in _operands {
      if operand.isFolder {
        guard let root = Self.realPath(operand.path) else { continue }
        let files = try FolderWalk.files(in: operand.path) { $0.hasSuffix(".mgraph") }.sorted()
        for path in files {
          // A link that leads out of the folder is none of its files.
          guard let real = Self.realPath(path), real.hasPrefix(root == "/" ? "/" : root + "/"),
            let item = Self.item(path)
          else { continue }
          let below = path.dropFirst(operand.path.count).drop { $0 == "/" }
          items.append(Self.named(item, String(below.dropLast(7)), among: &names))
        }
      } else if let item = Self.item(operand.path) {
        let isSnapshot = operand.path.hasSuffix(".mgraph")
        items.append(
          Self.named(
            item, String(operand.path.dropLast(isSnapshot ? 7 : 0)), among: &names))
      }
    }
    return items
  }

  /// An item under a name that no other has.
  private static func named(_ item: Item, _ name: String, among names: inout Set<String>) -> Item {
    var item = item
    item.name = names.contains(name) ? item.path : name
    names.insert(item.name)
    return item
  }

  private static func item(_ path: String) -> Item? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    let stamp = Stamp(
      device: UInt(status.st_dev), inode: UInt(status.st_ino), bytes: Int(status.st_size),
      seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    return Item(
      name: "", path: path, bytes: stamp.bytes, secondsSince1970: stamp.seconds, stamp: stamp)
  }

  private static func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  /// The snapshot that a client means: by its name, with or without its ending; nil for the only one there is.
  func find(_ name: String?) throws(CommandError) -> Item {
    let items = try items()
    guard !items.isEmpty else {
      throw CommandError(
        "snapshot", "there are none", mend: "memgraph run --out DIR writes some",
        status: .unreadable)
    }
    guard let name else {
      if items.count == 1 { return items[0] }
      throw CommandError(
        "snapshot", "it is missing, and there are \(items.count)",
        mend: "name one of \(Self.list(items))", status: .usage)
    }
    let matching = items.filter {
      name == $0.name || name == $0.path || name == $0.name + ".mgraph"
    }
    if let item = matching.first { return item }
    let guess = Spelling.nearest(to: name, among: items.map(\.name)).map { "did you mean \($0)? " }
    throw CommandError(
      "snapshot \(name.prefix(200))", "no such snapshot here",
      mend: (guess ?? "") + "there are \(Self.list(items))", status: .unreadable)
  }

  private static func list(_ items: [Item]) -> String {
    items.prefix(12).map(\.name).joined(separator: ", ")
      + (items.count > 12 ? ", and \(items.count - 12) more, which the tool snapshots lists" : "")
  }

  // MARK: - Verbs

  /// What a verb reports.
  ///
  /// - Parameters:
  ///   - snapshots: The operands that are snapshots, as clients call them; they come first.
  ///   - more: The other operands.
  ///   - options: Names and values.
  func report(
    _ verb: Verb, of snapshots: [Item], _ more: [String] = [],
    options: [(name: String, value: String)] = []
  ) throws -> AnsweredReport {
    var words = options.map { "--\($0.name)=\($0.value)" }
    // What the server was started with goes for all that it answers.
    for option in [Option.symbols, .noSymbols, .config] where verb.allOptions.contains(option) {
      let values = _call.arguments.texts(option)
      words +=
        option.value == .flag
        ? (_call.arguments.has(option) ? ["--" + option.name] : [])
        : values.map { "--\(option.name)=\($0)" }
    }
    words += ["--quiet", "--"] + snapshots.map(\.path) + more
    let key = [verb.name] + snapshots.map { "\($0.stamp)" } + words
    if let place = _reports.firstIndex(where: { $0.key == key }) {
      let known = _reports.remove(at: place)
      _reports.append(known)
      return known.report
    }
    _taken = nil
    defer { _taken = nil }
    _ = try verb.run(
      Invocation(
        tool: _call.tool, verb: verb,
        arguments: try Arguments(parsing: words, options: verb.allOptions),
        console: _call.console, session: self))
    guard let envelope = _taken else {
      throw CommandError(verb.name, "it made no report", status: .impossible)
    }
    let report = AnsweredReport(answer: envelope.answer, json: envelope.value)
    _reports.append((key, report))
    if _reports.count > Self.mostReports { _reports.removeFirst() }
    return report
  }

  // MARK: - ReportSession

  func path(of operand: String) throws -> String { try find(operand).path }

  func input(_ operand: String) throws -> ReportInput {
    let item = try find(operand)
    _clock += 1
    if var known = _shelved[item.path], known.stamp == item.stamp {
      known.lastUse = _clock
      _shelved[item.path] = known
      return known.input
    }
    _shelved[item.path] = nil
    makeRoom(for: item.bytes)
    let input = ReportInput(path: item.path, snapshot: try Snapshot(contentsOf: item.path))
    _shelved[item.path] = Shelved(stamp: item.stamp, input: input, lastUse: _clock)
    return input
  }

  func inspection(of input: ReportInput) -> Inspection? { _shelved[input.path]?.inspection }

  func keep(_ inspection: Inspection) { _shelved[inspection.input.path]?.inspection = inspection }

  func take(_ envelope: ReportEnvelope) { _taken = envelope }

  /// Lets those go that were used longest ago.
  private func makeRoom(for bytes: Int) {
    while let oldest = _shelved.min(by: { $0.value.lastUse < $1.value.lastUse }) {
      let total = _shelved.values.reduce(bytes) { $0 + $1.stamp.bytes }
      guard _shelved.count >= Self.mostSnapshots || total > Self.mostBytes else { return }
      _shelved[oldest.key] = nil
    }
  }

  /// How many snapshots are in memory.
  var shelvedCount: Int { _shelved.count }
}

/// A report as answers are made of it.
struct AnsweredReport {
  /// The report's first line.
  var answer: String

  /// All that its JSON has.
  var json: JSONValue
}
