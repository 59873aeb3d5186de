// mcp: answers an assistant's questions about snapshots, over standard input and output.

internal import GraphReport

extension Verb {
  package static let mcp = Verb(
    "mcp", operands: "SNAP|DIR...", operandCount: 1...1_000,
    summary: "serve snapshots to an assistant, by the Model Context Protocol",
    discussion: """
      A server that an assistant's program starts: it reads a line of JSON a message from
      standard input and writes the answers to standard output, until its input ends. The
      tools are snapshots, summary, findings, finding, paths, object, whatif, diff and
      types. An answer has 12 KB at most and says what was left out and how to get it.

      Only the snapshots that are named, and those in the folders that are named, can be
      asked about; new ones in a folder are seen. The names of functions are looked up in
      the programs' own files, unless --no-symbols is given. docs/mcp.md has the tools, and
      how to tell a program of the server.
      """,
    options: Option.naming + [.config],
    examples: [
      Example("memgraph mcp marks", "Serves the snapshots in a folder."),
      Example(
        "memgraph mcp before.mgraph after.mgraph --no-symbols",
        "Serves two snapshots, and reads no other file."),
    ]
  ) { call in
    let shelf = try SnapshotShelf(call.arguments.operands, of: call)
    _ = try call.configuration()
    try ContextServer(tools: ContextTool.all, shelf: shelf).serve(
      call.console.input, call.console.output)
    return .nothingFound
  }
}
