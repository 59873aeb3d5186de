// FuzzSnapshot: bytes as a snapshot file. What is read is valid, and can be written again.

import SnapshotFormat

@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  _ = try? Snapshot(bytes: bytes)
  guard let snapshot = try? Snapshot(bytes: bytes, verifyingChecksums: false) else { return 0 }
  guard (try? snapshot.validate()) != nil else { fatalError("it is read, and not valid") }
  _ = snapshot.textDump()
  for ofNames in [false, true] {
    guard (try? snapshot.stripped(ofNames: ofNames).validate()) != nil else {
      fatalError("it is not valid when it is stripped")
    }
  }
  return 0
}
