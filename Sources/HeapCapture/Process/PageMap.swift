// PageMap: which pages of a process were touched, so that untouched ones need no copy.

internal import Glibc

/// The kernel's table of a process's pages.
final class PageMap {
  private let _file: Int32
  private static let _pageSize: UInt64 = 4096

  /// Opens the table; nil where it can't be read.
  init?(pid: Int32) {
    _file = open("/proc/\(pid)/pagemap", O_RDONLY | O_CLOEXEC)
    if _file < 0 { return nil }
  }

  deinit { close(_file) }

  /// Whether a range has pages of the process's own: in memory or swapped out, and not just a file's.
  ///
  /// A page that was never written holds zeros, or what its file holds.
  func hasOwnPages(_ range: Range<UInt64>) -> Bool {
    let first = range.lowerBound / Self._pageSize
    let count = Int((range.upperBound + Self._pageSize - 1) / Self._pageSize - first)
    var entries = [UInt64](repeating: 0, count: count)
    let read = entries.withUnsafeMutableBytes {
      pread(_file, $0.baseAddress, $0.count, off_t(first * 8))
    }
    // What is unknown is copied.
    if read < count * 8 { return true }
    // Bit 63: present; 62: swapped; 61: a file's page or shared.
    return entries.contains { $0 >> 62 != 0 && $0 & (1 << 61) == 0 }
  }
}
