// ReportFile: writes a report to the file that -o names.

internal import Glibc

/// Writes reports to files.
package enum ReportFile {
  /// Writes a text to a file; see ``write(to:_:)``.
  package static func write(_ text: String, to path: String) throws(CommandError) {
    try write(to: path) { (sink) throws(SinkError) in try sink.write(text) }
  }

  /// Writes a file in one go: under a name of its own first, so that nothing half-written stands under
  /// the name that was asked for. What is no ordinary file (`/dev/stdout`, a pipe) is written to as it is.
  ///
  /// - Parameter body: Writes the content.
  static func write(
    to path: String, _ body: (DescriptorSink) throws(SinkError) -> Void
  ) throws(CommandError) {
    var status = stat()
    let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    let place = isSpecial ? path : path + ".partial-\(getpid())"
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
