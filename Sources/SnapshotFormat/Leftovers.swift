// Leftovers: files that must not stay behind where the process is ended in the middle of its work.

internal import Glibc

/// The files and folders that are being written under a name that is not their last one.
///
/// Who makes one says so here, and says when it is gone or has its name; who ends the process before its time
/// removes them.
package enum Leftovers {
  nonisolated(unsafe) private static let _lock: UnsafeMutablePointer<pthread_mutex_t> = {
    let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    pthread_mutex_init(lock, nil)
    return lock
  }()
  nonisolated(unsafe) private static var _paths: Set<String> = []

  /// Notes a file or folder.
  package static func add(_ path: String) {
    pthread_mutex_lock(_lock)
    _paths.insert(path)
    pthread_mutex_unlock(_lock)
  }

  /// Forgets one that has been removed or has its name now.
  package static func forget(_ path: String) {
    pthread_mutex_lock(_lock)
    _paths.remove(path)
    pthread_mutex_unlock(_lock)
  }

  /// Removes all of them, folders with what is in them, for a process that is to end: whoever wants to note
  /// another one from here on waits for that end.
  package static func removeAll() {
    pthread_mutex_lock(_lock)
    for path in _paths { _remove(path) }
  }

  private static func _remove(_ path: String) {
    guard unlink(path) != 0, let folder = opendir(path) else { return }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { _remove(path + "/" + name) }
    }
    closedir(folder)
    rmdir(path)
  }
}
