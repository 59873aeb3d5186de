// RawFile: a second implementation of the file's frame, written after the document, to make files with.

/// A file's version and sections, without any of the checks that `SnapshotFormat` makes.
struct RawFile {
  struct Section {
    var name: String
    var width: UInt16
    var flags: UInt16
    var bytes: [UInt8]

    /// Overrides for files that are wrong on purpose.
    var offset: UInt64?
    var length: UInt64?
  }

  var major: UInt16 = 1
  var minor: UInt16 = 0
  var sections: [Section] = []
  var fileSize: UInt64?
  var sectionCount: UInt32?

  /// Takes a valid file apart.
  init(parsing file: [UInt8]) {
    major = Self.number(file, 8)
    minor = Self.number(file, 10)
    let count: UInt32 = Self.number(file, 24)
    for index in 0..<Int(count) {
      let entry = 64 + index * 48
      let offset: UInt64 = Self.number(file, entry + 24)
      let length: UInt64 = Self.number(file, entry + 32)
      sections.append(
        Section(
          name: String(decoding: file[entry..<entry + 20].prefix { $0 != 0 }, as: UTF8.self),
          width: Self.number(file, entry + 20), flags: Self.number(file, entry + 22),
          bytes: Array(file[Int(offset)..<Int(offset + length)])))
    }
  }

  /// The position of a section.
  func index(of name: String) -> Int? { sections.firstIndex { $0.name == name } }

  /// The file, with checksums that match.
  func bytes() -> [UInt8] {
    var table: [UInt8] = []
    var body: [UInt8] = []
    let start = Self.aligned(64 + sections.count * 48)
    for section in sections {
      table += Self.field(section.name, 20)
      table += Self.little(section.width) + Self.little(section.flags)
      table += Self.little(section.offset ?? UInt64(start + body.count))
      table += Self.little(section.length ?? UInt64(section.bytes.count))
      table += Self.little(Self.crc32(section.bytes)) + Self.little(UInt32(0))
      body += section.bytes
      body += [UInt8](repeating: 0, count: Self.aligned(body.count) - body.count)
    }
    let before =
      [0x89, 0x4D, 0x47, 0x52, 0x41, 0x50, 0x48, 0x0A] + Self.little(major) + Self.little(minor)
    let after =
      Self.little(fileSize ?? UInt64(start + body.count))
      + Self.little(sectionCount ?? UInt32(sections.count)) + [UInt8](repeating: 0, count: 36)
      + table
    let padding = [UInt8](repeating: 0, count: start - 64 - table.count)
    return before + Self.little(Self.crc32(before + after)) + after + padding + body
  }

  static func aligned(_ size: Int) -> Int { (size + 63) & ~63 }

  static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> Number($0 * 8)) }
  }

  static func number<Number: FixedWidthInteger>(_ file: [UInt8], _ offset: Int) -> Number {
    (0..<Number.bitWidth / 8).reduce(0) { $0 | Number(file[offset + $1]) << Number($1 * 8) }
  }

  static func field(_ text: String, _ length: Int) -> [UInt8] {
    Array(text.utf8.prefix(length)) + [UInt8](repeating: 0, count: max(0, length - text.utf8.count))
  }

  /// The checksum, one bit at a time.
  static func crc32(_ bytes: [UInt8]) -> UInt32 {
    var crc = UInt32.max
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    return ~crc
  }
}
