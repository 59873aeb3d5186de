// StacksReport: live bytes by where they were allocated, as a call tree.

package import GraphPrimitives
internal import SnapshotFormat
internal import Symbolication

/// Live bytes by allocation stack, as a call tree.
package struct StacksReport: Report {
  /// What the objects of one stack cost.
  package struct StackCost: Sendable {
    package var stack: StackIndex
    package var cost: Cost

    /// How many samples the cost is estimated from; nil where it is none.
    package var samples: Int?

    package init(stack: StackIndex, cost: Cost, samples: Int? = nil) {
      self.stack = stack
      self.cost = cost
      self.samples = samples
    }
  }

  /// A function that was called, with all that was allocated below it.
  private struct Call {
    /// The function and its file; the line is that of the first stack.
    var frame: SourceFrame

    /// The lines from which the callees were called, or where the function allocated itself.
    var lines: Set<Int> = []
    var cost: Cost = .zero
    var samples = 0

    /// Calls from this one, in the order in which they were met; rows of the tree.
    var callees: [Int] = []
  }

  /// A deeper stack is cut there: no reader follows it, and JSON readers have limits of their own.
  private static let deepest = 200

  private let _subject: String
  private let _unknown: Cost

  /// The samples' mean distance in bytes, where all costs are estimates; nil where none is.
  private let _interval: UInt64?

  /// The tree; row 0 stands for all stacks together.
  private let _calls: [Call]

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - subject: The type asked for, empty for all.
  ///   - costs: What is alive, by stack; `StackIndex.none` for what has no stack.
  package init(subject: String, costs: [StackCost], names: Names) {
    _subject = subject
    _interval = names.snapshot.sampling?.interval
    _unknown = costs.filter { $0.stack == .none }.reduce(.zero) { $0 + $1.cost }
    _calls = Self.tree(of: costs.filter { $0.stack != .none }, names: names)
  }

  private static func tree(of costs: [StackCost], names: Names) -> [Call] {
    struct Key: Hashable {
      var caller: Int
      var function: String
      var file: String?
    }
    var calls = [
      Call(frame: SourceFrame(function: "", file: nil, line: nil, module: nil, isInlined: false))
    ]
    var rowByKey: [Key: Int] = [:]
    for entry in costs {
      calls[0].cost += entry.cost
      calls[0].samples += entry.samples ?? 0
      var row = 0
      for frame in names.frames(of: entry.stack).suffix(deepest).reversed() {
        let key = Key(caller: row, function: frame.function, file: frame.file)
        if let known = rowByKey[key] {
          row = known
        } else {
          rowByKey[key] = calls.count
          calls[row].callees.append(calls.count)
          row = calls.count
          calls.append(Call(frame: frame))
        }
        calls[row].cost += entry.cost
        calls[row].samples += entry.samples ?? 0
        if let line = frame.line { calls[row].lines.insert(line) }
      }
    }
    let unsorted = calls
    for row in calls.indices {
      calls[row].callees.sort {
        let (left, right) = (unsorted[$0], unsorted[$1])
        return (right.cost.bytes, right.cost.count, left.frame.function)
          < (left.cost.bytes, left.cost.count, right.frame.function)
      }
    }
    return calls
  }

  package var findings: [JSONValue] { [] }

  package var members: [JSONValue.Member] {
    [
      JSONValue.Member(
        "stacks",
        .members([
          "subject": _subject.isEmpty ? nil : .string(_subject),
          "count": .integer(_calls[0].cost.count),
          "bytes": .integer(Int(_calls[0].cost.bytes.rawValue)),
          "estimated": estimated,
          "samples": samples(of: _calls[0]),
          "unknown": _unknown.json,
          "callees": .array(_calls[0].callees.map(json)),
        ]))
    ]
  }

  private var estimated: JSONValue? { _interval == nil ? nil : .bool(true) }

  private func samples(of call: Call) -> JSONValue? {
    _interval == nil ? nil : .integer(call.samples)
  }

  private func json(of row: Int) -> JSONValue {
    let call = _calls[row]
    var frame = call.frame
    // Calls from several lines are one call here: none of the lines speaks for all.
    if call.lines.count > 1 { frame.line = nil }
    guard case .object(let members) = frame.json else {
      preconditionFailure("a frame is an object")
    }
    return .object(
      members
        + (call.lines.count > 1
          ? [JSONValue.Member("lines", .array(call.lines.sorted().map { .integer($0) }))] : [])
        + [
          JSONValue.Member("count", .integer(call.cost.count)),
          JSONValue.Member("bytes", .integer(Int(call.cost.bytes.rawValue))),
        ]
        + (_interval == nil
          ? []
          : [
            JSONValue.Member("estimated", .bool(true)),
            JSONValue.Member("samples", .integer(call.samples)),
          ])
        + [
          JSONValue.Member("callees", .array(call.callees.map(json)))
        ])
  }

  package func document(limit: Int?) -> Document {
    let total = _calls[0].cost
    let subject = _subject.isEmpty ? Line("everything") : Line(_subject, .code)
    guard total.count > 0 else {
      let why =
        _interval != nil && _unknown.count == 0
        ? ": nothing of it is a sample; memgraph run without --sample records every allocation."
        : _unknown.count == 0
          ? ": nothing of it is alive."
          : ": no stacks were recorded; memgraph run --stacks fast or full records them."
      return Document(answer: subject + Line(why))
    }
    var document = Document(
      answer: subject
        + Line(
          ": \(sign)\(Units.count(total.count, "object")), \(sign)\(Units.bytes(total.bytes)), by where they were made"
        ))
    if let _interval {
      document.blocks.append(
        .paragraph(
          Line(
            "All figures are estimates from \(Units.count(_calls[0].samples, "sample")), one each "
              + "\(Units.bytes(ByteCount(Int64(clamping: _interval)))) that was asked for; the third column has how many. "
              + "From 100 samples bytes are off by some 10 %, from 10 by some 30 %; numbers of small objects beside large ones are rougher."
          )))
    }
    document.blocks += Document.tree(
      lines.branches(limit: limit, keepsRuns: true) { call in
        [Line(sign + Units.bytes(call.cost.bytes)), Line(sign + Units.number(call.cost.count))]
          + (_interval == nil ? [] : [Line(Units.number(call.samples), .faint)])
      }, "call")
    if _unknown.count > 0 {
      document.blocks.append(
        .paragraph(
          Line(
            "\(sign)\(Units.count(_unknown.count, "object")) more, \(sign)\(Units.bytes(_unknown.bytes)), without a stack: made before recording began.",
            .faint)))
    }
    return document
  }

  /// What stands before each figure.
  private var sign: String { _interval == nil ? "" : "~" }

  /// The calls as lines.
  private var lines: CostTree {
    var tree = CostTree()
    var pending = _calls[0].callees.reversed().map { (row: $0, caller: Int?.none) }
    while let (row, caller) = pending.popLast() {
      let call = _calls[row]
      let line = tree.append(text(of: call), cost: call.cost, samples: call.samples, below: caller)
      pending += call.callees.reversed().map { (row: $0, caller: line) }
    }
    return tree
  }

  /// A function and the lines in it: `App.startCall() at Call.swift:17, 21`.
  private func text(of call: Call) -> Line {
    guard call.lines.count > 1, let file = call.frame.file else { return call.frame.shown }
    let name = file.split(separator: "/").last.map(String.init) ?? file
    let shown = call.lines.sorted().prefix(4).map(String.init).joined(separator: ", ")
    return Line(call.frame.name, .code)
      + Line(" at \(name):\(shown)" + (call.lines.count > 4 ? ", …" : ""))
  }
}
