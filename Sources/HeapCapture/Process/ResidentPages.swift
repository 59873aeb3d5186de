// ResidentPages: which pages of a process are in the machine's memory.

internal import Glibc

/// The pages of a process that are in memory, as they were when this was made.
///
/// A frozen twin has the pages that its program had of its own, but none of the files that are mapped; those are
/// counted in the program itself, which runs on.
package struct ResidentPages: Sendable {
  /// A range of addresses and its pages in memory that are the process's own: anonymous ones, and copies
  /// of a file's that were written to.
  struct Mapping: Sendable {
    var range: Range<UInt64>

    /// Bytes in memory that are the process's own.
    var ownBytes: UInt64

    /// One bit a page; empty where the mapping is too large to look at page by page.
    var bits: [UInt64]
  }

  /// The mappings that have pages of the process's own, in ascending order of address.
  let mappings: [Mapping]

  /// Bytes in memory of files that are mapped, and of memory shared with other processes.
  let fileBytes: UInt64

  static let pageSize: UInt64 = 4096

  /// Mappings with more pages are not looked at one by one: 64 GiB.
  private static let _mostPages: UInt64 = 1 << 24

  /// Looks at a process that stands still.
  ///
  /// - Parameter isTwin: Whether it is a copy made by the program that is its parent.
  /// - Returns: nil where the kernel does not tell.
  init?(pid: Int32, isTwin: Bool) {
    guard let text = readWholeFile("/proc/\(pid)/smaps"), let pages = PageMap(pid: pid) else {
      return nil
    }
    var mappings: [Mapping] = []
    for (range, ownBytes) in Self.ownBytes(inSmaps: text) where ownBytes > 0 {
      let bits =
        (range.upperBound - range.lowerBound) / Self.pageSize <= Self._mostPages
        ? pages.ownPages(range) : []
      mappings.append(Mapping(range: range, ownBytes: ownBytes, bits: bits))
    }
    self.mappings = mappings
    let program = isTwin ? Self._parent(of: pid) : pid
    guard let program, let sums = readWholeFile("/proc/\(program)/smaps_rollup") else { return nil }
    let resident = Self.kilobytes("Rss", in: sums)
    let own = Self.kilobytes("Anonymous", in: sums)
    fileBytes = (resident - min(own, resident)) << 10
  }

  /// The mappings in the text of a `smaps` file with their anonymous bytes.
  static func ownBytes(inSmaps text: String) -> [(range: Range<UInt64>, ownBytes: UInt64)] {
    var found: [(range: Range<UInt64>, ownBytes: UInt64)] = []
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      if line.starts(with: "Anonymous:".utf8), !found.isEmpty {
        found[found.count - 1].ownBytes = Self._number(line) << 10
      } else if let mapping = line.first.flatMap({ first -> MemoryMapping? in
        // Names of figures begin with capitals, addresses do not.
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first)
          ? nil : parseMappings(String(decoding: line, as: UTF8.self)).first
      }) {
        found.append((mapping.start..<mapping.end, 0))
      }
    }
    return found
  }

  /// A figure of a `smaps_rollup` file.
  static func kilobytes(_ name: String, in text: String) -> UInt64 {
    for line in text.utf8.split(separator: UInt8(ascii: "\n"))
    where line.starts(with: (name + ":").utf8) {
      return _number(line)
    }
    return 0
  }

  /// The first run of digits in a line.
  private static func _number(_ line: Substring.UTF8View) -> UInt64 {
    var number: UInt64 = 0
    var isIn = false
    for byte in line {
      if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
        isIn = true
        number = number &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
      } else if isIn {
        break
      }
    }
    return number
  }

  init(mappings: [Mapping], fileBytes: UInt64) {
    self.mappings = mappings
    self.fileBytes = fileBytes
  }

  private static func _parent(of pid: Int32) -> Int32? {
    for line in (readWholeFile("/proc/\(pid)/status") ?? "").split(separator: "\n")
    where line.hasPrefix("PPid:") {
      return line.split(separator: "\t").last.flatMap { Int32($0) }
    }
    return nil
  }
}

extension ResidentPages.Mapping {
  /// How many bytes of a range are in memory.
  ///
  /// - Complexity: O(pages of the range).
  func ownBytes(in part: Range<UInt64>) -> UInt64 {
    let part = part.clamped(to: range)
    if part.isEmpty || bits.isEmpty { return 0 }
    let size = ResidentPages.pageSize
    var page = (part.lowerBound - range.lowerBound) / size
    var start = part.lowerBound
    var bytes: UInt64 = 0
    while start < part.upperBound {
      let end = min(part.upperBound, range.lowerBound + (page + 1) * size)
      if bits[Int(page / 64)] >> (page % 64) & 1 != 0 { bytes += end - start }
      start = end
      page += 1
    }
    return bytes
  }
}
