// LoadedImage: an executable or library of the captured program: where it lies, its sections, its
// writable data, its symbols.

internal import Glibc
package import SnapshotFormat

/// An executable or library that the captured program has loaded.
package struct LoadedImage {
  /// Path, build id and place, as the snapshot keeps them.
  package var module: Snapshot.Module

  /// The file's sections, with the addresses they have in the captured program.
  package var sections: [String: Range<UInt64>]

  /// The writable data, `.data` and `.bss`, that may hold references into the heap, in ascending
  /// order. What the loader made read-only after relocation is left out: nothing was stored there
  /// later.
  package var dataRanges: [Range<UInt64>]

  /// The bytes of the module's thread-local template, 0 where it has none, and their alignment.
  package var tlsTemplateSize: UInt64
  package var tlsAlignment: UInt64

  /// Why the file was not read; nil where it was. Without it only what the program's memory has of it is known, which
  /// is its place, its data and the sections of Swift's metadata, but no symbols.
  package var problem: FileProblem?

  /// Whether the file was read.
  package var isWhole: Bool { problem == nil }

  /// Where the program begins to run in this module; nil where it is no executable.
  var entry: UInt64? { _file.entry == 0 ? nil : module.bias &+ _file.entry }

  private let _file: ELFFile

  init(file: ELFFile, bias: UInt64, pageSize: UInt64 = 4096) {
    let loaded = file.segments.filter { $0.type == ELFFile.Segment.load && $0.memorySize > 0 }
    let start = loaded.map(\.address).min() ?? 0
    let end = loaded.map { $0.address &+ $0.memorySize }.max() ?? 0
    module = Snapshot.Module(
      path: file.path, buildID: file.buildID, bias: bias, start: bias &+ start & ~(pageSize - 1),
      end: bias &+ (end &+ pageSize - 1) & ~(pageSize - 1))
    sections = [:]
    for section in file.sections where section.address != 0 && section.size != 0 {
      let begin = bias &+ section.address
      sections[section.name] = begin..<(begin &+ section.size)
    }
    // The loader protects whole pages only: the part of the last page stays writable.
    let protected = file.segments.filter { $0.type == ELFFile.Segment.readOnlyAfterRelocation }
    dataRanges = []
    for segment in loaded where segment.isWritable {
      var begin = bias &+ segment.address
      let finish = begin &+ segment.memorySize
      for part in protected where bias &+ part.address == begin {
        begin = max(begin, (begin &+ part.memorySize) & ~(pageSize - 1))
      }
      if begin < finish { dataRanges.append(begin..<finish) }
    }
    dataRanges.sort { $0.lowerBound < $1.lowerBound }
    let template = file.segments.first { $0.type == ELFFile.Segment.threadLocal }
    tlsTemplateSize = template?.memorySize ?? 0
    tlsAlignment = template?.alignment ?? 0
    _file = file
  }

  /// Leaves of the data what is mapped: what a damaged file says of its size may be most of the address
  /// space, and all of it would be searched.
  mutating func clipData(to memory: TargetMemory) {
    dataRanges = dataRanges.flatMap { memory.mappedParts(of: $0) }
  }

  /// Where a symbol that this module defines lies in the captured program; nil where it defines none
  /// of that name.
  ///
  /// - Complexity: O(*n*) for *n* symbols of the module.
  package func address(ofSymbol name: String) -> UInt64? {
    _file.address(ofSymbol: name).map { $0 &+ module.bias }
  }

  /// The name of a local symbol at an address of the captured program, of those that begin with a
  /// text; nil for none and where the module has lost its symbols.
  ///
  /// - Complexity: O(*n*) for *n* symbols of the module.
  package func symbol(at address: UInt64, prefix: String) -> String? {
    _file.symbol(at: address &- module.bias, prefix: prefix)
  }

  /// Where a function of this module lies in the captured program; nil where it is not known.
  package func range(ofFunction name: String) -> Range<UInt64>? {
    _file.range(ofFunction: name).map {
      ($0.lowerBound &+ module.bias)..<($0.upperBound &+ module.bias)
    }
  }

  /// Where the functions of this module lie in the captured program that begin at some addresses of it.
  ///
  /// - Complexity: O(*n*) for *n* symbols of the module.
  package func ranges(ofFunctionsAt starts: Set<UInt64>) -> [Range<UInt64>] {
    _file.ranges(ofFunctionsAt: Set(starts.map { $0 &- module.bias })).map {
      ($0.lowerBound &+ module.bias)..<($0.upperBound &+ module.bias)
    }
  }

  /// The symbols that this module defines whose names begin with a text, by name, with their addresses
  /// in the captured program; empty where the module has lost its symbols.
  ///
  /// - Complexity: O(*n*) for *n* symbols of the module.
  package func symbols(prefix: String) -> [String: UInt64] {
    _file.symbols(prefix: prefix).mapValues { $0 &+ module.bias }
  }

  /// Where a symbol that this module exports lies in the captured program; nil where it exports none
  /// of that name.
  package func address(ofExportedSymbol name: String) -> UInt64? {
    _file.address(ofExportedSymbol: name).map { $0 &+ module.bias }
  }
}

/// Why the file of a module was not read.
package enum FileProblem: Hashable, Sendable {
  /// It can't be opened.
  case cannotOpen(errno: Int32)

  /// What lies there now has another build id, or is no such file.
  case otherVersion
}

extension [LoadedImage] {
  /// Where a symbol lies in the captured program: the first module's that exports it, else the first
  /// module's that defines it.
  ///
  /// - Complexity: O(*n*) for *n* symbols of all modules.
  package func address(ofSymbol name: String) -> UInt64? {
    for image in self {
      if let address = image.address(ofExportedSymbol: name) { return address }
    }
    for image in self {
      if let address = image.address(ofSymbol: name) { return address }
    }
    return nil
  }

  /// The module that an address lies in; nil for none.
  package func image(containing address: UInt64) -> LoadedImage? {
    first { $0.module.start <= address && address < $0.module.end }
  }
}

/// The modules of the captured program, the executable and its libraries, in the order of their
/// addresses.
///
/// A module is a file of which the mapping that holds its first byte starts with an ELF header and of
/// which some mapping may be executed. A file that was only mapped to be read is none.
package func loadImages(of memory: TargetMemory) -> [LoadedImage] {
  let mappings = memory.source.mappings
  var images: [LoadedImage] = []
  var index = 0
  while index < mappings.count {
    let first = mappings[index]
    index += 1
    guard first.fileOffset == 0, first.path.hasPrefix("/"), !first.path.hasPrefix("/dev/"),
      memory.load(UInt32.self, at: first.start) == 0x464c_457f
    else { continue }
    var isExecutable = first.isExecutable
    var next = index
    // A gap or .bss of no name may lie between a module's mappings; another file, or the same file's
    // first byte again, is the next module.
    while next < mappings.count, mappings[next].path == first.path || mappings[next].path.isEmpty {
      if mappings[next].path == first.path {
        if mappings[next].fileOffset == 0 && mappings[next].start != first.start
          && memory.load(UInt32.self, at: mappings[next].start) == 0x464c_457f
        {
          break
        }
        isExecutable = isExecutable || mappings[next].isExecutable
      }
      next += 1
    }
    guard isExecutable else { continue }
    let inMemory = headOfFile(at: first, in: memory)
    let (local, problem) = openFile(of: first, buildID: inMemory?.buildID, memory)
    guard let file = local ?? inMemory,
      let segment = file.segments.first(where: { $0.type == ELFFile.Segment.load })
    else { continue }
    let bias = first.start &- (segment.address &- segment.fileOffset) & ~4095
    var image = LoadedImage(file: file, bias: bias)
    image.module.path = first.path
    image.problem = problem
    image.clipData(to: memory)
    if problem != nil { image.sections = swiftSections(of: image, in: memory) }
    images.append(image)
  }
  return images
}

/// The file of a module that a mapping starts, of the version that was loaded: it may have been replaced since, which
/// the build id tells.
private func openFile(
  of mapping: MemoryMapping, buildID: String?, _ memory: TargetMemory
) -> (file: ELFFile?, problem: FileProblem?) {
  var problem: FileProblem?
  for path in memory.source.localFiles(of: mapping) {
    if let file = ELFFile(path: mapping.path, file: path) {
      if buildID ?? file.buildID == file.buildID { return (file, nil) }
      problem = .otherVersion
    } else {
      // The first place is where it should be.
      problem = problem ?? (errno == 0 ? .otherVersion : .cannotOpen(errno: errno))
    }
  }
  return (nil, problem ?? .otherVersion)
}

/// What the program's memory has of the file that a mapping starts.
private func headOfFile(at mapping: MemoryMapping, in memory: TargetMemory) -> ELFFile? {
  // The headers and the build id lie in the first page as linkers lay files out; a core file may have
  // no more.
  for count in [min(mapping.count, 1 << 16), 4096] where count <= mapping.count {
    if let bytes = memory.bytes(at: mapping.start, count: count) {
      return ELFFile(
        path: mapping.path, head: UnsafeRawBufferPointer(start: bytes, count: count))
    }
  }
  return nil
}
