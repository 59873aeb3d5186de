// Artifacts: the files of failures, where CI collects them.

internal import Glibc

/// Writes files of failures to the folder that `MEMORY_GRAPH_OUT` names.
enum Artifacts {
  /// Writes files, and gives each the name under which it lies there.
  ///
  /// - Returns: lines that say where they are, or why they are not; empty without a folder.
  static func keep(_ artifacts: inout [CheckFailure.Artifact]) -> String {
    guard let folder = getenv("MEMORY_GRAPH_OUT").map({ String(cString: $0) }), !folder.isEmpty
    else { return "" }
    mkdir(folder, 0o777)
    var lines = "\n"
    // The files of one failure have the same number.
    for number in 1... {
      let names = artifacts.map { _name($0.name, number: number) }
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
        return
          "\nNo files were kept: \(folder)/\(names[failed]): \(String(cString: strerror(error)))"
      }
      for place in artifacts.indices {
        artifacts[place].name = names[place]
        let isWritten = _write(artifacts[place].bytes, to: files[place])
        close(files[place])
        lines +=
          "\n\(isWritten ? "kept in" : "cut off for lack of space:") \(folder)/\(names[place])"
      }
      break
    }
    return lines
  }

  private static func _write(_ bytes: [UInt8], to file: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return false }
    }
    return true
  }

  /// `CallTests.ending-2.html` for the second of that name.
  private static func _name(_ name: String, number: Int) -> String {
    guard number > 1, let dot = name.lastIndex(of: ".") else { return name }
    return "\(name[..<dot])-\(number)\(name[dot...])"
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
