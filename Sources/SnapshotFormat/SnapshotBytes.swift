// SnapshotBytes: the bytes of a whole file in memory, mapped or copied.

internal import Glibc

/// The bytes of a file; columns view parts of it and keep it alive.
internal final class SnapshotBytes: @unchecked Sendable {
  /// Starts at a multiple of 64.
  let bytes: UnsafeRawBufferPointer
  private let _isMapped: Bool

  /// Maps a file for reading.
  ///
  /// - Throws: `SnapshotError.file`; a folder, pipe or device is refused too.
  init(mapping path: String) throws(SnapshotError) {
    // Without O_NONBLOCK a named pipe would wait for a writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .file(path: path, operation: "open", errno: errno) }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else {
      throw .file(path: path, operation: "open", errno: errno)
    }
    switch facts.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .file(path: path, operation: "read", errno: EISDIR)
    default: throw .notASnapshot(path: path, found: "it is a pipe or a device, not a file")
    }
    let size = Int(facts.st_size)
    guard size > 0 else { throw .notASnapshot(path: path, found: "the file is empty") }
    guard let start = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), start != MAP_FAILED
    else {
      throw .file(path: path, operation: "map", errno: errno)
    }
    bytes = UnsafeRawBufferPointer(start: start, count: size)
    _isMapped = true
  }

  /// Copies bytes that are already in memory.
  init(copying file: [UInt8]) {
    let copy = UnsafeMutableRawBufferPointer.allocate(
      byteCount: file.count, alignment: SnapshotLayout.alignment)
    copy.copyBytes(from: file)
    bytes = UnsafeRawBufferPointer(copy)
    _isMapped = false
  }

  deinit {
    if _isMapped {
      munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    } else {
      bytes.deallocate()
    }
  }
}
