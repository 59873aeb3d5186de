// ELFFile: an executable, library or debug file, mapped by libelf.

internal import CLibdw
internal import Glibc

/// An ELF file that is open for reading.
///
/// What the file says of itself is not trusted: every read is bounded by the file's sections, and a
/// file that makes no sense gives no sections and no symbols.
///
/// Not thread-safe.
final class ELFFile {
  let path: String

  /// libelf's handle, valid as long as this object.
  let elf: OpaquePointer

  /// The build id in lowercase hexadecimal; empty for none.
  let buildID: String

  /// Opens a file; nil where there is none, it can't be read, or it isn't a 64-bit ELF file.
  init?(path: String) {
    guard elf_version(UInt32(EV_CURRENT)) != UInt32(EV_NONE) else { return nil }
    // Opening a pipe or a device by name could wait for ever.
    var facts = stat()
    guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let elf = elf_begin(descriptor, ELF_C_READ_MMAP, nil) else { return nil }
    guard elf_kind(elf) == ELF_K_ELF, gelf_getclass(elf) == ELFCLASS64 else {
      elf_end(elf)
      return nil
    }
    // The mapping stays; no more is read through the descriptor.
    _ = elf_cntl(elf, ELF_C_FDDONE)
    self.path = path
    self.elf = elf
    var identity: UnsafeRawPointer?
    let length = dwelf_elf_gnu_build_id(elf, &identity)
    if let identity, length > 0 {
      buildID = hexadecimal(UnsafeRawBufferPointer(start: identity, count: Int(length)))
    } else {
      buildID = ""
    }
  }

  deinit {
    elf_end(elf)
  }

  /// A section: its header and handle.
  struct Section {
    var handle: OpaquePointer
    var header: GElf_Shdr
    var name: String

    var addresses: Range<UInt64> {
      let (end, overflow) = header.sh_addr.addingReportingOverflow(header.sh_size)
      return header.sh_addr..<(overflow ? header.sh_addr : end)
    }

    /// Where the section's bytes lie in the file, as the header says.
    var fileRange: Range<UInt64> {
      let (end, overflow) = header.sh_offset.addingReportingOverflow(header.sh_size)
      return header.sh_offset..<(overflow || header.sh_type == SHT_NOBITS ? header.sh_offset : end)
    }

    var isAllocated: Bool { header.sh_flags & UInt64(SHF_ALLOC) != 0 }
    var isExecutable: Bool { header.sh_flags & UInt64(SHF_EXECINSTR) != 0 }
  }

  /// All sections, in the order of the file; read on first use. Row *i* is section index *i* + 1.
  private(set) lazy var sections: [Section] = {
    var result: [Section] = []
    var names = 0
    let hasNames = elf_getshdrstrndx(elf, &names) == 0
    var current = elf_nextscn(elf, nil)
    while let handle = current {
      var header = GElf_Shdr()
      guard gelf_getshdr(handle, &header) != nil else { break }
      let name = hasNames ? elf_strptr(elf, names, Int(header.sh_name)) : nil
      result.append(
        Section(handle: handle, header: header, name: name.map { String(cString: $0) } ?? ""))
      current = elf_nextscn(elf, handle)
    }
    return result
  }()

  /// Whether the file has debug information of its own.
  var hasDebugInformation: Bool {
    sections.contains {
      ($0.name == ".debug_info" || $0.name == ".zdebug_info") && $0.header.sh_type != SHT_NOBITS
        && $0.header.sh_size > 0
    }
  }

  /// The bytes of a section as they are now, decompressed if libdw has done so; empty for none. Valid as
  /// long as this object.
  func contents(ofSectionNamed name: String) -> UnsafeRawBufferPointer {
    guard let section = sections.first(where: { $0.name == name }),
      let data = elf_getdata(section.handle, nil), let start = data.pointee.d_buf
    else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(start: start, count: data.pointee.d_size)
  }

  /// Copies bytes as the file has them for an address; nil where no section holds all of them.
  ///
  /// - Complexity: O(sections + `count`).
  func bytes(at address: UInt64, count: Int) -> [UInt8]? {
    for section in sections
    where section.isAllocated && section.header.sh_type != SHT_NOBITS
      && section.addresses.contains(address)
    {
      let offset = Int(address - section.header.sh_addr)
      guard let data = elf_rawdata(section.handle, nil), let start = data.pointee.d_buf,
        count >= 0, offset <= data.pointee.d_size, count <= data.pointee.d_size - offset
      else { return nil }
      return [UInt8](UnsafeRawBufferPointer(start: start + offset, count: count))
    }
    return nil
  }

  /// The pointer that the dynamic loader puts at an address, as an address in this file; nil where
  /// nothing is relocated there or the value belongs to another file.
  ///
  /// - Complexity: O(relocations).
  func relocatedPointer(at address: UInt64) -> UInt64? {
    for section in sections where section.header.sh_type == SHT_RELA && section.isAllocated {
      guard let data = elf_getdata(section.handle, nil), section.header.sh_entsize > 0 else {
        continue
      }
      let count = Int(clamping: section.header.sh_size / section.header.sh_entsize)
      for index in 0..<count {
        var relocation = GElf_Rela()
        guard gelf_getrela(data, Int32(clamping: index), &relocation) != nil else { break }
        guard relocation.r_offset == address else { continue }
        let type = Int32(truncatingIfNeeded: relocation.r_info & 0xffff_ffff)
        if type == R_X86_64_RELATIVE { return UInt64(bitPattern: relocation.r_addend) }
        return symbolValue(
          Int(relocation.r_info >> 32), in: Int(section.header.sh_link),
          addend: relocation.r_addend)
      }
    }
    return nil
  }

  private func symbolValue(_ symbol: Int, in table: Int, addend: Int64) -> UInt64? {
    guard symbol > 0, sections.indices.contains(table - 1),
      let data = elf_getdata(sections[table - 1].handle, nil)
    else { return nil }
    var value = GElf_Sym()
    guard gelf_getsym(data, Int32(clamping: symbol), &value) != nil,
      value.st_shndx != UInt16(SHN_UNDEF)
    else { return nil }
    return value.st_value &+ UInt64(bitPattern: addend)
  }

  /// The name and checksum of the separate debug file that the file asks for.
  var debugLink: (name: String, checksum: UInt32)? {
    var checksum: GElf_Word = 0
    guard let name = dwelf_elf_gnu_debuglink(elf, &checksum) else { return nil }
    return (String(cString: name), checksum)
  }
}

/// Bytes in lowercase hexadecimal, as build ids are written.
func hexadecimal(_ bytes: UnsafeRawBufferPointer) -> String {
  var digits: [UInt8] = []
  digits.reserveCapacity(bytes.count * 2)
  let alphabet = Array("0123456789abcdef".utf8)
  for byte in bytes {
    digits.append(alphabet[Int(byte >> 4)])
    digits.append(alphabet[Int(byte & 15)])
  }
  return String(decoding: digits, as: UTF8.self)
}
