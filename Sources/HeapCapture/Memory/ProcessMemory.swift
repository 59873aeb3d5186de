// ProcessMemory: the memory of a stopped process, read from outside.

internal import CHeapCapture
internal import Glibc

/// The memory of another process: a frozen twin, or a process that is stopped.
///
/// The kernel has two ways to another process's memory, and each is forbidden somewhere: `process_vm_readv`
/// by seccomp filters, both by yama, and both to another user and for a program that is not dumpable (it
/// changed its user, say). A frozen twin can hand out its memory itself, which nothing forbids.
package final class ProcessMemory: MemorySource {
  /// A way to the memory.
  package enum Way: Hashable, Sendable, CaseIterable {
    case processRead
    case memoryFile
    case served
  }

  package let name: String
  package let mappings: [MemoryMapping]
  package let executable: String
  package let residentBytes: UInt64
  package let residentPages: ResidentPages?

  /// nil where it is not known here.
  private let _pid: pid_t?
  private let _served: ServedMemory?

  /// The ways that have not been refused yet.
  private var _ways: ArraySlice<Way>

  /// `/proc/PID/mem`; -1 where it can't be opened. It leads to the memory that the process had then, whatever
  /// becomes of the process.
  private let _memoryFile: Int32

  /// A readable address that was mapped when the process was opened; 0 for none.
  private let _probe: UInt64

  /// When the process was started, in the kernel's ticks; empty where that is not known.
  private let _startTime: String

  /// Why the kernel's last way was refused.
  private var _refusal: Int32 = 0

  private let _pages: PageMap?

  /// What to put before the process's paths: it may see other files than this process, as in a container.
  private let _root: String

  /// The paths of mappings, by their starts, that are no text.
  private let _rawPaths: [UInt64: [UInt8]]

  /// Opens a process.
  ///
  /// - Parameters:
  ///   - pid: the process's number, or that of a thread of it; what `served` knows better where there
  ///     is one.
  ///   - served: the process's own service.
  ///   - ways: the ways to try, in their order.
  /// - Throws: ``CaptureError/cannotRead(pid:errno:)`` where its mappings or its memory can't be read.
  package init(
    pid: Int32, name: String, served: ServedMemory? = nil, ways: [Way] = Way.allCases
  ) throws(CaptureError) {
    self.name = name
    // The number in a request is the program's own idea of it.
    let seen = served.map { $0.pid() } ?? pid
    _pid = seen
    _pages = seen.flatMap { PageMap(pid: $0) }
    _served = served
    _memoryFile = seen.map { open("/proc/\($0)/mem", O_RDONLY | O_CLOEXEC) } ?? -1
    _startTime = seen.flatMap { Self._startTime(of: $0) } ?? ""
    _ways = ways.filter { $0 == .served ? served != nil : seen != nil }[...]

    var problem: Int32 = ESRCH
    func file(_ name: String, _ own: ServedMemory.File) -> [UInt8]? {
      if let seen, let bytes = bytesOfFile("/proc/\(seen)/\(name)"), !bytes.isEmpty { return bytes }
      problem = errno
      return served?.bytes(of: own)
    }
    guard let text = file("maps", .maps), !text.isEmpty else {
      throw .cannotRead(pid: pid, errno: problem)
    }
    mappings = parseMappings(String(decoding: text, as: UTF8.self))
    _rawPaths = rawPaths(text)
    let statm = String(decoding: file("statm", .statm) ?? [], as: UTF8.self).split(separator: " ")
    residentBytes = statm.count > 1 ? (UInt64(statm[1]) ?? 0) * UInt64(getpagesize()) : 0

    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = seen.map { readlink("/proc/\($0)/exe", &path, path.count) } ?? -1
    executable =
      count > 0
      ? String(decoding: path[..<count], as: UTF8.self)
      : String(decoding: served?.bytes(of: .executable) ?? [], as: UTF8.self)
    _root = seen.map { Self._hasSameFiles($0) ? "" : "/proc/\($0)/root" } ?? ""

    residentPages = seen.flatMap { ResidentPages(pid: $0, isTwin: name == "twin") }

    // Which way is open shows when it is gone: a word that must be there tells.
    _probe = mappings.first { $0.isReadable && !$0.path.hasPrefix("[v") }?.start ?? 0
    if _probe != 0 {
      var word: UInt64 = 0
      _ = withUnsafeMutableBytes(of: &word) { read(_probe, into: $0) }
    }
    if _ways.isEmpty { throw .cannotRead(pid: pid, errno: _refusal) }
  }

  deinit { if _memoryFile >= 0 { close(_memoryFile) } }

  /// The way that is taken now; nil where none is left.
  package var way: Way? { _ways.first }

  package func read(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let base = buffer.baseAddress, buffer.count > 0 else { return 0 }
    var done = 0
    while done < buffer.count, let way = _ways.first {
      let count = _read(
        way, address + UInt64(done),
        into: UnsafeMutableRawBufferPointer(start: base + done, count: buffer.count - done))
      if count > 0 {
        done += count
        continue
      }
      // Memory that is not there is no refusal.
      if count == 0 || errno == EFAULT || errno == EIO { break }
      if way != .served { _refusal = errno }
      _ways.removeFirst()
    }
    return done
  }

  /// Reads in one way; -1 with `errno` set where the kernel refuses it.
  private func _read(
    _ way: Way, _ address: UInt64, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int {
    switch way {
    case .processRead:
      return mg_read_process(_pid ?? 0, address, buffer.baseAddress, buffer.count)
    case .memoryFile:
      guard _memoryFile >= 0 else {
        errno = EACCES
        return -1
      }
      return pread(
        _memoryFile, buffer.baseAddress, buffer.count, off_t(truncatingIfNeeded: address))
    case .served:
      return _served?.read(address, into: buffer) ?? 0
    }
  }

  /// A process that ends lets go of its memory first, and one that becomes another program (`execve`) does as well:
  /// what could be read before and can't be read now is gone with it.
  package var isStillThere: Bool {
    var word: UInt64 = 0
    let isReadable = withUnsafeMutableBytes(of: &word) { room in
      _memoryFile >= 0 && _probe != 0
        ? _read(.memoryFile, _probe, into: room) > 0 : read(_probe, into: room) > 0
    }
    if isReadable, _memoryFile >= 0 || way == .served { return true }
    // Without the file the number may be another process's by now.
    guard isReadable, let _pid else { return false }
    return Self._startTime(of: _pid) == _startTime
  }

  /// The field `starttime` of `/proc/PID/stat`; nil where the process has ended.
  private static func _startTime(of pid: Int32) -> String? {
    // A name may have spaces and parentheses in it: fields are counted from behind it, where the state is the third.
    guard let text = readWholeFile("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else {
      return nil
    }
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 19, fields[0] != "Z", fields[0] != "X" else { return nil }
    return String(fields[19])
  }

  package func hasOwnPages(_ range: Range<UInt64>) -> Bool {
    _pages?.hasOwnPages(range) ?? true
  }

  package func localFiles(of mapping: MemoryMapping) -> [[UInt8]] {
    let path = _rawPaths[mapping.start] ?? Array(mapping.path.utf8)
    guard let _pid else { return [path] }
    var files: [[UInt8]] = []
    // These links lead to the very file that was mapped: whatever it is called, wherever it has gone since, whether
    // this process sees it or not. The second one takes privileges.
    if mapping.path == executable { files.append(Array("/proc/\(_pid)/exe".utf8)) }
    if !_root.isEmpty { files.append(Array(_root.utf8) + path) }
    files.append(path)
    let range = String(mapping.start, radix: 16) + "-" + String(mapping.end, radix: 16)
    files.append(Array("/proc/\(_pid)/map_files/\(range)".utf8))
    return files
  }

  /// Whether a process finds the same files under the same names as this one.
  private static func _hasSameFiles(_ pid: Int32) -> Bool {
    var own = stat()
    var other = stat()
    guard stat("/", &own) == 0, stat("/proc/\(pid)/root/", &other) == 0 else { return true }
    guard own.st_dev == other.st_dev, own.st_ino == other.st_ino else { return false }
    // In a mount namespace of its own the root may be the same and what lies below another.
    guard stat("/proc/self/ns/mnt", &own) == 0, stat("/proc/\(pid)/ns/mnt", &other) == 0 else {
      return true
    }
    return own.st_dev == other.st_dev && own.st_ino == other.st_ino
  }
}

/// The mappings in the text of a `/proc/PID/maps` file.
package func parseMappings(_ text: String) -> [MemoryMapping] {
  text.split(separator: "\n").compactMap { (line) -> MemoryMapping? in
    // start-end perms offset device inode   path
    let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
    guard fields.count >= 5 else { return nil }
    let range = fields[0].split(separator: "-")
    guard range.count == 2, let start = UInt64(range[0], radix: 16),
      let end = UInt64(range[1], radix: 16), start < end,
      let offset = UInt64(fields[2], radix: 16)
    else { return nil }
    // The kernel writes a newline in a path so, and nothing else.
    let path =
      fields.count > 5
      ? String(fields[5].drop { $0 == " " }).replacing(#"\012"#, with: "\n") : ""
    return MemoryMapping(
      start: start, end: end, isReadable: fields[1].hasPrefix("r"),
      isWritable: fields[1].dropFirst().hasPrefix("w"),
      isExecutable: fields[1].dropFirst(2).hasPrefix("x"),
      isShared: fields[1].dropFirst(3).hasPrefix("s"), fileOffset: offset, path: path)
  }
}

/// The paths in the bytes of a `/proc/PID/maps` file that its text does not give, by the starts of their mappings.
private func rawPaths(_ bytes: [UInt8]) -> [UInt64: [UInt8]] {
  var found: [UInt64: [UInt8]] = [:]
  for line in bytes.split(separator: UInt8(ascii: "\n")) {
    guard let slash = line.firstIndex(of: UInt8(ascii: "/")),
      let dash = line.firstIndex(of: UInt8(ascii: "-")),
      let start = UInt64(String(decoding: line[..<dash], as: UTF8.self), radix: 16)
    else { continue }
    let path = line[slash...]
    let text = String(decoding: path, as: UTF8.self)
    if !text.utf8.elementsEqual(path) {
      // Parts in which a newline stands as the kernel writes it are put together again.
      found[start] = unescaped(path)
    }
  }
  return found
}

/// A path with newlines where the kernel has written `\\012`.
private func unescaped(_ path: ArraySlice<UInt8>) -> [UInt8] {
  let escape = Array(#"\012"#.utf8)
  var result: [UInt8] = []
  var rest = path
  while let first = rest.first {
    if rest.starts(with: escape) {
      result.append(UInt8(ascii: "\n"))
      rest = rest.dropFirst(escape.count)
    } else {
      result.append(first)
      rest = rest.dropFirst()
    }
  }
  return result
}

/// The contents of a file that says no size of itself, as those of `/proc`; nil where it can't be read.
package func readWholeFile(_ path: String) -> String? {
  bytesOfFile(path).map { String(decoding: $0, as: UTF8.self) }
}

private func bytesOfFile(_ path: String) -> [UInt8]? {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return nil }
  defer { close(file) }
  var bytes: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = Glibc.read(file, &piece, piece.count)
    if count < 0 && errno == EINTR { continue }
    if count < 0 { return nil }
    if count == 0 { break }
    bytes.append(contentsOf: piece[..<count])
  }
  return bytes
}
