// FuzzCore: bytes as a core file, from its headers to a capture; and as an ELF file of the capture's own reader.

import Glibc

@testable import HeapCapture

@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  withFile(bytes) { path in
    if let core = try? CoreFile(path: path) {
      let memory = TargetMemory(CoreMemory(core, executable: nil))
      for mapping in memory.source.mappings.prefix(64) {
        _ = memory.bytes(at: mapping.start, count: min(mapping.count, 1 << 20))
        _ = memory.word(at: mapping.end &- 8)
      }
      _ = loadImages(of: memory)
      _ = try? captureCoreFile(path)
    }
  }
  return 0
}

/// Writes a file to begin with where `FUZZ_SEEDS` names a folder.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
  guard let folder = getenv("FUZZ_SEEDS") else { return 0 }
  var core = CoreWriter()
  core.pid = 4711
  core.entryPoint = 0x40_1000
  core.threads = [4712, 4711].map { id in
    ThreadState(
      id: id, name: "", isStopped: true, registers: (0..<16).map { UInt64(id) * 100 + $0 },
      pc: 0x40_1234, stackPointer: UInt64(id) * 100 + 7, threadPointer: 0x7000_0100,
      vectorState: (0..<104).map { UInt64(id) * 1_000 + $0 })
  }
  core.segments = [
    .init(start: 0x40_0000, memorySize: 0x1000, flags: 4, bytes: (0..<256).map { UInt8($0) }),
    .init(start: 0x40_1000, memorySize: 0x1000, flags: 5, bytes: []),
    .init(
      start: 0x7000_0000, memorySize: 0x400, flags: 6, bytes: [UInt8](repeating: 7, count: 0x400)),
  ]
  core.files = [
    .init(start: 0x40_0000, end: 0x40_1000, fileOffset: 0, path: "/nowhere/program"),
    .init(start: 0x40_1000, end: 0x40_2000, fileOffset: 0x1000, path: "/nowhere/program"),
  ]
  writeFile(core.bytes(), to: String(cString: folder) + "/core")
  return 0
}
