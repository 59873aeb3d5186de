// Tools: the two command line tools and the verbs that they have.

extension Tool {
  /// `memgraph`, which does everything.
  package static let memgraph: Tool = Tool(
    "memgraph", summary: "the memory graph of a Swift program: what is alive and what holds it",
    verbs: [
      .run, .mark, .attach, .core, .diff, .growth, .summary, .leaks, .cycles, .paths, .tree,
      .object, .stacks, .tasks, .whatIf, .audit, .verify, .known, .view, .bundle, .record, .check,
      .strip,
      .lint, .doctor, .demo, .mcp, .completions, .manual, .readTwin, .watchGroup,
    ])
}
