// ReportTexts: the sentences of a viewer file that stand both in its static part and in its data.

internal import GraphAnalysis
internal import GraphPrimitives
internal import GraphReport
internal import HeapGraph
internal import SnapshotFormat

/// The title, the answers and what the file cannot tell.
struct ReportTexts {
  /// A title is cut off there; tabs and lists show no more.
  private static let longestTitle = 160

  /// The file name of the executable; empty where it is not known.
  let program: String

  /// What the browser's tab is called.
  let title: String

  /// What is leaked, in one line.
  let answer: Line

  /// What grew, in one line; nil with one snapshot.
  let growth: Line?

  /// Sentences on what the file leaves out or cannot know.
  let limits: [String]

  init(_ input: ViewerInput) {
    answer = input.findingsReport.document(limit: 1).answer
    growth = input.change.map { $0.report.document(limit: 1).answer }
    let path = input.graph.snapshot.process.executable
    program = path.split(separator: "/").last.map(String.init) ?? path
    let text = (program.isEmpty ? "" : program + ": ") + answer.text
    title = text.count > Self.longestTitle ? text.prefix(Self.longestTitle - 1) + "…" : text
    limits = Self.limits(input)
  }

  private static func limits(_ input: ViewerInput) -> [String] {
    let snapshot = input.graph.snapshot
    let process = snapshot.process
    var limits: [String] = []
    if process.isPartial {
      limits.append(
        "Blocks are missing from the snapshot, since the agent started late or only what was registered is"
          + " in it: what holds an object may be one of those, so only cycles are called leaked.")
    }
    if !process.hasAgent {
      limits.append(
        "Taken without the agent: there are no stacks, marks and generations, and sizes are the"
          + " allocator's.")
    } else if process.stackMode == "none" {
      limits.append(
        "No stacks were recorded; memgraph run --stacks fast or full records them.")
    }
    if let sampling = snapshot.sampling {
      limits.append(
        "Allocations were sampled, one each \(Units.bytes(ByteCount(Int64(clamping: sampling.interval)))): stacks and"
          + " generations are known of \(Units.count(sampling.node.count, "object")) alone, figures by them are"
          + " estimates, and so is what was born and what is gone.")
    } else if let change = input.change, !change.isExact {
      limits.append(
        "The snapshots are of two runs, or one was taken without the agent: objects are paired by type and"
          + " size. Numbers compare; which object is which may not.")
    }
    let scanned = snapshot.edges.info.count {
      EdgeInfo(rawValue: $0).provenance == .scanned
    }
    if scanned > 0 {
      limits.append(
        "\(Units.number(scanned)) of \(Units.count(snapshot.edges.count, "reference")) \(scanned == 1 ? "is" : "are")"
          + " a word that looks like a pointer where no type declares one: marked unsure.")
    }
    let blocks = input.leaks.unattributedBlocks
    if blocks.count > 0 {
      limits.append(
        "\(Units.count(blocks.count, "block")) (\(Units.bytes(blocks.bytes))), to which no pointer was found,"
          + " \(blocks.count == 1 ? "is" : "are") not called leaked: C libraries hide pointers, and"
          + " Foundation never frees a Timer.")
    }
    if let part = input.part {
      limits.append(
        "Of \(Units.count(snapshot.nodes.count, "object")) this file has \(Units.number(part.count)): what is"
          + " leaked, the findings and what holds them. memgraph view without --embed leaks has all."
      )
    }
    return limits
  }
}
