// ProcessMemory: the memory of a stopped process, read from outside.

internal import CHeapCapture
internal import Glibc

/// The memory of another process: a frozen twin, or a process that is stopped.
package final class ProcessMemory: MemorySource {
  package let name: String
  package let mappings: [MemoryMapping]
  package let executable: String
  package let residentBytes: UInt64
  private let _pid: pid_t

  /// What to put before the process's paths: it may see other files than this process, as in a container.
  private let _root: String

  /// Opens a process.
  ///
  /// - Throws: ``CaptureError/cannotRead(pid:errno:)`` where its mappings can't be read.
  package init(pid: Int32, name: String) throws(CaptureError) {
    _pid = pid
    self.name = name
    guard let text = readWholeFile("/proc/\(pid)/maps") else {
      throw .cannotRead(pid: pid, errno: errno)
    }
    mappings = parseMappings(text)
    _root = Self._hasSameRoot(pid) ? "" : "/proc/\(pid)/root"

    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/\(pid)/exe", &path, path.count)
    executable = count > 0 ? String(decoding: path[..<count], as: UTF8.self) : ""

    let statm = readWholeFile("/proc/\(pid)/statm")?.split(separator: " ") ?? []
    residentBytes = statm.count > 1 ? (UInt64(statm[1]) ?? 0) * UInt64(getpagesize()) : 0
  }

  package func read(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let base = buffer.baseAddress, buffer.count > 0 else { return 0 }
    var done = 0
    while done < buffer.count {
      let count = mg_read_process(
        _pid, address + UInt64(done), base + done, buffer.count - done)
      if count <= 0 { break }
      done += count
    }
    return done
  }

  package func localPath(of mapping: MemoryMapping) -> String {
    // The kernel still has a file that was deleted or replaced.
    if mapping.path.hasSuffix(" (deleted)") {
      if mapping.path == executable { return "/proc/\(_pid)/exe" }
      let range = String(mapping.start, radix: 16) + "-" + String(mapping.end, radix: 16)
      return "/proc/\(_pid)/map_files/\(range)"
    }
    return _root + mapping.path
  }

  private static func _hasSameRoot(_ pid: Int32) -> Bool {
    var own = stat()
    var other = stat()
    guard stat("/", &own) == 0, stat("/proc/\(pid)/root/", &other) == 0 else { return true }
    return own.st_dev == other.st_dev && own.st_ino == other.st_ino
  }
}

/// The mappings in the text of a `/proc/PID/maps` file.
package func parseMappings(_ text: String) -> [MemoryMapping] {
  text.split(separator: "\n").compactMap { line in
    // start-end perms offset device inode   path
    let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
    guard fields.count >= 5 else { return nil }
    let range = fields[0].split(separator: "-")
    guard range.count == 2, let start = UInt64(range[0], radix: 16),
      let end = UInt64(range[1], radix: 16), start < end,
      let offset = UInt64(fields[2], radix: 16)
    else { return nil }
    let path = fields.count > 5 ? String(fields[5].drop { $0 == " " }) : ""
    return MemoryMapping(
      start: start, end: end, isReadable: fields[1].hasPrefix("r"),
      isWritable: fields[1].dropFirst().hasPrefix("w"),
      isExecutable: fields[1].dropFirst(2).hasPrefix("x"),
      isShared: fields[1].dropFirst(3).hasPrefix("s"), fileOffset: offset, path: path)
  }
}

/// The contents of a file that says no size of itself, as those of `/proc`; nil where it can't be read.
package func readWholeFile(_ path: String) -> String? {
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
  return String(decoding: bytes, as: UTF8.self)
}
