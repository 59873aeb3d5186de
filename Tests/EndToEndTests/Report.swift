// The parts of the tool's JSON that the tests look at.
internal import Foundation

struct Report: Decodable {
  struct Tally: Decodable {
    struct Cost: Decodable {
      var count: Int
      var bytes: Int
    }
    var count: Int
    var byType: [String: Cost]

    /// The instances of a type; 0 where it doesn't occur.
    func count(of type: String) -> Int { byType[type]?.count ?? 0 }
  }

  struct Totals: Decodable {
    var live: Tally?
    var leaked: Tally?
  }

  struct Step: Decodable {
    var type: String?
    var field: String?
    var via: String?

    /// `App.Cart.items[3] via closure #1 in App.Cart.init()`
    var text: String {
      let holder = [type, field].compactMap { $0 }.joined(separator: ".")
      return via.map { "\(holder) via \($0)" } ?? holder
    }
  }

  struct Finding: Decodable {
    struct Cut: Decodable {
      var edge: String
      var together: [String]?
      var frees: Tally.Cost
      var advice: String

      /// All edges that have to go.
      var edges: [String] { [edge] + (together ?? []) }
    }
    var kind: String
    var type: String
    var fingerprint: String
    var count: Int
    var retainedBytes: Int?
    var cycle: [Step]?
    var cut: Cut?
  }

  struct Path: Decodable {
    struct Root: Decodable {
      var kind: String
      var name: String
    }
    struct Target: Decodable {
      var type: String
    }
    var root: Root
    var steps: [Step]
    var target: Target

    /// One line: the root, each step, what they lead to.
    var text: String {
      (["\(root.kind) \(root.name)"] + steps.map(\.text) + [target.type]).joined(separator: " -> ")
    }
  }

  struct Audit: Decodable {
    struct Row: Decodable {
      var type: String
      var unexplained: Int
      var overCounted: Int
      var unexplainedUnowned: Int
      var unexplainedWeak: Int
    }
    var counted: Int
    var exact: Int

    /// The types with objects that are not explained.
    var types: [Row]
  }

  /// Tasks that have their making and their place in common.
  struct Tasks: Decodable {
    struct Frame: Decodable {
      var function: String
      var file: String?
      var line: Int?
    }
    var state: String
    var kind: String
    var count: Int
    var cancelled: Int
    var leaked: Int
    var made: Frame?
    var suspendedIn: Frame?
  }

  /// An actor for which jobs wait.
  struct Actor: Decodable {
    var type: String
    var jobs: Int
  }

  var schema: String
  var findings: [Finding]
  var totals: Totals?
  var born: Tally?
  var died: Tally?
  var paths: [Path]?
  var audit: Audit?
  var tasks: [Tasks]?
  var actors: [Actor]?

  struct WhatIf: Decodable {
    var freed: Tally
    var stillLeaked: Tally
  }
  var whatif: WhatIf?

  /// What `memgraph VERB ARGUMENT... --format json` says. Its exit status must be 0 or 1.
  static func of(_ verb: String, _ arguments: String...) throws -> Report {
    try of(verb, arguments)
  }

  static func of(_ verb: String, _ arguments: [String]) throws -> Report {
    let outcome = try run("memgraph", [verb] + arguments + ["--format", "json"])
    guard outcome.status == 0 || outcome.status == 1 else {
      throw RunFailure(
        description: "memgraph \(verb) \(arguments): exit \(outcome.status): \(outcome.errors)")
    }
    return try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
  }
}
