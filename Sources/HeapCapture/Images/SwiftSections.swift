// SwiftSections: where the metadata of Swift lies in a module whose file can't be read.

internal import SnapshotFormat

/// The sections of a module that hold metadata of Swift, by what the module has told the runtime of them.
///
/// Section headers are not in memory. But each module of Swift's has a record of where these sections lie, which its
/// constructor hands to the runtime (`MetadataSections` in the runtime's sources, versions 4 and 5): the version,
/// where the module begins, two words of 0, then the start and the size of each section.
///
/// - Returns: the sections with the addresses that they have in the program; empty where there is no such record.
/// - Complexity: O(*n*) for *n* bytes of the module's data.
func swiftSections(of image: LoadedImage, in memory: TargetMemory) -> [String: Range<UInt64>] {
  for range in image.dataRanges {
    for record in stride(from: (range.lowerBound + 7) & ~7, to: range.upperBound, by: 8) {
      guard memory.word(at: record + 8) == image.module.start,
        let version = memory.word(at: record),
        version == 4 || version == 5, memory.word(at: record + 16) == 0,
        memory.word(at: record + 24) == 0
      else { continue }
      var sections: [String: Range<UInt64>] = [:]
      for (index, name) in _names.enumerated() {
        let place = record + 32 + UInt64(index) * 16
        guard let start = memory.word(at: place), let size = memory.word(at: place + 8) else {
          return [:]
        }
        if size == 0 { continue }
        // What lies elsewhere makes it some other record; a core file may not have it.
        guard start >= image.module.start, start < image.module.end,
          size <= image.module.end - start, memory.bytes(at: start, count: Int(size)) != nil
        else { return [:] }
        sections[name] = start..<(start + size)
      }
      return sections
    }
  }
  return [:]
}

/// The sections in the order of the record.
private let _names = [
  "swift5_protocols", "swift5_protocol_conformances", "swift5_type_metadata", "swift5_typeref",
  "swift5_reflstr", "swift5_fieldmd", "swift5_assocty", "swift5_replace", "swift5_replac2",
  "swift5_builtin", "swift5_capture", "swift5_mpenum",
]
