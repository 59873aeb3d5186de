// CoreWriter: a core file of a stopped process, or of made-up memory, laid out as the kernel does it.

import Glibc

@testable import HeapCapture

/// What is to be in a core file.
struct CoreWriter {
  struct Segment {
    var start: UInt64
    var memorySize: UInt64
    var flags: UInt32
    var bytes: [UInt8]
  }

  var segments: [Segment] = []
  var files: [CoreFile.MappedFile] = []
  var threads: [ThreadState] = []
  var pid: UInt32 = 0
  var entryPoint: UInt64 = 0

  /// Takes all from a running process, which stands still meanwhile: memory of its own whole, of files
  /// the first page alone.
  init(of pid: Int32) throws {
    self.pid = UInt32(pid)
    self = try withStoppedThreads(of: pid) { (threads) throws(CaptureError) -> CoreWriter in
      var core = self
      core.threads = threads
      let memory = try ProcessMemory(pid: pid, name: "pid")
      let pages = PageMap(pid: pid)
      for mapping in memory.mappings where mapping.path != "[vsyscall]" && mapping.path != "[vvar]"
      {
        let isOwn = mapping.isWritable || pages?.hasOwnPages(mapping.start..<mapping.end) ?? false
        var bytes: [UInt8] = []
        if mapping.isReadable && (isOwn || mapping.fileOffset == 0) {
          bytes = [UInt8](repeating: 0, count: isOwn ? mapping.count : 4096)
          let count = bytes.withUnsafeMutableBytes { memory.read(mapping.start, into: $0) }
          bytes.removeLast(bytes.count - count)
        }
        core.segments.append(
          Segment(
            start: mapping.start, memorySize: UInt64(mapping.count),
            flags: (mapping.isReadable ? 4 : 0) | (mapping.isWritable ? 2 : 0)
              | (mapping.isExecutable ? 1 : 0), bytes: bytes))
        if mapping.path.hasPrefix("/") {
          core.files.append(
            CoreFile.MappedFile(
              start: mapping.start, end: mapping.end, fileOffset: mapping.fileOffset,
              path: mapping.path))
          if mapping.path == memory.executable && mapping.isExecutable {
            core.entryPoint = mapping.start
          }
        }
      }
      return core
    }
  }

  init() {}

  /// The file.
  func bytes() -> [UInt8] {
    var file = Bytes()
    let headerSize = 64 + 56 * (segments.count + 1)
    let notes = self.notes()
    var offset = (headerSize + notes.count + 4095) & ~4095

    file.append([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    file.append(UInt16(4))  // a core file
    file.append(UInt16(62))  // of x86-64
    file.append(UInt32(1))
    file.append(UInt64(0))
    file.append(UInt64(64))
    file.append(UInt64(0))
    file.append(UInt32(0))
    for field in [64, 56, segments.count + 1, 0, 0, 0] { file.append(UInt16(field)) }

    file.append(UInt32(4))
    file.append(UInt32(0))
    for field in [headerSize, 0, 0, notes.count, 0, 4] { file.append(UInt64(field)) }
    for segment in segments {
      file.append(UInt32(1))
      file.append(segment.flags)
      file.append(UInt64(offset))
      file.append(segment.start)
      file.append(UInt64(0))
      file.append(UInt64(segment.bytes.count))
      file.append(segment.memorySize)
      file.append(UInt64(4096))
      offset += segment.bytes.count
    }
    file.append(notes)
    file.pad(to: (headerSize + notes.count + 4095) & ~4095)
    for segment in segments { file.append(segment.bytes) }
    return file.bytes
  }

  private func notes() -> [UInt8] {
    var notes = Bytes()
    func note(_ type: UInt32, _ content: [UInt8], of owner: String = "CORE\0\0\0\0") {
      notes.append(UInt32(owner.prefix { $0 != "\0" }.utf8.count + 1))
      notes.append(UInt32(content.count))
      notes.append(type)
      notes.append(Array(owner.utf8))
      notes.append(content)
      notes.pad(to: (notes.bytes.count + 3) & ~3)
    }
    for thread in threads {
      var status = Bytes()
      status.pad(to: 32)
      status.append(thread.id)
      status.pad(to: 112)
      let r = thread.registers
      for register in [
        r[15], r[14], r[13], r[12], r[6], r[1], r[11], r[10], r[9], r[8], r[0], r[2], r[3], r[4],
        r[5], 0, thread.pc, 0, 0, r[7], 0, thread.threadPointer, 0, 0, 0, 0, 0,
      ] { status.append(register) }
      status.pad(to: 336)
      note(1, status.bytes)
      var vectors = Bytes()
      for word in thread.vectorState { vectors.append(word) }
      if !vectors.bytes.isEmpty { note(0x202, vectors.bytes, of: "LINUX\0\0\0") }
    }
    var process = Bytes()
    process.pad(to: 24)
    process.append(pid)
    process.pad(to: 40)
    process.append(Array("OutsideTarget\0".utf8))
    process.pad(to: 136)
    note(3, process.bytes)
    var vector = Bytes()
    for word in [9, entryPoint, 0, 0] { vector.append(word) }
    note(6, vector.bytes)
    var mapped = Bytes()
    mapped.append(UInt64(files.count))
    mapped.append(UInt64(4096))
    for file in files {
      for word in [file.start, file.end, file.fileOffset / 4096] { mapped.append(word) }
    }
    for file in files { mapped.append(Array(file.path.utf8) + [0]) }
    note(0x4649_4c45, mapped.bytes)
    return notes.bytes
  }

  /// Bytes in the order in which they are appended.
  private struct Bytes {
    var bytes: [UInt8] = []

    mutating func append(_ more: [UInt8]) { bytes += more }

    mutating func append<T: FixedWidthInteger>(_ value: T) {
      withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func pad(to count: Int) {
      bytes.append(contentsOf: repeatElement(0, count: max(0, count - bytes.count)))
    }
  }
}

/// A file that is deleted when the instance goes.
final class ScratchFile {
  let path: String

  init(_ bytes: [UInt8]) {
    var name = Array("/tmp/memory-graph-test-XXXXXX".utf8CString)
    let file = mkstemp(&name)
    path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        write(file, $0.baseAddress.map { $0 + done }, $0.count - done)
      }
      precondition(count > 0, "no space for a scratch file")
      done += count
    }
    close(file)
  }

  deinit { unlink(path) }
}
