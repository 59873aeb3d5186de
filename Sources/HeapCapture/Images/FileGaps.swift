// FileGaps: what a snapshot says of modules whose files could not be read.

internal import Glibc
package import SnapshotFormat

/// How the sentences of `fileGap` go on, by which they are known: where the program's memory says where the metadata
/// of Swift lies, and where it doesn't.
private let _namesAreMissing = "so its functions have no names"
private let _typesAreMissing = "so what its types refer to is read as words"

extension LoadedImage {
  /// What is missing, why, and what to do about it; nil where the file was read.
  var fileGap: String? {
    guard let problem else { return nil }
    let path = module.path
    let consequence = sections.isEmpty ? _typesAreMissing : _namesAreMissing
    switch problem {
    case .otherVersion:
      return
        "\(path) is not here in the version that was loaded, \(consequence); keep the file as long as the"
        + " program runs"
    case .cannotOpen(let error) where error == EACCES || error == EPERM:
      return
        "\(path) can't be read (\(String(cString: strerror(error)))), \(consequence); make it readable"
        + " (chmod a+r), or run memgraph as its owner or root"
    case .cannotOpen(let error):
      return
        "\(path) can't be read (\(String(cString: strerror(error)))), \(consequence); keep the file where it was"
        + " when the program was started, or run memgraph where the program sees it"
    }
  }
}

/// The modules of a snapshot whose files could not be read: a sentence each, with what to do about it.
package func fileGaps(in snapshot: Snapshot) -> [String] {
  snapshot.diagnostics.map(\.text).filter { text in
    [_namesAreMissing, _typesAreMissing].contains { text.contains($0) }
  }
}
