// InputFile: reads small files that people write, and says what is wrong with them by line.

internal import Glibc

/// A JSON file that a person wrote.
struct InputFile {
  let path: String
  let document: LocatedJSON

  /// Reads a file.
  ///
  /// - Throws: an error of status *unreadable*, with the line where the text is no JSON.
  init(_ path: String) throws(CommandError) {
    self.path = path
    let bytes = try Self.bytes(path)
    do {
      document = try LocatedJSON(parsing: bytes)
    } catch {
      throw Self.error(path, line: error.line, error.why)
    }
  }

  /// All bytes of a file, at most 1 GiB.
  static func bytes(_ path: String) throws(CommandError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw CommandError(path, String(cString: strerror(errno)), status: .unreadable)
    }
    defer { close(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(file, &piece, piece.count)
      if count < 0 && errno == EINTR { continue }
      if count < 0 {
        throw CommandError(path, String(cString: strerror(errno)), status: .unreadable)
      }
      if count == 0 { return bytes }
      if bytes.count > 1 << 30 {
        throw CommandError(path, "larger than 1 GB", status: .unreadable)
      }
      bytes += piece[..<count]
    }
  }

  /// The first byte of a file that is no white space; nil for none.
  static func start(of path: String) throws(CommandError) -> UInt8? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw CommandError(path, String(cString: strerror(errno)), status: .unreadable)
    }
    defer { close(file) }
    var piece = [UInt8](repeating: 0, count: 256)
    let count = read(file, &piece, piece.count)
    return piece.prefix(max(0, count)).first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
  }

  /// Whether a file is there.
  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// An error about a line.
  func error(_ value: LocatedJSON, _ why: String, mend: String? = nil) -> CommandError {
    Self.error(path, line: value.line, why, mend: mend)
  }

  private static func error(
    _ path: String, line: Int, _ why: String, mend: String? = nil
  ) -> CommandError {
    CommandError("\(path):\(line)", why, mend: mend, status: .unreadable)
  }

  /// The members of an object of which all names must be known.
  ///
  /// - Parameter what: What the object is, for the error.
  func members(
    of value: LocatedJSON, _ what: String, known: [String]
  ) throws(CommandError) -> [(name: String, value: LocatedJSON)] {
    guard let members = value.members else {
      throw error(value, "\(what) is \(value.kind), not an object")
    }
    for (name, member) in members where !known.contains(name) {
      let guess = Spelling.nearest(to: name, among: known).map { "did you mean \"\($0)\"?" }
      throw error(
        member, "\(what) has no \"\(name)\"",
        mend: guess ?? "it has \(known.joined(separator: ", "))")
    }
    return members
  }

  /// A member that must be a text with at least one character.
  func text(
    _ name: String, of value: LocatedJSON, _ what: String
  ) throws(CommandError) -> String {
    guard let member = value[name] else { throw error(value, "\(what) has no \"\(name)\"") }
    guard let text = member.string, !text.isEmpty else {
      throw error(
        member, "\"\(name)\" is \(member.string == nil ? member.kind : "empty"), not a text")
    }
    return text
  }
}
