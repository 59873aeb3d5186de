// FolderWalk: the files in a folder and in the folders below it.

internal import Glibc

/// Finds files in folders.
package enum FolderWalk {
  /// The paths of the ordinary files below a folder whose names pass, each beginning with the folder as it was given,
  /// in no order.
  ///
  /// Hidden files and folders, such as `.build`, are left out, and links to folders aren't followed.
  ///
  /// - Throws: ``CommandError`` for a folder that can't be read.
  package static func files(
    in folder: String, where isWanted: (String) -> Bool
  ) throws(CommandError) -> [String] {
    var found: [String] = []
    var pending = [folder]
    while let folder = pending.popLast() {
      guard let stream = opendir(folder) else {
        throw CommandError(folder, String(cString: strerror(errno)), status: .unreadable)
      }
      defer { closedir(stream) }
      while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        guard !name.hasPrefix(".") else { continue }
        let path = folder == "." ? name : folder + (folder.hasSuffix("/") ? "" : "/") + name
        var status = stat()
        guard lstat(path, &status) == 0 else { continue }
        if status.st_mode & S_IFMT == S_IFDIR {
          pending.append(path)
        } else if isWanted(name), stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
          found.append(path)
        }
      }
    }
    return found
  }
}
