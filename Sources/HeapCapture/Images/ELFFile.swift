// ELFFile: the parts of an ELF file that capture asks about: segments, sections, symbols, build id.

internal import Glibc

/// A 64-bit little-endian ELF file, mapped for reading.
///
/// Every read is checked against the file's length, so a damaged file gives fewer sections or symbols
/// and nothing worse.
package final class ELFFile {
  /// A program header.
  package struct Segment: Hashable, Sendable {
    package var type: UInt32
    package var flags: UInt32
    package var fileOffset: UInt64
    package var address: UInt64
    package var fileSize: UInt64
    package var memorySize: UInt64
    package var alignment: UInt64

    package static let load: UInt32 = 1
    package static let dynamic: UInt32 = 2
    package static let note: UInt32 = 4
    package static let threadLocal: UInt32 = 7
    package static let readOnlyAfterRelocation: UInt32 = 0x6474_e552

    package var isWritable: Bool { flags & 2 != 0 }
  }

  /// A section header, with its name.
  package struct Section: Hashable, Sendable {
    package var name: String
    package var type: UInt32
    package var address: UInt64
    package var fileOffset: UInt64
    package var size: UInt64
    package var link: UInt32

    package static let symbolTable: UInt32 = 2
    package static let noBits: UInt32 = 8
    package static let dynamicSymbolTable: UInt32 = 11
    package static let gnuHash: UInt32 = 0x6fff_fff6
  }

  package let path: String
  package private(set) var segments: [Segment] = []
  package private(set) var sections: [Section] = []
  private let _bytes: UnsafeRawBufferPointer

  /// Where the program begins to run, which in an executable is before `main`; 0 for none.
  package var entry: UInt64 { _load(UInt64.self, at: 24) ?? 0 }

  /// Opens a file; nil where it can't be read or is no ELF file of this kind, with `errno` set to 0 in the latter
  /// case.
  package convenience init?(path: String) { self.init(path: path, file: Array(path.utf8)) }

  /// Opens a file that is called by some bytes, and is known by a path.
  init?(path: String, file bytes: [UInt8]) {
    let file = open((bytes + [0]).map { CChar(bitPattern: $0) }, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    errno = 0
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size >= 64 else {
      return nil
    }
    guard let base = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, file, 0),
      base != MAP_FAILED
    else { return nil }
    self.path = path
    _bytes = UnsafeRawBufferPointer(start: base, count: Int(status.st_size))
    // 0x7f ELF, 64 bits, little-endian.
    guard _load(UInt32.self, at: 0) == 0x464c_457f, _load(UInt16.self, at: 4) == 0x0102 else {
      return nil
    }
    _readSegments()
    _readSections()
  }

  /// Takes the first bytes of a file from a program's memory, where the file itself can't be had; nil
  /// where they are no ELF header. There are segments and the build id then, and no symbols.
  init?(path: String, head: UnsafeRawBufferPointer) {
    guard let source = head.baseAddress, head.count >= 64,
      let base = mmap(nil, head.count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      base != MAP_FAILED
    else { return nil }
    base.copyMemory(from: source, byteCount: head.count)
    self.path = path
    _bytes = UnsafeRawBufferPointer(start: base, count: head.count)
    guard _load(UInt32.self, at: 0) == 0x464c_457f, _load(UInt16.self, at: 4) == 0x0102 else {
      return nil
    }
    _readSegments()
  }

  deinit {
    munmap(UnsafeMutableRawPointer(mutating: _bytes.baseAddress), _bytes.count)
  }

  /// The build id in lowercase hexadecimal; empty where the file has none.
  package var buildID: String {
    for segment in segments where segment.type == Segment.note {
      var offset = segment.fileOffset
      let end = offset &+ segment.fileSize
      while offset < end, let nameSize = _load(UInt32.self, at: offset),
        let size = _load(UInt32.self, at: offset &+ 4),
        let type = _load(UInt32.self, at: offset &+ 8)
      {
        let name = offset + 12
        let content = name + UInt64(nameSize &+ 3) & ~3
        // NT_GNU_BUILD_ID of "GNU\0".
        if type == 3, nameSize == 4, _load(UInt32.self, at: name) == 0x0055_4e47, size <= 64 {
          var text = ""
          for place in 0..<UInt64(size) {
            guard let byte = _load(UInt8.self, at: content + place) else { return "" }
            text += byte < 16 ? "0" : ""
            text += String(byte, radix: 16)
          }
          return text
        }
        offset = content + (UInt64(size) + 3) & ~3
      }
    }
    return ""
  }

  /// The section of a name; nil where the file has none.
  package func section(_ name: String) -> Section? { sections.first { $0.name == name } }

  /// The address, in the file, of a symbol that the file exports; nil where it does not.
  ///
  /// - Complexity: O(1); O(*n*) for *n* exported symbols where the file has no hash table of GNU's kind.
  package func address(ofExportedSymbol name: String) -> UInt64? {
    guard let table = sections.first(where: { $0.type == Section.gnuHash }) else {
      return _address(of: name, inTables: Section.dynamicSymbolTable)
    }
    return _address(of: name, inHashTable: table)
  }

  /// The address, in the file, of a symbol that the file defines, exported or not; nil where it does
  /// not define it or has lost its symbols.
  ///
  /// - Complexity: O(*n*) for *n* symbols.
  package func address(ofSymbol name: String) -> UInt64? {
    address(ofExportedSymbol: name) ?? _address(of: name, inTables: Section.symbolTable)
  }

  /// The name of a symbol with a value, of those that begin with a text; nil for none.
  ///
  /// - Complexity: O(*n*) for *n* symbols.
  package func symbol(at value: UInt64, prefix: String) -> String? {
    var found: String?
    _forEachSymbol(inTables: Section.symbolTable) { symbol, name in
      guard symbol.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == value,
        let text = _text(at: name), text.hasPrefix(prefix)
      else { return true }
      found = text
      return false
    }
    return found
  }

  /// Where a function lies in the file, by its name; nil where the file does not define it or has lost
  /// its symbols.
  ///
  /// - Complexity: O(*n*) for *n* symbols.
  package func range(ofFunction name: String) -> Range<UInt64>? {
    guard let value = address(ofSymbol: name) else { return nil }
    var found: Range<UInt64>?
    for table in [Section.symbolTable, Section.dynamicSymbolTable] where found == nil {
      _forEachSymbol(inTables: table) { symbol, place in
        let size = symbol.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
        guard symbol.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == value, size > 0,
          size < 1 << 32, _text(at: place) == name
        else { return true }
        found = value..<(value &+ size)
        return false
      }
    }
    // A name that the linker was told of (`--defsym main=App_main`) has no size of its own.
    return found ?? ranges(ofFunctionsAt: [value]).first
  }

  /// Where the functions lie in the file that begin at some addresses; none where it has lost its symbols.
  ///
  /// - Complexity: O(*n*) for *n* symbols.
  package func ranges(ofFunctionsAt starts: Set<UInt64>) -> [Range<UInt64>] {
    var found: [Range<UInt64>] = []
    _forEachSymbol(inTables: Section.symbolTable) { symbol, _ in
      let value = symbol.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      let size = symbol.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
      if size > 0, size < 1 << 32, starts.contains(value) { found.append(value..<(value &+ size)) }
      return true
    }
    return found
  }

  /// The symbols that the file defines whose names begin with a text, by name, with their addresses in
  /// the file; empty where the file has lost its symbols.
  ///
  /// - Complexity: O(*n*) for *n* symbols.
  package func symbols(prefix: String) -> [String: UInt64] {
    guard let base = _bytes.baseAddress else { return [:] }
    var found: [String: UInt64] = [:]
    prefix.withCString { text in
      let length = strlen(text)
      _forEachSymbol(inTables: Section.symbolTable) { symbol, place in
        if place <= UInt64(_bytes.count - length), memcmp(base + Int(place), text, length) == 0,
          symbol.loadUnaligned(fromByteOffset: 6, as: UInt16.self) != 0, let name = _text(at: place)
        {
          found[name] = symbol.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        }
        return true
      }
    }
    return found
  }

  private func _load<T: BitwiseCopyable>(_ type: T.Type, at offset: UInt64) -> T? {
    let size = UInt64(MemoryLayout<T>.size)
    guard offset <= UInt64(_bytes.count), size <= UInt64(_bytes.count) - offset else { return nil }
    return _bytes.loadUnaligned(fromByteOffset: Int(offset), as: T.self)
  }

  private func _text(at offset: UInt64) -> String? {
    guard offset < UInt64(_bytes.count) else { return nil }
    let rest = _bytes[Int(offset)...]
    guard let end = rest.firstIndex(of: 0) else { return nil }
    return String(decoding: _bytes[Int(offset)..<end], as: UTF8.self)
  }

  private func _readSegments() {
    guard let start = _load(UInt64.self, at: 32), let size = _load(UInt16.self, at: 54),
      let count = _load(UInt16.self, at: 56), size >= 56
    else { return }
    for index in 0..<UInt64(count) {
      let at = start &+ index &* UInt64(size)
      guard let type = _load(UInt32.self, at: at), let flags = _load(UInt32.self, at: at &+ 4),
        let offset = _load(UInt64.self, at: at &+ 8),
        let address = _load(UInt64.self, at: at &+ 16),
        let fileSize = _load(UInt64.self, at: at &+ 32),
        let memorySize = _load(UInt64.self, at: at &+ 40),
        let alignment = _load(UInt64.self, at: at &+ 48)
      else { return }
      segments.append(
        Segment(
          type: type, flags: flags, fileOffset: offset, address: address, fileSize: fileSize,
          memorySize: memorySize, alignment: alignment))
    }
  }

  private func _readSections() {
    guard let start = _load(UInt64.self, at: 40), start != 0, let size = _load(UInt16.self, at: 58),
      let count = _load(UInt16.self, at: 60), let names = _load(UInt16.self, at: 62), size >= 64
    else { return }
    guard let namesOffset = _load(UInt64.self, at: start &+ UInt64(names) &* UInt64(size) &+ 24)
    else { return }
    for index in 0..<UInt64(count) {
      let at = start &+ index &* UInt64(size)
      guard let name = _load(UInt32.self, at: at), let type = _load(UInt32.self, at: at &+ 4),
        let address = _load(UInt64.self, at: at &+ 16),
        let offset = _load(UInt64.self, at: at &+ 24),
        let length = _load(UInt64.self, at: at &+ 32), let link = _load(UInt32.self, at: at &+ 40)
      else { return }
      sections.append(
        Section(
          name: _text(at: namesOffset &+ UInt64(name)) ?? "", type: type, address: address,
          fileOffset: offset, size: length, link: link))
    }
  }

  private func _address(of name: String, inTables type: UInt32) -> UInt64? {
    guard let base = _bytes.baseAddress else { return nil }
    return name.withCString { text in
      let length = strlen(text) + 1
      var found: UInt64?
      _forEachSymbol(inTables: type) { symbol, place in
        // Section 0 means that the symbol is wanted here and defined elsewhere.
        guard place <= UInt64(_bytes.count - length), memcmp(base + Int(place), text, length) == 0,
          symbol.loadUnaligned(fromByteOffset: 6, as: UInt16.self) != 0
        else { return true }
        found = symbol.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        return false
      }
      return found
    }
  }

  /// Looks a symbol up as the loader does, in the table whose form is `DT_GNU_HASH`: four numbers, the words of a
  /// Bloom filter, the first symbol of each bucket, and for each symbol from the first that is exported its hash,
  /// with the lowest bit set at a bucket's end.
  private func _address(of name: String, inHashTable hashes: Section) -> UInt64? {
    guard let base = _bytes.baseAddress, Int(hashes.link) < sections.count else { return nil }
    let symbols = sections[Int(hashes.link)]
    let start = hashes.fileOffset
    guard Int(symbols.link) < sections.count, let bucketCount = _load(UInt32.self, at: start),
      let firstSymbol = _load(UInt32.self, at: start &+ 4),
      let filterCount = _load(UInt32.self, at: start &+ 8), bucketCount > 0
    else { return nil }
    let names = sections[Int(symbols.link)].fileOffset
    let buckets = start &+ 16 &+ 8 &* UInt64(filterCount)
    let chains = buckets &+ 4 &* UInt64(bucketCount)
    return name.withCString { text in
      let length = strlen(text) + 1
      var hash: UInt32 = 5381
      for place in 0..<(length - 1) { hash = hash &* 33 &+ UInt32(UInt8(bitPattern: text[place])) }
      guard var index = _load(UInt32.self, at: buckets &+ 4 &* UInt64(hash % bucketCount)),
        index >= firstSymbol
      else { return nil }
      while let found = _load(UInt32.self, at: chains &+ 4 &* UInt64(index - firstSymbol)) {
        let symbol = symbols.fileOffset &+ 24 &* UInt64(index)
        if found | 1 == hash | 1, let place = _load(UInt32.self, at: symbol),
          names &+ UInt64(place) <= UInt64(max(0, _bytes.count - length)),
          memcmp(base + Int(names &+ UInt64(place)), text, length) == 0,
          let home = _load(UInt16.self, at: symbol &+ 6), home != 0
        {
          return _load(UInt64.self, at: symbol &+ 8)
        }
        if found & 1 == 1 || index == .max { return nil }
        index += 1
      }
      return nil
    }
  }

  /// Calls `body` with the 24 bytes of each symbol and the place of its name, until it returns false.
  private func _forEachSymbol(
    inTables type: UInt32, _ body: (_ symbol: UnsafeRawPointer, _ name: UInt64) -> Bool
  ) {
    guard let base = _bytes.baseAddress else { return }
    for table in sections where table.type == type && Int(table.link) < sections.count {
      let names = sections[Int(table.link)].fileOffset
      let end = table.fileOffset &+ table.size
      guard end <= UInt64(_bytes.count), table.fileOffset <= end else { continue }
      // Tables are long: this is most of a small capture where nothing is optimized, an iterator twice that.
      var symbol = base + Int(table.fileOffset)
      let last = base + Int(end) - 24
      while symbol <= last {
        if !body(symbol, names &+ UInt64(symbol.loadUnaligned(as: UInt32.self))) { return }
        symbol += 24
      }
    }
  }
}
