// AtomicFile: a file that is there whole or not at all.

internal import Glibc

/// A file that is being written and has no name of its own yet.
internal struct AtomicFile {
  typealias Failure = PartialFile.Failure

  private let _descriptor: Int32

  /// Writes a file of `size` bytes through `body`; what `body` leaves out is zero.
  ///
  /// The room is reserved before the first byte, so that a disk without it isn't filled up first. A file
  /// that outgrows the process's limit is an error here too and not the signal SIGXFSZ.
  ///
  /// - Throws: `SnapshotError.file`; nothing stays behind then.
  static func write(
    to path: String, size: UInt64, _ body: (AtomicFile) throws(Failure) -> Void
  ) throws(SnapshotError) {
    do throws(Failure) {
      try _refuseSpecialFile(path)
      // A link stays one: what it leads to is written.
      let path = OutputPlace(path).path
      let file = try PartialFile(at: path, mode: 0o600)
      do throws(Failure) {
        try _withoutSizeSignal { () throws(Failure) in
          try _reserve(size, file.descriptor)
          try body(AtomicFile(_descriptor: file.descriptor))
        }
        guard fsync(file.descriptor) == 0 else { throw Failure("write") }
      } catch {
        file.discard()
        throw error
      }
      try file.publish()
    } catch {
      throw .file(path: path, operation: error.operation, errno: error.errno)
    }
  }

  /// Writes all of `bytes` at an offset.
  func put(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(Failure) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let written = pwrite(_descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
      if written < 0 {
        if errno == EINTR { continue }
        throw Failure("write")
      }
      guard written > 0 else { throw Failure("write", errno: ENOSPC) }
      done += written
    }
  }

  /// Refuses a path at which something other than a file lies: renaming would replace a device or pipe.
  private static func _refuseSpecialFile(_ path: String) throws(Failure) {
    var facts = stat()
    guard stat(path, &facts) == 0 else { return }
    switch facts.st_mode & S_IFMT {
    case S_IFREG: return
    case S_IFDIR: throw Failure("write", errno: EISDIR)
    default: throw Failure("write", errno: EOPNOTSUPP)
    }
  }

  /// Makes the file as long as it will be, with room for it on the disk.
  private static func _reserve(_ size: UInt64, _ descriptor: Int32) throws(Failure) {
    var result: Int32
    repeat { result = posix_fallocate(descriptor, 0, off_t(size)) } while result == EINTR
    guard result == 0 else { throw Failure("write", errno: result) }
  }

  /// Calls `body` while this thread takes no SIGXFSZ, whose default is to end the process.
  private static func _withoutSizeSignal(
    _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    var signals = sigset_t()
    var before = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGXFSZ)
    pthread_sigmask(SIG_BLOCK, &signals, &before)
    defer {
      let error = errno
      if sigismember(&before, SIGXFSZ) == 0 {
        // The signal of a failed write waits for this thread; it is taken here and dropped.
        var none = timespec()
        while sigtimedwait(&signals, nil, &none) == SIGXFSZ {}
      }
      pthread_sigmask(SIG_SETMASK, &before, nil)
      errno = error
    }
    try body()
  }
}
