// RunOptions: what `memgraph run` was asked for, and why it could not do it.

/// What `memgraph run` was asked for.
package struct RunOptions: Sendable {
  /// How the agent finds where a block was asked for.
  package enum Stacks: String, Sendable, CaseIterable {
    /// By libunwind: complete for any code, slower.
    case full
    /// By frame pointers: complete for code that keeps them.
    case fast
    case none
  }

  /// The program, looked for in `PATH` where it has no slash.
  package var program: String
  package var arguments: [String]

  /// Where snapshots go; made where it is not there.
  package var outputFolder: String

  /// Seconds between marks that are taken without being asked for; nil for none.
  package var secondsBetweenMarks: Double?

  /// Whether a snapshot `exit.mgraph` is taken at the end.
  package var takesExitSnapshot: Bool
  package var stacks: Stacks

  /// Whether blocks that are not Swift's are left out.
  package var swiftOnly: Bool

  /// The mean distance of samples in bytes that are asked for; nil where every allocation is recorded.
  package var sampleInterval: UInt64?

  /// How much memory the agent's tables may take in the program; nil for no limit.
  package var tableBytes: UInt64?

  /// Whether keys of dictionaries, which are the program's data, appear in labels.
  package var showsKeys: Bool

  /// The library to preload; nil for the one beside this tool.
  package var preloadedLibrary: String?

  /// The tool that reads twins; nil for this one.
  package var readerTool: String?

  package init(
    program: String, arguments: [String] = [], outputFolder: String,
    secondsBetweenMarks: Double? = nil, takesExitSnapshot: Bool = true, stacks: Stacks = .fast,
    swiftOnly: Bool = false, sampleInterval: UInt64? = nil, tableBytes: UInt64? = nil,
    showsKeys: Bool = false,
    preloadedLibrary: String? = nil,
    readerTool: String? = nil
  ) {
    self.program = program
    self.arguments = arguments
    self.outputFolder = outputFolder
    self.secondsBetweenMarks = secondsBetweenMarks
    self.takesExitSnapshot = takesExitSnapshot
    self.stacks = stacks
    self.swiftOnly = swiftOnly
    self.sampleInterval = sampleInterval
    self.tableBytes = tableBytes
    self.showsKeys = showsKeys
    self.preloadedLibrary = preloadedLibrary
    self.readerTool = readerTool
  }
}

/// Why a program could not be run, or a mark not be taken: all of them are status 4.
package struct RunError: Error, Equatable, CustomStringConvertible {
  /// The file, program or process that it is about.
  package var subject: String

  /// Why, and what to do about it.
  package var reason: String

  package init(_ subject: String, _ reason: String) {
    self.subject = subject
    self.reason = reason
  }

  package var description: String { subject + ": " + reason }
}
