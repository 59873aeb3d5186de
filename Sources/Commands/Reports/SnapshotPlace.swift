// SnapshotPlace: where the snapshot is that an operand names: a file, or a mark in a folder.

internal import Glibc
internal import SnapshotFormat

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
    // A mark's name may look like a path.
    if let path = file(ofMark: operand) { return path }
    guard reason == ENOENT || reason == ENOTDIR, !operand.hasSuffix(".mgraph") else {
      throw CommandError(
        operand, String(cString: strerror(reason)),
        mend: "give a snapshot's file, or the name of a mark in \(folder)", status: .unreadable)
    }
    let marks = self.files()
    let known =
      marks.isEmpty
      ? "there are no snapshots in \(folder); --in DIR names another folder"
      : "the marks in \(folder) are \(marks.prefix(12).joined(separator: ", "))"
        + (marks.count > 12 ? ", and \(marks.count - 12) more" : "")
    throw CommandError(operand, "neither a file nor a mark", mend: known, status: .unreadable)
  }

  /// The file of a mark's snapshot; nil where there is none.
  ///
  /// Names with other characters than files have share files with others (`m 1/x` and `m:1:x` are both
  /// `m-1-x`, and the second one `m-1-x-2`), so the snapshot has to say that it is the one.
  ///
  /// - Complexity: O(1); for a name with such characters, O(*n*) for the bytes of those snapshots.
  private func file(ofMark name: String) -> String? {
    let stem = Self.fileStem(ofMark: name)
    func path(_ number: Int) -> String {
      folder + "/" + stem + (number == 1 ? "" : "-\(number)") + ".mgraph"
    }
    var status = stat()
    if stem == name { return stat(path(1), &status) == 0 ? path(1) : nil }
    for number in 1... {
      guard stat(path(number), &status) == 0 else { return nil }
      if let snapshot = try? Snapshot(contentsOf: path(number)), snapshot.process.mark == name {
        return path(number)
      }
    }
    return nil
  }

  /// The name of a mark's file without its ending, as the agent makes it: characters outside
  /// `[A-Za-z0-9._-]` become `-`, a `.` in front too; 200 bytes at most.
  package static func fileStem(ofMark name: String) -> String {
    let safe = name.utf8.prefix(200).enumerated().map { (place, byte) -> UInt8 in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
        byte
      case UInt8(ascii: ".") where place > 0: byte
      default: UInt8(ascii: "-")
      }
    }
    return safe.isEmpty ? "-" : String(decoding: safe, as: UTF8.self)
  }

  /// The names of the snapshots in the folder, in the order of their names.
  private func files() -> [String] {
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
