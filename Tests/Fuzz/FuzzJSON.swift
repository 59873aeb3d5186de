// FuzzJSON: bytes as the files that people write and that other runs of the tool have written: known findings,
// the configuration, reports, records.

import Glibc
import Symbolication

@testable import Commands

@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  _ = try? LocatedJSON(parsing: bytes)
  withFile(bytes) { path in
    _ = try? Configuration(contentsOf: path)
    for words in [["known", "list", path], ["verify", path, path]] {
      let sink = MemorySink()
      let status = Tool.memgraph.run(
        words, on: Console(output: sink, errors: sink, symbolizer: { _, _ in NoSymbols() }))
      guard (0...4).contains(status.rawValue) else { fatalError("status \(status.rawValue)") }
    }
  }
  return 0
}
