// Tests of the core file reader: what is in a file, and that no damage to one does harm.

import GraphPrimitives
import Testing

@testable import HeapCapture

@Suite struct CoreFileTests {
  /// A file with all kinds of segments: memory, memory whose rest is in a file, memory of nobody's.
  static func sample() -> CoreWriter {
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
      .init(
        start: 0x40_0000, memorySize: 0x1000, flags: 4,
        bytes: (0..<4096).map { UInt8(truncatingIfNeeded: $0) }),
      .init(start: 0x40_1000, memorySize: 0x1000, flags: 5, bytes: []),
      .init(
        start: 0x7000_0000, memorySize: 0x2000, flags: 6,
        bytes: [UInt8](repeating: 7, count: 0x2000)),
      .init(start: 0x7100_0000, memorySize: 0x1000, flags: 0, bytes: []),
    ]
    core.files = [
      .init(start: 0x40_0000, end: 0x40_1000, fileOffset: 0, path: "/nowhere/program"),
      .init(start: 0x40_1000, end: 0x40_2000, fileOffset: 0x1000, path: "/nowhere/program"),
      .init(start: 0x50_0000, end: 0x50_2000, fileOffset: 0, path: "/nowhere/library"),
    ]
    return core
  }

  @Test("Threads, files and memory are what was written")
  func reads() throws {
    let written = Self.sample()
    let file = ScratchFile(written.bytes())
    let core = try CoreFile(path: file.path)
    #expect(core.pid == 4711)
    #expect(core.executable == "/nowhere/program")
    #expect(core.mappedFiles == written.files)
    #expect(core.threads.map(\.id) == [4711, 4712])
    #expect(core.threads[0].name == "OutsideTarget")
    #expect(core.threads[1].registers == written.threads[0].registers)
    #expect(core.threads[1].pc == 0x40_1234)
    #expect(core.threads[1].threadPointer == 0x7000_0100)
    #expect(core.threads.map { $0.vectorState.first } == [4_711_000, 4_712_000])
    #expect(core.threads[0].vectorState.count == 104)

    let memory = TargetMemory(CoreMemory(core, executable: nil))
    #expect(memory.load(UInt8.self, at: 0x40_00ff) == 255)
    #expect(memory.word(at: 0x7000_1ff8) == 0x0707_0707_0707_0707)
    #expect(memory.word(at: 0x7000_1ffc) == nil, "runs over the end")
    #expect(memory.word(at: 0x40_1000) == nil, "only the file has it, and the file is not here")
    #expect(memory.word(at: 0x50_0000) == nil)
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var bytes: [UInt8]
    var because: String
  }

  static let refused = [
    Refused(testDescription: "an empty file", bytes: [], because: "it is empty"),
    Refused(testDescription: "text", bytes: Array("core".utf8), because: "it is no ELF file"),
    Refused(
      testDescription: "a compressed file", bytes: [0x28, 0xb5, 0x2f, 0xfd, 0, 0],
      because: "it is compressed; use `zstd -d` or `coredumpctl dump` first"),
    Refused(
      testDescription: "an executable", bytes: changed(16, to: 3),
      because: "it is an executable or a library"),
    Refused(
      testDescription: "another processor's", bytes: changed(18, to: 183),
      because: "it is of another processor than x86-64"),
    Refused(
      testDescription: "32 bits", bytes: changed(4, to: 1),
      because: "it is no little-endian file of 64 bits"),
  ]

  private static func changed(_ offset: Int, to byte: UInt8) -> [UInt8] {
    var bytes = sample().bytes()
    bytes[offset] = byte
    return bytes
  }

  @Test("What is no core file is refused with the reason", arguments: refused)
  func refuses(_ refused: Refused) {
    let file = ScratchFile(refused.bytes)
    #expect(throws: CaptureError.notACoreFile(path: file.path, because: refused.because)) {
      try CoreFile(path: file.path)
    }
  }

  @Test("A file that is not there")
  func missing() {
    #expect(throws: CaptureError.cannotOpen(path: "/nowhere/core", errno: 2)) {
      try CoreFile(path: "/nowhere/core")
    }
  }

  @Test("A file cut short anywhere is refused, and memory is never taken for zeros")
  func truncated() {
    let bytes = Self.sample().bytes()
    let headers = 64 + 56 * 5
    for count in Array(1..<(headers + 1_200))
      + Array(stride(from: headers + 1_200, to: bytes.count, by: 97))
    {
      let file = ScratchFile(Array(bytes[..<count]))
      #expect(throws: CaptureError.self, "\(count) of \(bytes.count) bytes") {
        try CoreFile(path: file.path)
      }
    }
  }

  @Test("A changed byte in headers and notes does no harm", arguments: 0..<8)
  func damaged(bit: Int) throws {
    let bytes = Self.sample().bytes()
    var refusedCount = 0
    for offset in 0..<(64 + 56 * 5 + 1_200) {
      var changed = bytes
      changed[offset] ^= 1 << bit
      let file = ScratchFile(changed)
      do {
        let core = try CoreFile(path: file.path)
        let memory = TargetMemory(CoreMemory(core, executable: nil))
        for mapping in memory.source.mappings {
          _ = memory.bytes(at: mapping.start, count: min(mapping.count, 1 << 20))
          _ = memory.word(at: mapping.end - 8)
        }
        _ = loadImages(of: memory)
      } catch {
        refusedCount += 1
      }
    }
    #expect(refusedCount > 0)
  }
}
