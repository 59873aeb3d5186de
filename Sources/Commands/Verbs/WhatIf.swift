// whatif: what would be freed if some references were weak.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph

extension Option {
  static let weaken = Option(
    "weaken", .text("TYPE.FIELD"), isRepeatable: true,
    help: "the reference to make weak, as a report names it; can be repeated")
}

extension Verb {
  package static let whatIf = Verb(
    "whatif", operands: "SNAP --weaken TYPE.FIELD...", operandCount: 1...1,
    summary: "what would be freed if some references were weak or cleared",
    discussion: """
      Played out by reference counting, for that field of all objects of the type. The
      module may be left out; * and ? stand for anything, [_] for every element of a
      container. A closure's capture is named as reports name it, by its closure or by the
      field that holds it; a global variable by its name; the cut of a finding can be
      pasted, arrow included, also one of several edges with "and" between; where a cut has
      a line for each edge, repeat --weaken with each of them. A task with its
      number stands for the tasks that read like it, and for their end; "Task 3" is enough.
      An unowned reference is one that keeps the memory of destroyed objects. Several
      references are weak together; what each frees alone is said, too.
      """,
    options: [.weaken] + Option.report + [.limit] + Option.naming + [.folder],
    examples: [
      Example(
        "memgraph whatif call-5 --weaken App.RTCClient.onConnectionChange",
        "Whether [weak self] in that closure is enough."),
      Example(
        "memgraph whatif exit.mgraph --weaken Renderer.delegate --weaken Renderer.track",
        "What two references free together, and each alone."),
    ]
  ) { call in
    let failOn = try FailOn(call.arguments, standard: .none)
    let written = call.arguments.texts(.weaken)
    guard !written.isEmpty else {
      throw UsageError(
        "--weaken", "missing", mend: "name a reference, as --weaken App.Client.delegate")
    }
    let progress = call.progress
    defer { progress.finish() }
    let inspection = try call.inspect(call.arguments.operands[0], progress: progress)
    progress.report(step: "looking for the references", done: 0, total: 0)
    let search = EdgeSearch(in: inspection.graph, names: inspection.names)
    let asked = written.flatMap { search.parts(of: $0) }
    let found = try asked.map { try search.find($0) }
    progress.report(step: "counting references", done: 0, total: 0)
    let answer = try GraphAnalysis.whatIf(weakening: found.map(\.effect), in: inspection.graph)
    let report = WhatIfReport(
      zip(asked, found).map {
        WhatIfReport.Question(
          asked: $0, kinds: $1.kinds,
          referenceCount: $1.effect.slots.isEmpty
            ? $1.effect.released.count + $1.effect.unowned.count : $1.effect.slots.count)
      }, answer: answer, names: inspection.names)
    try call.write(report, of: [inspection.input], inspection, progress: progress)
    return failOn.status(FailOn.Found(leaks: answer.stillLeaked.total.count > 0))
  }
}
