// ReportFile: writes what a verb made to the file that -o names.

internal import Glibc
internal import SnapshotFormat

/// Writes reports and exports to files, whole or not at all.
package enum ReportFile {
  /// Writes a text to a file; see ``write(to:_:)``.
  package static func write(
    _ text: String, to path: String, isDurable: Bool = false
  ) throws(CommandError) {
    try write(to: path, isDurable: isDurable) { (sink) throws(SinkError) in try sink.write(text) }
  }

  /// Writes a file in one go: under a name of its own first, so that nothing half-written stands under
  /// the name that was asked for. What is no ordinary file (`/dev/stdout`, a pipe) is written to as it is, and
  /// a link stays one.
  ///
  /// - Parameters:
  ///   - isDurable: Whether the content must be on the disk before the file has its name, so that not even a machine that
  ///     goes down leaves half of it.
  ///   - body: Writes the content.
  static func write(
    to path: String, isDurable: Bool = false, _ body: (DescriptorSink) throws(SinkError) -> Void
  ) throws(CommandError) {
    do {
      try write(bytesTo: path, isDurable: isDurable) { try body($0) }
    } catch let error as CommandError {
      throw error
    } catch {
      preconditionFailure("a body that throws nothing else")
    }
  }

  /// The same for content that can fail for reasons of its own, which are thrown as they are.
  package static func write(
    bytesTo path: String, isDurable: Bool = false, _ body: (DescriptorSink) throws -> Void
  ) throws {
    let output = OutputPlace(path)
    guard !output.isStream else {
      let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_APPEND)
      guard descriptor >= 0 else { throw failure(path, errno) }
      defer { close(descriptor) }
      do {
        try body(DescriptorSink(descriptor))
      } catch let error as SinkError {
        throw failure(path, error.errno)
      }
      return
    }
    do {
      let file = try PartialFile(at: output.path, mode: 0o666)
      do {
        try body(DescriptorSink(file.descriptor))
        if isDurable, fsync(file.descriptor) != 0 { throw SinkError(errno: errno) }
      } catch {
        file.discard()
        throw error
      }
      try file.publish()
    } catch let error as SinkError {
      throw failure(path, error.errno)
    } catch let error as PartialFile.Failure {
      throw failure(path, error.errno)
    }
  }

  /// Lets something write a file that it wants to open by itself. What is no ordinary file gets a copy of it.
  ///
  /// - Parameter body: Writes a file at the path that it is given, where nothing lies.
  package static func write(
    fileTo path: String, _ body: (String) throws -> Void
  ) throws {
    let output = OutputPlace(path)
    if output.isStream {
      return try write(bytesTo: path) { sink in
        try withTemporaryFile(body) { try sink.write(bytes: $0) }
      }
    }
    // The place is made here, so that the reason why it can't be is told in our words.
    let place = partial(output.path)
    Leftovers.add(place)
    defer { Leftovers.forget(place) }
    let descriptor = open(place, O_WRONLY | O_CREAT | O_CLOEXEC | O_EXCL, 0o666)
    guard descriptor >= 0 else { throw failure(path, errno) }
    close(descriptor)
    do {
      try body(place)
    } catch {
      unlink(place)
      throw error
    }
    if rename(place, output.path) != 0 {
      let reason = errno
      unlink(place)
      throw failure(path, reason)
    }
  }

  /// Lets something write a file among the temporary ones, passes its bytes on, and removes it.
  package static func withTemporaryFile(
    _ body: (String) throws -> Void, pass: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    let folder = getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    var template = Array(((folder ?? "/tmp") + "/memgraph-XXXXXX").utf8CString)
    let descriptor = mkstemp(&template)
    let place = template.withUnsafeBufferPointer {
      $0.baseAddress.map { String(cString: $0) } ?? ""
    }
    guard descriptor >= 0 else { throw failure(folder ?? "/tmp", errno) }
    Leftovers.add(place)
    defer {
      close(descriptor)
      unlink(place)
      Leftovers.forget(place)
    }
    try body(place)
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &piece, piece.count)
      if count == 0 { return }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(place, errno) }
      try pass(piece[..<count])
    }
  }

  private static func partial(_ path: String) -> String {
    path + ".partial-" + String(UInt64.random(in: .min ... .max), radix: 36)
  }

  private static func failure(_ path: String, _ errno: Int32) -> CommandError {
    CommandError(
      path, "cannot write the report: " + String(cString: strerror(errno)), status: .impossible)
  }
}
