// SourceRoot: the folder that other tools take paths of sources to be relative to.

/// The folder of the sources, as the compiler saw it.
package struct SourceRoot: Hashable, Sendable {
  private let _folder: String

  /// - Parameter folder: An absolute path, with or without a slash at its end.
  package init(_ folder: String) {
    var folder = folder
    while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
    _folder = folder
  }

  /// The path of a file below the folder; nil for a file elsewhere.
  package func relative(_ file: String) -> String? {
    guard file.hasPrefix("/") else { return file }
    let prefix = _folder == "/" ? _folder : _folder + "/"
    guard file.hasPrefix(prefix), file.count > prefix.count else { return nil }
    return String(file.dropFirst(prefix.count))
  }

  /// The path below the folder where the file is there, else the whole path.
  package func shown(_ file: String) -> String { relative(file) ?? file }
}
