// PartialFile: a file that has no name until it is whole.

internal import Glibc

/// A file that is being written and gets its name when it is whole.
///
/// Where the file system can (ext4, XFS, Btrfs, tmpfs, overlayfs) it has no name at all before, so that not even
/// SIGKILL leaves half of it behind; elsewhere it has another name in the same folder.
package struct PartialFile: ~Copyable {
  /// A system call that failed.
  package struct Failure: Error {
    package let operation: String
    package let errno: Int32

    /// The call that has just failed.
    package init(_ operation: String) {
      self.operation = operation
      errno = Glibc.errno
    }

    package init(_ operation: String, errno: Int32) {
      self.operation = operation
      self.errno = errno
    }
  }

  /// What to write to.
  package let descriptor: Int32

  /// Where the file is to be.
  private let _path: String

  /// What it is called until then; nil for nothing.
  private var _name: String?

  /// `O_TMPFILE`, which is no simple number in C.
  private static let _unnamed: Int32 = 0o20_000_000 | O_DIRECTORY

  /// Makes a file that is to lie at `path`.
  ///
  /// - Parameters:
  ///   - mode: its permissions, less what the process's mask takes away.
  ///   - mayBeUnnamed: false for a file that has a name from its beginning.
  package init(
    at path: String, mode: UInt32, mayBeUnnamed: Bool = true
  ) throws(Failure) {
    _path = path
    if mayBeUnnamed {
      let slash = path.lastIndex(of: "/")
      let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      let unnamed = open(folder, O_RDWR | O_CLOEXEC | Self._unnamed, mode)
      if unnamed >= 0 {
        descriptor = unnamed
        _name = nil
        return
      }
    }
    while true {
      let name = Self._newName(beside: path)
      Leftovers.add(name)
      let named = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
      if named >= 0 {
        descriptor = named
        _name = name
        return
      }
      let failure = Failure("create")
      Leftovers.forget(name)
      guard failure.errno == EEXIST || failure.errno == EINTR else { throw failure }
    }
  }

  /// Gives the file its name, in place of what has it, and closes it.
  package consuming func publish() throws(Failure) {
    do throws(Failure) {
      try _takeName()
    } catch {
      discard()
      throw error
    }
    close(descriptor)
  }

  /// Closes the file; nothing of it stays.
  package consuming func discard() {
    if let _name {
      unlink(_name)
      Leftovers.forget(_name)
    }
    close(descriptor)
  }

  private mutating func _takeName() throws(Failure) {
    if _name == nil {
      // Where nothing has the name yet it is taken in one step.
      if _link(_path) { return }
      let name = Self._newName(beside: _path)
      Leftovers.add(name)
      _name = name
      if !_link(name) { try _copy(to: name) }
    }
    guard let _name, rename(_name, _path) == 0 else { throw Failure("rename") }
    Leftovers.forget(_name)
    self._name = nil
  }

  private func _link(_ name: String) -> Bool {
    linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0
  }

  /// What there is where a file without a name can't get one: /proc is not there.
  private func _copy(to name: String) throws(Failure) {
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { throw Failure("write") }
    let copy = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, facts.st_mode & 0o777)
    guard copy >= 0 else { throw Failure("create") }
    defer { close(copy) }
    var offset: off_t = 0
    while offset < facts.st_size {
      guard sendfile(copy, descriptor, &offset, 1 << 30) > 0 || errno == EINTR else {
        throw Failure("write")
      }
    }
    guard fsync(copy) == 0 else { throw Failure("write") }
  }

  private static func _newName(beside path: String) -> String {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    return "\(folder).mgraph-\(String(UInt64.random(in: .min ... .max), radix: 36))"
  }
}
