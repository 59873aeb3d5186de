// SnapshotPlace: where the snapshot is that an operand names: a file, or a mark in a folder.

internal import Glibc

/// Finds snapshots by what the caller wrote.
package struct SnapshotPlace: Sendable {
  /// Where marks are looked up by name.
  package let folder: String

  /// - Parameter folder: The folder given; nil for the one that the environment names.
  package init(folder: String?, environment: (String) -> String?) {
    if let folder {
      self.folder = folder
    } else if let recording = environment("MEMORY_GRAPH_OUT"), !recording.isEmpty {
      self.folder = recording
    } else {
      self.folder = "./memory-graph"
    }
  }

  /// The path of the snapshot that an operand names.
  ///
  /// A file of that name comes first; a word that is no file and looks like no path is a mark's name.
  package func path(of operand: String) throws -> String {
    var status = stat()
    if stat(operand, &status) == 0 {
      guard status.st_mode & S_IFMT != S_IFDIR else {
        throw CommandError(
          operand, "a folder, not a snapshot",
          mend: "give a file in it, or the name of a mark with --in \(operand)", status: .unreadable
        )
      }
      return operand
    }
    let reason = errno
    guard reason == ENOENT || reason == ENOTDIR, !operand.contains("/"),
      !operand.hasSuffix(".mgraph")
    else {
      throw CommandError(
        operand, String(cString: strerror(reason)),
        mend: "give a snapshot's file, or the name of a mark in \(folder)", status: .unreadable)
    }
    let path = folder + "/" + Self.fileName(ofMark: operand)
    if stat(path, &status) == 0 { return path }
    let marks = self.marks()
    let known =
      marks.isEmpty
      ? "there are no snapshots in \(folder); --in DIR names another folder"
      : "the marks in \(folder) are \(marks.prefix(12).joined(separator: ", "))"
        + (marks.count > 12 ? ", and \(marks.count - 12) more" : "")
    throw CommandError(operand, "neither a file nor a mark", mend: known, status: .unreadable)
  }

  /// The file of a mark: characters outside `[A-Za-z0-9._-]` become `-`, as the agent has it.
  package static func fileName(ofMark name: String) -> String {
    let safe = name.utf8.map { byte -> UInt8 in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "-"):
        byte
      default: UInt8(ascii: "-")
      }
    }
    return String(decoding: safe, as: UTF8.self) + ".mgraph"
  }

  /// The names of the snapshots in the folder, in the order of their names.
  private func marks() -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasSuffix(".mgraph") { names.append(String(name.dropLast(7))) }
    }
    return names.sorted()
  }
}
