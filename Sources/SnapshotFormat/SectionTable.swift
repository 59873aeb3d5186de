// SectionTable: a file's header and section table, checked.

/// The sections of a file by name, each known to lie within the file.
internal struct SectionTable {
  /// A section as the table has it.
  struct Entry {
    let name: String
    let width: Int
    let isRequired: Bool
    let offset: UInt64
    let length: UInt64
    let checksum: UInt32
  }

  let version: SnapshotVersion

  /// In ascending order of offset.
  let entries: [Entry]

  /// Reads the header and the table.
  ///
  /// - Throws: what is wrong, with `path` in it.
  /// - Complexity: O(*s*) for *s* sections.
  init(
    _ bytes: UnsafeRawBufferPointer, path: String, verifyingChecksum: Bool
  ) throws(SnapshotError) {
    let magic = SnapshotLayout.magic
    guard bytes.count >= magic.count, bytes.prefix(magic.count).elementsEqual(magic) else {
      throw .notASnapshot(path: path, found: Self._opening(of: bytes))
    }
    let fileSize = UInt64(bytes.count)
    guard bytes.count >= SnapshotLayout.headerSize else {
      throw .truncated(
        path: path, section: "header", offset: 0, expected: UInt64(SnapshotLayout.headerSize),
        found: fileSize)
    }
    let major = Int(
      bytes.loadUnaligned(fromByteOffset: SnapshotLayout.Header.major, as: UInt16.self))
    let minor = Int(
      bytes.loadUnaligned(fromByteOffset: SnapshotLayout.Header.minor, as: UInt16.self))
    version = SnapshotVersion(major: major, minor: minor)
    guard major <= SnapshotVersion.current.major else {
      throw .newerVersion(path: path, major: major, minor: minor)
    }
    guard major >= 1 else {
      throw .malformed(
        path: path, section: "header", offset: UInt64(SnapshotLayout.Header.major),
        reason: "there is no format \(version)")
    }
    let count = Int(
      bytes.loadUnaligned(fromByteOffset: SnapshotLayout.Header.sectionCount, as: UInt32.self))
    guard count <= SnapshotLayout.maximumSectionCount else {
      throw .malformed(
        path: path, section: "header", offset: UInt64(SnapshotLayout.Header.sectionCount),
        reason:
          "\(count) sections, more than the \(SnapshotLayout.maximumSectionCount) there may be")
    }
    let end = SnapshotLayout.headerSize + count * SnapshotLayout.Entry.size
    guard bytes.count >= end else {
      throw .truncated(
        path: path, section: "section table", offset: UInt64(SnapshotLayout.headerSize),
        expected: UInt64(end - SnapshotLayout.headerSize),
        found: fileSize - UInt64(SnapshotLayout.headerSize))
    }
    if verifyingChecksum {
      var checksum = Checksum()
      checksum.update(.init(rebasing: bytes[..<SnapshotLayout.Header.checksum]))
      checksum.update(.init(rebasing: bytes[SnapshotLayout.Header.fileSize..<end]))
      let written = bytes.loadUnaligned(
        fromByteOffset: SnapshotLayout.Header.checksum, as: UInt32.self)
      guard checksum.value == written else {
        throw .checksum(path: path, section: "header and section table", offset: 0)
      }
    }

    var entries: [Entry] = []
    entries.reserveCapacity(count)
    var names: Set<String> = []
    var free = UInt64(end)
    for index in 0..<count {
      let place = SnapshotLayout.headerSize + index * SnapshotLayout.Entry.size
      let entry = try Self._entry(bytes, at: place, path: path)
      func refuse(_ field: Int, _ reason: String) throws(SnapshotError) -> Never {
        throw .malformed(
          path: path, section: "section table", offset: UInt64(place + field),
          reason: "section \(entry.name) \(reason)")
      }
      guard names.insert(entry.name).inserted else { try refuse(0, "is there twice") }
      guard entry.width > 0, entry.length % UInt64(entry.width) == 0 else {
        try refuse(
          SnapshotLayout.Entry.length,
          "has \(entry.length) bytes, which is no number of rows of \(entry.width) bytes")
      }
      guard entry.offset % UInt64(SnapshotLayout.alignment) == 0, entry.offset >= free else {
        try refuse(
          SnapshotLayout.Entry.offset,
          "starts at 0x\(String(entry.offset, radix: 16)), which is not a free multiple of "
            + "\(SnapshotLayout.alignment)")
      }
      let (sectionEnd, overflow) = entry.offset.addingReportingOverflow(entry.length)
      guard !overflow, sectionEnd <= UInt64(Int64.max) else {
        try refuse(
          SnapshotLayout.Entry.length, "has \(entry.length) bytes, more than a file can have")
      }
      guard sectionEnd <= fileSize else {
        throw .truncated(
          path: path, section: entry.name, offset: entry.offset, expected: entry.length,
          found: fileSize - min(entry.offset, fileSize))
      }
      free = sectionEnd
      entries.append(entry)
    }
    self.entries = entries

    let expected = bytes.loadUnaligned(
      fromByteOffset: SnapshotLayout.Header.fileSize, as: UInt64.self)
    if fileSize < expected {
      throw .truncated(
        path: path, section: "the file", offset: 0, expected: expected, found: fileSize)
    }
    if fileSize > expected {
      throw .malformed(
        path: path, section: "the file", offset: expected,
        reason: "\(fileSize - expected) bytes follow the end of the snapshot")
    }
  }

  private static func _entry(
    _ bytes: UnsafeRawBufferPointer, at place: Int, path: String
  ) throws(SnapshotError) -> Entry {
    let field = bytes[place..<place + SnapshotLayout.Entry.nameLength]
    let name = field.prefix { $0 != 0 }
    guard !name.isEmpty, name.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
      field.dropFirst(name.count).allSatisfy({ $0 == 0 })
    else {
      throw .malformed(
        path: path, section: "section table", offset: UInt64(place), reason: "a section has no name"
      )
    }
    let flags = bytes.loadUnaligned(
      fromByteOffset: place + SnapshotLayout.Entry.flags, as: UInt16.self)
    return Entry(
      name: String(decoding: name, as: UTF8.self),
      width: Int(
        bytes.loadUnaligned(fromByteOffset: place + SnapshotLayout.Entry.width, as: UInt16.self)),
      isRequired: flags & SnapshotLayout.requiredFlag != 0,
      offset: bytes.loadUnaligned(
        fromByteOffset: place + SnapshotLayout.Entry.offset, as: UInt64.self),
      length: bytes.loadUnaligned(
        fromByteOffset: place + SnapshotLayout.Entry.length, as: UInt64.self),
      checksum: bytes.loadUnaligned(
        fromByteOffset: place + SnapshotLayout.Entry.checksum, as: UInt32.self))
  }

  /// What a file that is no snapshot starts with, as far as it can be shown.
  private static func _opening(of bytes: UnsafeRawBufferPointer) -> String {
    if bytes.isEmpty { return "the file is empty" }
    let shown = bytes.prefix { $0 >= 0x20 && $0 < 0x7F }.prefix(8)
    if shown.count >= min(4, bytes.count) {
      return "the file starts with \(String(decoding: shown, as: UTF8.self).debugDescription)"
    }
    let digits = bytes.prefix(8).map { byte in
      let text = String(byte, radix: 16, uppercase: true)
      return text.count == 1 ? "0" + text : text
    }
    return "the file starts with the bytes \(digits.joined(separator: " "))"
  }

  /// Verifies every section's checksum and that what lies between them is zero.
  ///
  /// - Complexity: O(*b*) for *b* bytes.
  func verifyChecksums(_ bytes: UnsafeRawBufferPointer, path: String) throws(SnapshotError) {
    var free = SnapshotLayout.headerSize + entries.count * SnapshotLayout.Entry.size
    for entry in entries {
      try _verifyPadding(bytes, free..<Int(entry.offset), path: path)
      let section = bytes[Int(entry.offset)..<Int(entry.offset) + Int(entry.length)]
      guard Checksum.of(UnsafeRawBufferPointer(rebasing: section)) == entry.checksum else {
        throw .checksum(path: path, section: entry.name, offset: entry.offset)
      }
      free = section.endIndex
    }
    try _verifyPadding(bytes, free..<bytes.count, path: path)
  }

  private func _verifyPadding(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, path: String
  ) throws(SnapshotError) {
    if let place = range.first(where: { bytes[$0] != 0 }) {
      throw .malformed(
        path: path, section: "padding", offset: UInt64(place), reason: "a byte is not zero")
    }
  }
}
