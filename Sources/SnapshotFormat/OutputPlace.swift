// OutputPlace: where a file that is asked for by a path is to be written.

internal import Glibc

/// The place that a path for output leads to.
package struct OutputPlace {
  /// The path with links at its end followed, so that renaming a file to it replaces no link.
  package let path: String

  /// Whether it is to be opened and written as it is: a device, a pipe, or a link to a descriptor, as
  /// `/dev/stdout` is even where it leads to an ordinary file.
  package let isStream: Bool

  package init(_ path: String) {
    var facts = stat()
    guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFLNK else {
      self.path = path
      isStream = stat(path, &facts) == 0 && facts.st_mode & S_IFMT != S_IFREG
      return
    }
    let isOfSystem = ["/dev/", "/proc/"].contains { path.hasPrefix($0) }
    guard !isOfSystem, let resolved = realpath(path, nil) else {
      self.path = path
      isStream = isOfSystem
      return
    }
    defer { free(resolved) }
    self.path = String(cString: resolved)
    isStream = stat(path, &facts) == 0 && facts.st_mode & S_IFMT != S_IFREG
  }
}
