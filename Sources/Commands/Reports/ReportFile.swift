// ReportFile: writes a report to the file that -o names.

internal import Glibc

/// Writes reports to files.
package enum ReportFile {
  /// Writes a text to a file; see ``write(to:_:)``.
  package static func write(
    _ text: String, to path: String, isDurable: Bool = false
  ) throws(CommandError) {
    try write(to: path, isDurable: isDurable) { (sink) throws(SinkError) in try sink.write(text) }
  }

  /// Writes a file in one go: under a name of its own first, so that nothing half-written stands under
  /// the name that was asked for. What is no ordinary file (`/dev/stdout`, a pipe) is written to as it is.
  ///
  /// - Parameters:
  ///   - isDurable: Whether the content must be on the disk before the file has its name, so that not even a machine that
  ///     goes down leaves half of it.
  ///   - body: Writes the content.
  static func write(
    to path: String, isDurable: Bool = false, _ body: (DescriptorSink) throws(SinkError) -> Void
  ) throws(CommandError) {
    var status = stat()
    let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    let place =
      isSpecial ? path : path + ".partial-" + String(UInt64.random(in: .min ... .max), radix: 36)
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (isSpecial ? 0 : O_EXCL)
    let descriptor = open(place, flags, 0o666)
    guard descriptor >= 0 else { throw failure(path, errno) }
    do {
      try body(DescriptorSink(descriptor))
    } catch {
      close(descriptor)
      if !isSpecial { unlink(place) }
      throw failure(path, error.errno)
    }
    if isDurable, !isSpecial, fsync(descriptor) != 0 {
      let reason = errno
      close(descriptor)
      unlink(place)
      throw failure(path, reason)
    }
    if close(descriptor) != 0 || (!isSpecial && rename(place, path) != 0) {
      let reason = errno
      if !isSpecial { unlink(place) }
      throw failure(path, reason)
    }
  }

  private static func failure(_ path: String, _ errno: Int32) -> CommandError {
    CommandError(
      path, "cannot write the report: " + String(cString: strerror(errno)), status: .impossible)
  }
}
