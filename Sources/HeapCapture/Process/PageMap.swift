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

  /// The pages of a range that are in memory and the process's own, as bits from the range's start on.
  func ownPages(_ range: Range<UInt64>) -> [UInt64] {
    let first = range.lowerBound / Self._pageSize
    let count = Int((range.upperBound + Self._pageSize - 1) / Self._pageSize - first)
    var bits = [UInt64](repeating: 0, count: (count + 63) / 64)
    var entries = [UInt64](repeating: 0, count: min(count, 1 << 16))
    var done = 0
    while done < count {
      let wanted = min(entries.count, count - done)
      let read = entries.withUnsafeMutableBytes {
        pread(_file, $0.baseAddress, wanted * 8, off_t((first + UInt64(done)) * 8))
      }
      if read < 8 { break }
      for place in 0..<read / 8 where entries[place] >> 63 != 0 && entries[place] & (1 << 61) == 0 {
        bits[(done + place) / 64] |= 1 << UInt64((done + place) % 64)
      }
      done += read / 8
    }
    return bits
  }
}
