// FuzzReport: bytes as a snapshot that the verbs of the tool look into. The checksums are made right first, so
// that what the bytes say comes through.

import Glibc
import SnapshotFormat
import Symbolication

@testable import Commands

private let verbs = [
  ["leaks"], ["summary"], ["cycles"], ["tree"], ["tasks"], ["stacks"], ["audit"],
  ["paths", "--all", "*"], ["leaks", "--format", "json"], ["tree", "--format", "json"],
]

@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let snapshot = try? Snapshot(bytes: bytes, verifyingChecksums: false) else { return 0 }
  withFile(snapshot.serialized()) { path in
    for verb in verbs { run([verb[0], path] + verb.dropFirst()) }
    run(["diff", path, path])
    run(["growth", path, path, path])
    run(["view", path, path, "-o", "/dev/null"])
  }
  return 0
}

private func run(_ words: [String]) {
  let sink = MemorySink()
  let status = Tool.memgraph.run(
    words, on: Console(output: sink, errors: sink, symbolizer: { _, _ in NoSymbols() }))
  guard (0...4).contains(status.rawValue) else { fatalError("status \(status.rawValue)") }
}
