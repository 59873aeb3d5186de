// SourceFiles: the Swift files that a command line names.

internal import Commands
internal import Glibc

/// Finds and reads Swift files.
enum SourceFiles {
  /// The files that are named and those in the folders that are named, each once, in the order of their paths.
  ///
  /// Hidden files and folders, such as `.build`, are left out, and links to folders aren't followed.
  ///
  /// - Throws: ``CommandError`` for a path that isn't there, a folder that can't be read or has no Swift file, and what
  ///   is no file, such as a pipe, which might never come to its end.
  static func paths(in operands: [String]) throws(CommandError) -> [String] {
    var found: Set<String> = []
    for operand in operands {
      var status = stat()
      guard stat(operand, &status) == 0 else { throw failure(operand) }
      switch status.st_mode & S_IFMT {
      case S_IFDIR:
        let files = try FolderWalk.files(in: operand) { $0.hasSuffix(".swift") }
        guard !files.isEmpty else {
          throw CommandError(
            operand, "no Swift file in it", mend: "give the folder that has the sources",
            status: .unreadable)
        }
        found.formUnion(files)
      case S_IFREG:
        found.insert(operand)
      default:
        throw CommandError(
          operand, "not a file", mend: "give a Swift file or a folder of them", status: .unreadable)
      }
    }
    return found.sorted()
  }

  /// The text of a file; what isn't UTF-8 in it is replaced.
  static func text(of path: String) throws(CommandError) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      guard count > 0 else {
        if errno == EINTR { continue }
        throw failure(path)
      }
      bytes += chunk[..<count]
    }
  }

  private static func failure(_ path: String) -> CommandError {
    CommandError(path, String(cString: strerror(errno)), status: .unreadable)
  }
}
