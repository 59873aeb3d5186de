// CoreMemory: the memory of a program that left a core file, with what the file leaves out taken from the
// files that the program had mapped.

internal import Glibc

/// The memory of a program as a core file has it.
///
/// The kernel leaves out what a program has unchanged from files, code above all. It is read from the
/// files on this machine, where they are of the version that was loaded.
final class CoreMemory: MemorySource {
  /// A range of memory whose bytes come from one place.
  private struct Part {
    var start: UInt64
    var end: UInt64
    /// The bytes in the core file, from its start; none in case of 0.
    var inCore: UInt64
    var coreOffset: UInt64
    /// Row of the local file, -1 for none.
    var file: Int
    var fileOffset: UInt64
  }

  let name = "core"
  private(set) var mappings: [MemoryMapping] = []
  let executable: String
  let residentBytes: UInt64

  private let _core: CoreFile
  private var _parts: [Part] = []
  private var _files: [LocalFile] = []

  /// Lays out the memory.
  ///
  /// - Parameter executable: where the program's executable is on this machine; nil: where it was.
  init(_ core: CoreFile, executable: String?) {
    _core = core
    self.executable = executable ?? core.executable
    residentBytes = core.segments.reduce(0) { $0 + $1.fileSize }

    // Both lists are cut at each other's borders.
    var borders = Set<UInt64>()
    for segment in core.segments {
      borders.insert(segment.start)
      borders.insert(segment.end)
    }
    for file in core.mappedFiles {
      borders.insert(file.start)
      borders.insert(file.end)
    }
    let sorted = borders.sorted()
    var segments = core.segments[...]
    var files = core.mappedFiles[...]
    var localRows: [String: Int] = [:]
    for (start, end) in zip(sorted, sorted.dropFirst()) {
      while let first = segments.first, first.end <= start { segments.removeFirst() }
      while let first = files.first, first.end <= start { files.removeFirst() }
      let segment = segments.first.flatMap { $0.start <= start ? $0 : nil }
      let file = files.first.flatMap { $0.start <= start ? $0 : nil }
      if segment == nil && file == nil { continue }
      _append(start..<end, segment: segment, file: file, localRows: &localRows)
    }
  }

  private func _append(
    _ range: Range<UInt64>, segment: CoreFile.Segment?, file: CoreFile.MappedFile?,
    localRows: inout [String: Int]
  ) {
    var part = Part(
      start: range.lowerBound, end: range.upperBound, inCore: 0, coreOffset: 0, file: -1,
      fileOffset: 0)
    if let segment {
      let skipped = range.lowerBound - segment.start
      part.inCore = min(
        segment.fileSize - min(skipped, segment.fileSize), range.upperBound - range.lowerBound)
      part.coreOffset = segment.fileOffset + skipped
    }
    var path = ""
    var flags = segment?.flags ?? 0
    if let file {
      path = file.path == _core.executable ? executable : file.path
      part.fileOffset = file.fileOffset + (range.lowerBound - file.start)
      let row: Int
      if let known = localRows[path] {
        row = known
      } else {
        row = _files.count
        _files.append(LocalFile(path: path, headInCore: _head(of: file.path)))
        localRows[path] = row
      }
      part.file = row
      if segment == nil { flags = _files[row].flags(at: part.fileOffset) }
    }
    // What neither the core file nor a file here has can't be read.
    var readable = part.inCore
    if part.file >= 0 {
      readable = max(
        readable, _files[part.file].size - min(part.fileOffset, _files[part.file].size))
    }
    readable = min(readable, part.end - part.start)
    part.end = part.start + readable
    if readable > 0 {
      _parts.append(part)
      _appendMapping(part.start..<part.end, flags: flags, fileOffset: part.fileOffset, path: path)
    }
    if part.end < range.upperBound {
      _appendMapping(
        part.end..<range.upperBound, flags: flags & ~4, fileOffset: part.fileOffset + readable,
        path: path)
    }
  }

  private func _appendMapping(
    _ range: Range<UInt64>, flags: UInt32, fileOffset: UInt64, path: String
  ) {
    let mapping = MemoryMapping(
      start: range.lowerBound, end: range.upperBound, isReadable: flags & 4 != 0,
      isWritable: flags & 2 != 0, isExecutable: flags & 1 != 0, fileOffset: fileOffset, path: path)
    // A part of an anonymous mapping that only the borders of others cut.
    if let last = mappings.last, last.end == mapping.start, last.path == path, path.isEmpty,
      last.isReadable == mapping.isReadable, last.isWritable == mapping.isWritable,
      last.isExecutable == mapping.isExecutable
    {
      mappings[mappings.count - 1].end = mapping.end
    } else {
      mappings.append(mapping)
    }
  }

  /// The first page of a mapped file, as the core file has it.
  private func _head(of path: String) -> [UInt8]? {
    guard let file = _core.mappedFiles.first(where: { $0.path == path && $0.fileOffset == 0 }),
      let segment = _core.segments.first(where: { $0.start <= file.start && file.start < $0.end }),
      segment.fileSize >= file.start - segment.start + 4096
    else { return nil }
    var head = [UInt8](repeating: 0, count: 4096)
    head.withUnsafeMutableBytes {
      _core.copy(from: segment.fileOffset + (file.start - segment.start), into: $0)
    }
    return head
  }

  func read(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = _readPart(address + UInt64(done), into: rest)
      if count == 0 { break }
      done += count
    }
    return done
  }

  private func _readPart(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var low = 0
    var high = _parts.count
    while low < high {
      let middle = (low + high) / 2
      if _parts[middle].end <= address { low = middle + 1 } else { high = middle }
    }
    guard low < _parts.count, _parts[low].start <= address else { return 0 }
    let part = _parts[low]
    let offset = address - part.start
    if offset < part.inCore {
      let count = Int(min(part.inCore - offset, UInt64(buffer.count)))
      _core.copy(
        from: part.coreOffset + offset,
        into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
      return count
    }
    guard part.file >= 0 else { return 0 }
    let count = Int(min(part.end - address, UInt64(buffer.count)))
    return _files[part.file].read(
      from: part.fileOffset + offset,
      into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
  }
}

/// A file that the program had mapped, as it is on this machine.
private final class LocalFile {
  /// 0 where it is not here or is another version.
  let size: UInt64
  private let _file: Int32
  private let _segments: [ELFFile.Segment]

  /// Opens the file, if it is the one that was loaded.
  init(path: String, headInCore: [UInt8]?) {
    let local = ELFFile(path: path)
    let loaded = headInCore.flatMap { head in
      head.withUnsafeBytes { ELFFile(path: path, head: $0) }
    }
    _segments = local?.segments ?? []
    let isOther = loaded.map { $0.buildID != local?.buildID } ?? false
    _file = isOther ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    var status = stat()
    size =
      _file >= 0 && fstat(_file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      ? UInt64(max(status.st_size, 0)) : 0
  }

  deinit { if _file >= 0 { close(_file) } }

  /// The permissions with which a place of the file is loaded; to be read where that is unknown.
  func flags(at offset: UInt64) -> UInt32 {
    let segment = _segments.first {
      $0.type == ELFFile.Segment.load && $0.fileOffset & ~4095 <= offset
        && offset < $0.fileOffset &+ $0.fileSize
    }
    return segment?.flags ?? 4
  }

  func read(from offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard _file >= 0 else { return 0 }
    return max(0, pread(_file, buffer.baseAddress, buffer.count, off_t(offset)))
  }
}
