// DebugFiles: which file on this machine belongs to a module of a snapshot.

internal import CLibdw
internal import Glibc
internal import SnapshotFormat

/// Finds the files of a module by its build id.
///
/// A file with another build id than the module's is never used: its names would be wrong.
struct DebugFiles {
  /// The folders of `--symbols`, in order.
  var directories: [String]

  /// Where distributions put separate debug files.
  var systemDirectory = "/usr/lib/debug"

  /// The plain files of `directories` by build id, read on first need.
  private var indexed: [String: [String]]?

  init(directories: [String]) {
    self.directories = directories
  }

  /// What was found for a module.
  struct Found {
    /// The file that was loaded, with its code; nil where only a debug file was found.
    var image: ELFFile?

    /// The file with debug information; the same object where the image has its own.
    var debug: ELFFile?

    /// Why there is no image, in the words of a diagnostic; nil where all is well.
    var problem: String?
  }

  /// Finds the image and the debug information of a module.
  mutating func find(_ module: Snapshot.Module) -> Found {
    var found = Found(image: nil, debug: nil, problem: nil)
    let deleted = " (deleted)"
    let path =
      module.path.hasSuffix(deleted) ? String(module.path.dropLast(deleted.count)) : module.path
    // The kernel's own pages and anonymous code have no file.
    guard path.hasPrefix("/") else { return found }

    if let file = ELFFile(path: path) {
      if file.buildID == module.buildID {
        found.image = file
      } else {
        found.problem = "the file on disk is another build; rebuild or give --symbols"
      }
    } else {
      found.problem = "the file is gone or unreadable; give --symbols"
    }
    if let image = found.image, image.hasDebugInformation {
      found.debug = image
      return found
    }
    for candidate in candidates(for: module, path: path) {
      guard let file = ELFFile(path: candidate), file.buildID == module.buildID,
        !module.buildID.isEmpty
      else { continue }
      let hasCode = file.sections.contains {
        $0.isExecutable && $0.header.sh_type != SHT_NOBITS
      }
      if found.image == nil, hasCode { found.image = file }
      if found.debug == nil, file.hasDebugInformation { found.debug = file }
      if found.debug != nil { break }
    }
    if found.debug == nil, let image = found.image, image.buildID.isEmpty {
      found.debug = linkedByChecksum(image)
    }
    if found.image != nil || found.debug != nil { found.problem = nil }
    return found
  }

  /// The paths that may hold the module or its debug information, best first.
  private mutating func candidates(for module: Snapshot.Module, path: String) -> [String] {
    var result: [String] = []
    let name = String(path.split(separator: "/").last ?? "")
    let identity = module.buildID
    if identity.utf8.count > 2 {
      let start = identity.prefix(2)
      let rest = identity.dropFirst(2)
      for directory in directories {
        for tail in ["/\(start)/\(rest).debug", "/\(start)/\(rest)"] {
          result.append(directory + tail)
          result.append(directory + "/.build-id" + tail)
        }
        // As `--symbols` may name a copy of another machine's root.
        result.append(directory + systemDirectory + "/.build-id/\(start)/\(rest).debug")
      }
    }
    for directory in directories {
      result.append(directory + "/" + name)
      result.append(directory + "/" + name + ".debug")
    }
    result += index()[identity] ?? []
    if identity.utf8.count > 2 {
      result.append(
        systemDirectory + "/.build-id/\(identity.prefix(2))/\(identity.dropFirst(2)).debug")
    }
    if let image = ELFFile(path: path), image.buildID == identity {
      result += linked(image)
    }
    return result
  }

  /// Where the debug file that an image asks for by name may lie.
  private func linked(_ image: ELFFile) -> [String] {
    guard let link = image.debugLink, !link.name.contains("/") else { return [] }
    let folder = image.path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    return [
      "\(folder)/\(link.name)", "\(folder)/.debug/\(link.name)",
      "\(systemDirectory)\(folder)/\(link.name)",
    ] + directories.map { "\($0)/\(link.name)" }
  }

  /// The debug file of an image without a build id, recognised by the checksum in the image.
  private func linkedByChecksum(_ image: ELFFile) -> ELFFile? {
    guard let link = image.debugLink else { return nil }
    for path in linked(image) where checksum(ofFile: path) == link.checksum {
      if let file = ELFFile(path: path), file.hasDebugInformation { return file }
    }
    return nil
  }

  /// The plain files of the given folders by build id.
  private mutating func index() -> [String: [String]] {
    if let indexed { return indexed }
    var result: [String: [String]] = [:]
    for directory in directories {
      guard let handle = opendir(directory) else { continue }
      defer { closedir(handle) }
      var names: [String] = []
      while let entry = readdir(handle) {
        names.append(
          withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
          })
      }
      for name in names.sorted() {
        let path = directory + "/" + name
        if let file = ELFFile(path: path), !file.buildID.isEmpty {
          result[file.buildID, default: []].append(path)
        }
      }
    }
    indexed = result
    return result
  }
}

/// The checksum that `.gnu_debuglink` means: CRC-32 with the polynomial of Ethernet.
func checksum(ofFile path: String) -> UInt32? {
  guard let file = fopen(path, "re") else { return nil }
  defer { fclose(file) }
  let table = (0..<UInt32(256)).map { byte in
    (0..<8).reduce(byte) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
  }
  var sum = ~UInt32(0)
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = fread(&buffer, 1, buffer.count, file)
    guard count > 0 else { break }
    for byte in buffer[..<count] {
      sum = sum >> 8 ^ table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)]
    }
  }
  return ferror(file) == 0 ? ~sum : nil
}
