// CoreFile: what an ELF core file says: memory segments, threads, mapped files, the process.

internal import Glibc

/// A core file of a 64-bit x86 program on Linux, as the kernel, `gcore` and `coredumpctl dump` write it.
///
/// Every read is checked against the file's length; a damaged file gives an error that names the offset.
final class CoreFile {
  /// A range of memory that the file holds the first `fileSize` bytes of.
  struct Segment: Hashable {
    var start: UInt64
    var memorySize: UInt64
    var fileOffset: UInt64
    var fileSize: UInt64
    var flags: UInt32

    var end: UInt64 { start + memorySize }
  }

  /// A range of memory that was mapped from a file.
  struct MappedFile: Hashable {
    var start: UInt64
    var end: UInt64
    var fileOffset: UInt64
    var path: String
  }

  let path: String

  /// In ascending order of address, none overlapping another.
  private(set) var segments: [Segment] = []

  /// In ascending order of address, none overlapping another.
  private(set) var mappedFiles: [MappedFile] = []

  /// In ascending order of thread id.
  private(set) var threads: [ThreadState] = []
  private(set) var pid: UInt32 = 0

  /// The path of the executable as the program knew it; empty where it is unknown.
  private(set) var executable = ""

  private var _entryPoint: UInt64 = 0
  private var _programName = ""
  private let _bytes: UnsafeRawBufferPointer

  /// Where addresses of programs end; what the kernel itself lends them lies above.
  private static let _userEnd: UInt64 = 1 << 47

  /// Opens a core file and reads all but the memory.
  ///
  /// - Throws: ``CaptureError`` where the file can't be read, is none, or is damaged or cut short.
  /// - Complexity: O(*s* log *s*) for *s* segments and mapped files.
  init(path: String) throws(CaptureError) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .cannotOpen(path: path, errno: errno) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .cannotOpen(path: path, errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .notACoreFile(path: path, because: "it is no regular file")
    }
    guard status.st_size > 0 else { throw .notACoreFile(path: path, because: "it is empty") }
    guard let base = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, file, 0),
      base != MAP_FAILED
    else { throw .cannotOpen(path: path, errno: errno) }
    self.path = path
    _bytes = UnsafeRawBufferPointer(start: base, count: Int(status.st_size))
    try _checkHeader()
    try _readSegments()
    threads.sort { $0.id < $1.id }
    if pid == 0 { pid = threads.first?.id ?? 0 }
    if let first = threads.firstIndex(where: { $0.id == pid }) {
      threads[first].name = _programName
    }
    executable = mappedFiles.first { $0.start <= _entryPoint && _entryPoint < $0.end }?.path ?? ""
  }

  deinit { munmap(UnsafeMutableRawPointer(mutating: _bytes.baseAddress), _bytes.count) }

  /// Copies bytes of the file, which must be in it.
  func copy(from offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) {
    buffer.copyMemory(
      from: UnsafeRawBufferPointer(rebasing: _bytes[Int(offset)..<(Int(offset) + buffer.count)]))
  }

  // MARK: Parsing

  private func _load<T: BitwiseCopyable>(
    _ type: T.Type, at offset: UInt64
  ) throws(CaptureError) -> T {
    let size = UInt64(MemoryLayout<T>.size)
    guard offset <= UInt64(_bytes.count), size <= UInt64(_bytes.count) - offset else {
      throw .damagedCoreFile(path: path, offset: offset, because: "the file ends before it")
    }
    return _bytes.loadUnaligned(fromByteOffset: Int(offset), as: T.self)
  }

  private func _checkHeader() throws(CaptureError) {
    func refuse(_ because: String) -> CaptureError { .notACoreFile(path: path, because: because) }
    let magic = _bytes.count >= 4 ? try _load(UInt32.self, at: 0) : 0
    let compressions: [(UInt32, String)] = [
      (0xfd2f_b528, "zstd -d"), (0x184d_2204, "lz4 -d"), (0x587a_37fd, "xz -d"),
    ]
    for (start, command) in compressions where magic == start {
      throw refuse("it is compressed; use `\(command)` or `coredumpctl dump` first")
    }
    if magic & 0xffff == 0x8b1f { throw refuse("it is compressed; use `gzip -d` first") }
    guard magic == 0x464c_457f, _bytes.count >= 64 else { throw refuse("it is no ELF file") }
    guard try _load(UInt16.self, at: 4) == 0x0102 else {
      throw refuse("it is no little-endian file of 64 bits")
    }
    let type = try _load(UInt16.self, at: 16)
    guard type == 4 else {
      throw refuse(
        type == 2 || type == 3 ? "it is an executable or a library" : "its type is \(type)")
    }
    guard try _load(UInt16.self, at: 18) == 62 else {
      throw refuse("it is of another processor than x86-64")
    }
  }

  private func _readSegments() throws(CaptureError) {
    let start = try _load(UInt64.self, at: 32)
    let size = UInt64(try _load(UInt16.self, at: 54))
    var count = UInt64(try _load(UInt16.self, at: 56))
    if count == 0xffff {
      // Too many for the field: the first section header has the number.
      let sections = try _load(UInt64.self, at: 40)
      count = UInt64(try _load(UInt32.self, at: sections &+ 44))
    }
    guard size >= 56, count > 0 else {
      throw .damagedCoreFile(path: path, offset: 54, because: "there are no segments")
    }
    guard start < UInt64(_bytes.count), count <= (UInt64(_bytes.count) - start) / size else {
      throw .damagedCoreFile(
        path: path, offset: 56, because: "\(count) segments do not fit into the file")
    }
    var notes: [(UInt64, UInt64)] = []
    for index in 0..<count {
      let at = start + index * size
      let type = try _load(UInt32.self, at: at)
      let flags = try _load(UInt32.self, at: at + 4)
      let offset = try _load(UInt64.self, at: at + 8)
      let address = try _load(UInt64.self, at: at + 16)
      let fileSize = try _load(UInt64.self, at: at + 32)
      let memorySize = try _load(UInt64.self, at: at + 40)
      if type == ELFFile.Segment.note {
        notes.append((offset, fileSize))
        continue
      }
      if type != ELFFile.Segment.load || address >= Self._userEnd { continue }
      guard fileSize <= memorySize, memorySize <= Self._userEnd - address else {
        throw .damagedCoreFile(path: path, offset: at, because: "a segment's sizes contradict")
      }
      if memorySize == 0 { continue }
      let end = UInt64(_bytes.count)
      if fileSize > 0, offset > end || fileSize > end - offset {
        throw .truncatedCoreFile(
          path: path, offset: end, missing: offset > end ? fileSize : fileSize - (end - offset))
      }
      segments.append(
        Segment(
          start: address, memorySize: memorySize, fileOffset: offset, fileSize: fileSize,
          flags: flags))
    }
    segments.sort { $0.start < $1.start }
    for (segment, next) in zip(segments, segments.dropFirst()) where segment.end > next.start {
      throw .damagedCoreFile(
        path: path, offset: start,
        because:
          "segments at \(String(segment.start, radix: 16)) and \(String(next.start, radix: 16)) overlap"
      )
    }
    if notes.isEmpty {
      throw .damagedCoreFile(path: path, offset: start, because: "there are no notes on threads")
    }
    for (offset, size) in notes { try _readNotes(from: offset, size: size) }
    if threads.isEmpty {
      throw .damagedCoreFile(
        path: path, offset: notes[0].0, because: "there is no note on a thread")
    }
  }

  private func _readNotes(from start: UInt64, size: UInt64) throws(CaptureError) {
    guard start <= UInt64(_bytes.count), size <= UInt64(_bytes.count) - start else {
      throw .truncatedCoreFile(
        path: path, offset: UInt64(_bytes.count), missing: size)
    }
    let end = start + size
    var at = start
    while at + 12 <= end {
      let nameSize = UInt64(try _load(UInt32.self, at: at))
      let contentSize = UInt64(try _load(UInt32.self, at: at + 4))
      let type = try _load(UInt32.self, at: at + 8)
      let content = at + 12 + (nameSize + 3) & ~3
      guard content <= end, contentSize <= end - content else {
        throw .damagedCoreFile(path: path, offset: at, because: "a note is longer than its segment")
      }
      // "CORE"
      if nameSize == 5, try _load(UInt32.self, at: at + 12) == 0x4552_4f43 {
        switch type {
        case 1: try _readThread(at: content, size: contentSize)
        case 3: try _readProcess(at: content, size: contentSize)
        case 6: try _readAuxiliaryVector(at: content, size: contentSize)
        case 0x4649_4c45: try _readMappedFiles(at: content, size: contentSize)
        // NT_FPREGSET: the oldest part of the vector registers.
        case 2: _readVectors(at: content, size: contentSize)
        default: break
        }
      }
      // "LINUX", NT_X86_XSTATE: all of them.
      if nameSize == 6, type == 0x202, try _load(UInt32.self, at: at + 12) == 0x554e_494c {
        _readVectors(at: content, size: contentSize)
      }
      at = content + (contentSize + 3) & ~3
    }
  }

  /// `NT_PRSTATUS`: the registers in the kernel's order, from byte 112 on.
  private func _readThread(at content: UInt64, size: UInt64) throws(CaptureError) {
    guard size >= 112 + 27 * 8 else {
      throw .damagedCoreFile(path: path, offset: content, because: "a thread's note is too short")
    }
    func register(_ index: UInt64) throws(CaptureError) -> UInt64 {
      try _load(UInt64.self, at: content + 112 + index * 8)
    }
    // r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs flags rsp ss fs_base
    var registers: [UInt64] = []
    for index: UInt64 in [10, 5, 11, 12, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0] {
      registers.append(try register(index))
    }
    threads.append(
      ThreadState(
        id: try _load(UInt32.self, at: content + 32), name: "", isStopped: true,
        registers: registers, pc: try register(16), stackPointer: registers[7],
        threadPointer: try register(21)))
  }

  /// Vector registers, which are those of the thread whose note came last.
  private func _readVectors(at content: UInt64, size: UInt64) {
    guard let last = threads.indices.last else { return }
    threads[last].vectorState = (0..<min(size, 1 << 14) / 8).compactMap {
      try? _load(UInt64.self, at: content + $0 * 8)
    }
  }

  /// `NT_PRPSINFO`
  private func _readProcess(at content: UInt64, size: UInt64) throws(CaptureError) {
    guard size >= 56 else {
      throw .damagedCoreFile(
        path: path, offset: content, because: "the process's note is too short")
    }
    pid = try _load(UInt32.self, at: content + 24)
    let name = _bytes[Int(content + 40)..<Int(content + 56)].prefix { $0 != 0 }
    _programName = String(decoding: name, as: UTF8.self)
  }

  private func _readAuxiliaryVector(at content: UInt64, size: UInt64) throws(CaptureError) {
    for entry in 0..<(size / 16) {
      // AT_ENTRY
      if try _load(UInt64.self, at: content + entry * 16) == 9 {
        _entryPoint = try _load(UInt64.self, at: content + entry * 16 + 8)
      }
    }
  }

  /// `NT_FILE`: a count, the page size, ranges, then paths.
  private func _readMappedFiles(at content: UInt64, size: UInt64) throws(CaptureError) {
    func damaged(_ offset: UInt64, _ because: String) -> CaptureError {
      .damagedCoreFile(path: path, offset: offset, because: because)
    }
    guard size >= 16 else { throw damaged(content, "the note on mapped files is too short") }
    let count = try _load(UInt64.self, at: content)
    let pageSize = try _load(UInt64.self, at: content + 8)
    guard count <= (size - 16) / 24, pageSize == 1 || pageSize == 4096 else {
      throw damaged(content, "the note on mapped files contradicts itself")
    }
    let end = content + size
    var text = content + 16 + count * 24
    for index in 0..<count {
      let at = content + 16 + index * 24
      let start = try _load(UInt64.self, at: at)
      let finish = try _load(UInt64.self, at: at + 8)
      let (offset, overflow) = try _load(UInt64.self, at: at + 16).multipliedReportingOverflow(
        by: pageSize)
      guard start < finish, finish <= Self._userEnd, !overflow, offset < 1 << 62 else {
        throw damaged(at, "a mapped file has an impossible range")
      }
      let name = _bytes[Int(text)..<Int(end)].prefix { $0 != 0 }
      guard name.endIndex < Int(end) else { throw damaged(text, "a mapped file has no path") }
      mappedFiles.append(
        MappedFile(
          start: start, end: finish, fileOffset: offset, path: String(decoding: name, as: UTF8.self)
        ))
      text = UInt64(name.endIndex) + 1
    }
    mappedFiles.sort { $0.start < $1.start }
    for (file, next) in zip(mappedFiles, mappedFiles.dropFirst()) where file.end > next.start {
      throw damaged(content, "mapped files overlap")
    }
  }
}
