// Artifacts: the files of failures, where CI collects them.

internal import Glibc

/// Writes files of failures to the folder that `MEMORY_GRAPH_OUT` names, and to that of the recording under `memgraph run`.
enum Artifacts {
  private static var folder: String? {
    for name in ["MEMORY_GRAPH_OUT", "MEMORY_GRAPH_FAILURES"] {
      if let folder = getenv(name).map({ String(cString: $0) }), !folder.isEmpty { return folder }
    }
    return nil
  }

  /// Makes the files of a failure and writes them.
  ///
  /// - Parameters:
  ///   - name: How they are called, without endings. A name that is taken in the folder gets a number.
  ///   - make: Makes them, given the name that they get.
  /// - Returns: the files, and lines that say where they are, or why they are not; no lines without a folder.
  static func keep(
    as name: String, endings: [String], _ make: (String) -> [CheckFailure.Artifact]
  ) -> (artifacts: [CheckFailure.Artifact], lines: String) {
    guard let folder else { return (make(name), "") }
    mkdir(folder, 0o777)
    var lines = "\n"
    // The files of one failure have the same number.
    for number in 1... {
      let stem = number == 1 ? name : "\(name)-\(number)"
      let names = endings.map { stem + $0 }
      let files = names.map {
        open(folder + "/" + $0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      }
      if let failed = files.firstIndex(where: { $0 < 0 }) {
        let error = errno
        for (file, name) in zip(files, names) where file >= 0 {
          close(file)
          unlink(folder + "/" + name)
        }
        if error == EEXIST, number < 1_000_000 { continue }
        let why = String(cString: strerror(error))
        return (make(name), "\nNo files were kept: \(folder)/\(names[failed]): \(why)")
      }
      let artifacts = make(stem)
      for (name, file) in zip(names, files) {
        if let artifact = artifacts.first(where: { $0.name == name }) {
          let isWritten = _write(artifact.bytes, to: file)
          lines += "\n\(isWritten ? "kept in" : "cut off for lack of space:") \(folder)/\(name)"
        } else {
          unlink(folder + "/" + name)
        }
        close(file)
      }
      return (artifacts, lines)
    }
    return ([], "")
  }

  private static func _write(_ bytes: [UInt8], to file: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return false }
    }
    return true
  }

  /// A text as a file's name.
  static func fileName(of text: String) -> String {
    let kept = text.unicodeScalars.map { scalar -> Character in
      let isPlain =
        scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
      return isPlain || scalar == "." || scalar == "_" || scalar == "-" ? Character(scalar) : "-"
    }
    var name = String(kept.prefix(120))
    while name.last == "-" { name.removeLast() }
    return name.isEmpty || name.first == "." ? "check" + name : name
  }
}
