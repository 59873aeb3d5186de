// StepText: the steps of cycles and paths in words, for each format.

internal import GraphAnalysis
internal import GraphPrimitives
internal import SnapshotFormat
internal import Symbolication

/// One step of a cycle or path in words: *this type, by this field, holds the next*.
struct StepText {
  /// The type, or the function of a closure.
  var type: String

  /// The path of fields; empty where nothing is known of it.
  var field: String

  var strength: EdgeStrength
  var provenance: EdgeProvenance

  /// The function that the step goes through where a closure has no context.
  var via: ClosureName?

  /// Where the closure's source is: the context's own or the one of `via`.
  var file: String?
  var line: Int?

  /// Whether it leads from an actor to a job that waits for it: no type declares that, but the runtime does.
  var isActorQueue = false

  /// Whether the type is a closure, whose name has spaces.
  var isClosure: Bool

  /// Whether it is unsure that this is a reference: no type and no library's layout says so.
  var isUnsure: Bool

  /// The name of what a closure captures, where the step is a capture and the name is known.
  var captured: String?

  /// Whether a box lies within the step: an enum's indirect payload, an existential, a captured variable.
  var passesBox: Bool

  /// How the place is declared that the step's last reference lies in.
  var declaration: FieldDeclaration

  /// What an element without a field of its own is in: a variable that is a container.
  var containerName: String?

  /// The task that holds, and by what of its memory.
  var task: TaskText?
  var taskPart: TaskPart?

  /// The steps in words.
  ///
  /// - Parameter leading: The edge by which the first step's node is reached, where that is known.
  static func texts(
    of steps: [ReferenceStep], reachedBy leading: EdgeIndex?, names: Names
  )
    -> [StepText]
  {
    var texts: [StepText] = []
    var leading = leading
    for step in steps {
      let context = names.contextName(of: step.node, reachedBy: leading)
      let via = names.via(step.edges)
      let infos = step.edges.map { names.info(of: $0) }
      let isUnsure = names.isUnsure(step)
      texts.append(
        StepText(
          type: names.typeName(of: step.node, reachedBy: leading),
          field: names.field(from: step.node, by: step.edges, reachedBy: leading),
          // A chain is as strong, and as well known, as its weakest part.
          strength: infos.map(\.strength).max { $0.rawValue < $1.rawValue } ?? .strong,
          provenance: infos.map(\.provenance).max { $0.rawValue < $1.rawValue } ?? .scanned,
          via: via, file: context?.file ?? via?.file, line: context?.line ?? via?.line,
          isActorQueue: names.isActorQueue(step.edges),
          isClosure: names.kind(of: step.node) == .closureContext, isUnsure: isUnsure,
          captured: captured(by: step, reachedBy: leading, names: names),
          passesBox: step.edges.dropLast().contains {
            names.kind(of: names.target(of: $0)) == .box
          },
          declaration: step.edges.last.map { names.declaration(of: $0) } ?? .variable,
          task: names.task(step.node),
          taskPart: step.edges.lazy.compactMap { names.partOfTask($0) }.first))
      leading = step.edges.last
    }
    return texts
  }

  /// The name of what a closure on a step captures: the closure that the step goes through, else the one
  /// whose context it leaves.
  private static func captured(
    by step: ReferenceStep, reachedBy leading: EdgeIndex?, names: Names
  ) -> String? {
    if let function = names.viaFunction(step.edges) {
      // A closure without a context captures one object and nothing else.
      let captures = names.captureNames(of: function, in: nil)
      return captures.count == 1 && !captures[0].isEmpty ? captures[0] : nil
    }
    guard names.kind(of: step.node) == .closureContext else { return nil }
    let field = names.field(from: step.node, by: step.edges, reachedBy: leading)
    // A captured variable is a box with a value.
    return field.split(separator: ".").first.map(String.init)
  }

  /// Where the closure that the step is about stands in the source: `Call.swift:42`.
  var place: String? {
    guard via != nil || isClosure, let file = via?.file ?? file else { return nil }
    let name = file.split(separator: "/").last.map(String.init) ?? file
    return (via?.line ?? line).map { "\(name):\($0)" } ?? name
  }

  /// The steps of a cycle in words.
  static func texts(ofCycle steps: [ReferenceStep], names: Names) -> [StepText] {
    texts(of: steps, reachedBy: steps.last?.edges.last, names: names)
  }

  /// A cycle as links of a chain that ends where it began.
  static func chain(ofCycle steps: [ReferenceStep], names: Names) -> [Line] {
    let texts = texts(ofCycle: steps, names: names)
    return Repetitions.folded(texts.flatMap(\.links)) + texts.prefix(1).map { Line($0.type, .code) }
  }

  /// The holder and its field: `App.Model.handler`, `(closure #1 in App.Model.start()).self`.
  var edge: String {
    if let task { return edge(of: task) }
    let isPhrase = isClosure && type.contains(" ") || type.contains("] in ")
    let holder = isPhrase ? "(\(type))" : type
    return holder + "." + (field.isEmpty ? "?" : field)
  }

  /// A task and the frame that holds: `Task 41 (suspended in App.Model.watch() at Model.swift:20)` where
  /// that is the function it waits in.
  private func edge(of task: TaskText) -> String {
    switch taskPart {
    case .frame(let function):
      guard let function, function != task.site?.name else { return task.shown }
      return task.shown + ".frame of " + function
    case .taskLocal(let name):
      return task.shown + ".task-local" + (name.map { " " + $0 } ?? "")
    case nil:
      // Which slab it lies in says nothing to a reader.
      let field = field.split(separator: ".").drop { $0 == "slab" }.joined(separator: ".")
      return field.isEmpty ? task.shown : task.shown + "." + field
    }
  }

  /// The step as links of a chain: the edge, then the function it goes through.
  var links: [Line] {
    var link = Line.code(Repetitions.folded(path: edge))
    var notes: [String] = []
    if strength != .strong { notes.append(strength.name) }
    // A task's memory has no types, but the counts decided that it holds.
    if isUnsure, task == nil, !isActorQueue { notes.append("unsure") }
    if !notes.isEmpty { link += Line(" [" + notes.joined(separator: ", ") + "]", .faint) }
    guard let via else { return [link] }
    return [link, Line("(" + via.shown + ")", .code)]
  }

  /// The async function whose frame holds, where it is known.
  private var frame: String? {
    guard case .frame(let function) = taskPart else { return nil }
    return function
  }

  var json: JSONValue {
    .members([
      "type": .string(type),
      "field": .string(field),
      "strength": .string(strength.name),
      "provenance": .string(provenance.name),
      "via": via.map { .string($0.shown) },
      "file": file.map { .string($0) },
      "line": line.map { .integer($0) },
      "task": task?.json,
      "frame": frame.map { .string($0) },
    ])
  }
}
