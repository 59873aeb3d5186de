// Tests of modules: what is read from ELF files, whole ones and damaged ones.

import Glibc
import SnapshotFormat
import Testing

@testable import HeapCapture

nonisolated(unsafe) private var _variable = 42

@Suite struct LoadedImageTests {
  @Test("The executable and its libraries are found where the loader put them")
  func modules() throws {
    let memory = TargetMemory(try ProcessMemory(pid: getpid(), name: "pid"))
    let images = loadImages(of: memory)
    let retain = try #require(dlsym(nil, "swift_retain"))
    let address = UInt64(UInt(bitPattern: retain))
    let runtime = try #require(images.image(containing: address))
    #expect(runtime.address(ofExportedSymbol: "swift_retain") == address)
    #expect(images.address(ofSymbol: "swift_retain") == address)
    #expect(runtime.sections["swift5_fieldmd"]?.isEmpty == false)
    #expect(runtime.module.buildID.count == 40)
    #expect(Set(images.map(\.module.path)).count == images.count)
    #expect(images.allSatisfy { $0.module.start < $0.module.end })
    #expect(images.address(ofSymbol: "no such symbol") == nil)
    let variable = withUnsafePointer(to: &_variable) { UInt64(UInt(bitPattern: $0)) }
    let own = try #require(images.image(containing: variable))
    #expect(own.dataRanges.contains { $0.contains(variable) })
    #expect(!runtime.dataRanges.contains { $0.contains(address) })
  }

  @Test(
    "Damaged files are refused or give less, and never more than a refusal",
    arguments: 0..<60 as Range<UInt64>)
  func damaged(seed: UInt64) throws {
    var random = SplitMix(seed)
    let path = try #require(ProcessMemory.firstLibrary())
    var bytes = try #require(readBytes(path))
    let length = seed % 3 == 0 ? Int(random.next() % UInt64(bytes.count)) : bytes.count
    bytes.removeLast(bytes.count - length)
    // The header and the tables at the end steer the reader.
    for _ in 0..<24 where bytes.count > 128 {
      let near = random.next() % 2 == 0 ? 64 : bytes.count
      bytes[Int(random.next() % UInt64(near))] = UInt8(truncatingIfNeeded: random.next())
    }
    let copy = "/tmp/memory-graph-elf-\(getpid())-\(seed)"
    try #require(writeBytes(bytes, to: copy))
    defer { unlink(copy) }
    guard let file = ELFFile(path: copy) else { return }
    #expect(file.buildID.count <= 128)
    _ = file.section("swift5_fieldmd")
    _ = file.address(ofSymbol: "swift_retain")
    let image = LoadedImage(file: file, bias: 0x7000_0000_0000)
    #expect(image.dataRanges.count <= file.segments.count)
  }

  @Test("The hash table of a file gives the same addresses as a search through its symbols")
  func hashedSymbols() throws {
    let path = try #require(ProcessMemory.firstLibrary())
    let hashed = try #require(ELFFile(path: path))
    #expect(hashed.sections.contains { $0.type == ELFFile.Section.gnuHash })
    // A copy whose table has another type, so that nobody finds it.
    var bytes = try #require(readBytes(path))
    let type = withUnsafeBytes(of: ELFFile.Section.gnuHash) { Array($0) }
    let place = try #require(
      stride(from: bytes.count - 4, to: 0, by: -4).first { Array(bytes[$0..<$0 + 4]) == type })
    bytes[place] = 1
    let copy = "/tmp/memory-graph-elf-\(getpid())-hash"
    try #require(writeBytes(bytes, to: copy))
    defer { unlink(copy) }
    let searched = try #require(ELFFile(path: copy))
    #expect(!searched.sections.contains { $0.type == ELFFile.Section.gnuHash })
    // Names of symbols that are defined, of others, and of libraries and versions.
    let texts = try #require(hashed.section(".dynstr"))
    let names = bytes[Int(texts.fileOffset)..<Int(texts.fileOffset + texts.size)].split(
      separator: 0
    )
    .map { String(decoding: $0, as: UTF8.self) }
    var found = 0
    for name in names {
      let address = hashed.address(ofExportedSymbol: name)
      #expect(address == searched.address(ofExportedSymbol: name), "\(name)")
      if address != nil { found += 1 }
    }
    #expect(found > 10 && found < names.count)
  }

  @Test("However much data a damaged file says it has, what is mapped is searched, and no more")
  func hugeData() throws {
    let source = try ProcessMemory(pid: getpid(), name: "pid")
    let memory = TargetMemory(source)
    var image = try #require(loadImages(of: memory).first { !$0.dataRanges.isEmpty })
    let honest = image.dataRanges
    image.dataRanges = [0..<(1 << 62)]
    image.clipData(to: memory)
    #expect(honest.allSatisfy { part in image.dataRanges.contains { $0.overlaps(part) } })
    for range in image.dataRanges {
      #expect(
        source.mappings.contains { $0.start <= range.lowerBound && range.upperBound <= $0.end })
    }
  }

  @Test("What is no ELF file is refused")
  func refused() {
    #expect(ELFFile(path: "/proc/self/maps") == nil)
    #expect(ELFFile(path: "/nowhere") == nil)
    #expect(ELFFile(path: "/etc/passwd") == nil)
  }
}

extension ProcessMemory {
  /// A small library of the Swift runtime that this process has loaded.
  fileprivate static func firstLibrary() -> String? {
    let maps = readWholeFile("/proc/self/maps").map(parseMappings) ?? []
    return maps.map(\.path).first { $0.hasSuffix("/libswiftSynchronization.so") }
      ?? maps.map(\.path).first { $0.hasSuffix("/libBlocksRuntime.so") }
  }
}

private func readBytes(_ path: String) -> [UInt8]? {
  let file = open(path, O_RDONLY)
  guard file >= 0 else { return nil }
  defer { close(file) }
  var bytes = [UInt8](repeating: 0, count: Int(lseek(file, 0, SEEK_END)))
  return pread(file, &bytes, bytes.count, 0) == bytes.count ? bytes : nil
}

private func writeBytes(_ bytes: [UInt8], to path: String) -> Bool {
  let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  guard file >= 0 else { return false }
  defer { close(file) }
  return write(file, bytes, bytes.count) == bytes.count
}
