// OutsideCapture: a snapshot of a program that did not ask for one: which inventory serves, and what is
// missing.

package import SnapshotFormat

/// What came of capturing a program from outside.
package struct OutsideCapture: Sendable {
  package var snapshot: Snapshot

  /// How long the program stood still, in nanoseconds; 0 for a core file.
  package var pauseNanoseconds: UInt64

  /// Whether an agent is at work in the program, so that stacks, marks and generations are known.
  package var hasAgent: Bool
}

/// Captures a program whose memory and threads are known: by the agent's tables where it has an agent
/// that is at work, else by walking its heap.
///
/// - Parameters:
///   - pid: the process's number here.
///   - pidInside: its number for itself, which differs in a container.
func captureFromOutside(
  memory: TargetMemory, threads: [ThreadState], pid: UInt32, pidInside: UInt32,
  pauseNanoseconds: UInt64
) throws(CaptureError) -> OutsideCapture {
  let images = loadImages(of: memory)
  try checkFiles(of: memory, images: images)
  try checkIsSwift(images, executable: memory.source.executable)
  let tables = agentTables(in: memory, images: images, pid: pidInside)
  var inventory: OutsideInventory
  if let tables {
    inventory = OutsideInventory(try complete(tables, memory: memory, threads: threads))
  } else {
    inventory = OutsideInventory(
      try GlibcHeap(memory: memory, images: images, threads: threads, pid: pid))
  }
  // The mark that the agent's last twin was made for is not this moment.
  inventory.facts.markName = ""
  inventory.facts.pid = pid
  inventory.facts.pauseNanoseconds = pauseNanoseconds
  for mapping in memory.source.mappings
  where mapping.isExecutable && mapping.path.hasPrefix("/")
    && images.image(containing: mapping.start) == nil
  {
    inventory.diagnostics[
      "\(mapping.path) can't be read; what only its data holds may look leaked"] = 1
  }
  let snapshot = try captureSnapshot(memory: memory, inventory: inventory, threads: threads)
  return OutsideCapture(
    snapshot: snapshot, pauseNanoseconds: pauseNanoseconds, hasAgent: tables != nil)
}

/// The tables of an agent that records births and deaths; nil where the program has none, or is a fork,
/// whose agent rests.
func agentTables(in memory: TargetMemory, images: [LoadedImage], pid: UInt32) -> AgentTables? {
  guard let address = images.address(ofSymbol: "mg_state"),
    let tables = try? AgentTables(memory: memory, state: address), tables.isTracking,
    tables.facts.pid == pid
  else { return nil }
  return tables
}

/// Refuses a program in which there is nothing of Swift, or whose files, which would tell, can't be read.
func checkIsSwift(_ images: [LoadedImage], executable: String) throws(CaptureError) {
  if images.contains(where: { $0.sections["swift5_fieldmd"] != nil }) { return }
  if let image = images.first(where: { $0.module.path == executable }), let gap = image.fileGap {
    throw .unreadableFile(gap: gap)
  }
  throw .notSwift(executable: executable)
}

/// Refuses a program of which the Swift runtime is not here, and a core file whose executable is not: no type would be
/// known. A process has the executable's code and constants in its memory, if not its sections and symbols.
private func checkFiles(of memory: TargetMemory, images: [LoadedImage]) throws(CaptureError) {
  let executable = memory.source.name == "core" ? memory.source.executable : ""
  if !executable.isEmpty, !images.contains(where: { $0.module.path == executable }) {
    throw .missingFile(
      path: executable, because: "it can't be read; give its file with --exe")
  }
  for image in images where !image.isWhole {
    let path = image.module.path
    let version = image.module.buildID.isEmpty ? "" : " (build id \(image.module.buildID))"
    if path == executable {
      throw .missingFile(
        path: path,
        because: "it is not here in the version that ran\(version); give its file with --exe")
    }
    if fileName(of: path).hasPrefix("libswiftCore.so") {
      throw .missingFile(
        path: path,
        because: "the Swift runtime is not here in the version that ran\(version);"
          + " capture where the program runs, or install the same runtime")
    }
  }
}

/// An inventory with facts that only the one who captures knows.
private struct OutsideInventory: HeapInventory {
  private let _base: any HeapInventory
  var facts: InventoryFacts
  var diagnostics: [String: Int]

  init(_ base: any HeapInventory) {
    _base = base
    facts = base.facts
    diagnostics = base.diagnostics
  }

  func forEachBlock(_ body: (HeapBlock) -> Void) { _base.forEachBlock(body) }
  func stackTrie() -> (parents: [UInt32], pcs: [UInt64]) { _base.stackTrie() }
  func trieRow(ofStack slot: UInt32, trieCount: Int) -> UInt32 {
    _base.trieRow(ofStack: slot, trieCount: trieCount)
  }
  func marks() -> [Snapshot.Mark] { _base.marks() }
  func registrations() -> [Registration] { _base.registrations() }
  func declaredEdges() -> [DeclaredEdge] { _base.declaredEdges() }
  func ownRanges() -> [Range<UInt64>] { _base.ownRanges() }
}
