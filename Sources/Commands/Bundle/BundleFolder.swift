// BundleFolder: the folder that a bundle is written to: whole or not at all, and not larger than it may be.

internal import Glibc
internal import GraphPrimitives
internal import GraphReport
internal import SnapshotFormat

/// A folder that is being filled under a name of its own, and gets its name when it is whole.
struct BundleFolder {
  /// Where it will be.
  let path: String

  /// Where it is until then.
  let place: String

  /// The most bytes that it may have.
  let limit: Int

  /// How many bytes it has.
  private(set) var bytes = 0

  /// What was left out.
  private(set) var leftOut: [BundleReport.Gap] = []

  /// What a folder has in it that is a bundle, and may be replaced.
  private static let mark = "report.json"

  /// Makes the folder.
  ///
  /// - Throws: ``CommandError`` where there is something at `path` that is neither a bundle nor an empty folder.
  init(_ path: String, limit: Int) throws(CommandError) {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    var status = stat()
    if lstat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw CommandError(
          path, "a file, not a folder", mend: "give another name with -o", status: .usage)
      }
      guard InputFile.exists(path + "/" + Self.mark) || Self.isEmpty(path) else {
        throw CommandError(
          path, "a folder with something else in it",
          mend: "give a new one with -o, or remove it", status: .usage)
      }
    }
    self.path = path
    self.limit = limit
    place = path + ".partial-\(getpid())"
    Leftovers.add(place)
    try Self.makeFolder(place)
  }

  /// Puts a text into the folder, whatever the limit is: these are what the folder is for.
  mutating func add(_ text: String, as name: String) throws(CommandError) {
    try Self.makeFolders(to: name, in: place)
    try ReportFile.write(text, to: place + "/" + name)
    bytes += text.utf8.count
  }

  /// Puts a file into the folder; where it would be too large the file is noted as left out.
  ///
  /// - Returns: whether it is in.
  mutating func add(_ file: BundleFile, as name: String) throws(CommandError) -> Bool {
    guard fits(file.bytes, name: file.name) else { return false }
    try Self.makeFolders(to: name, in: place)
    try ReportFile.write(to: place + "/" + name) { (sink) throws(SinkError) in
      try Self.copy(file.path, to: sink)
    }
    bytes += file.bytes
    return true
  }

  /// Counts a file that was written into the folder already; removes it where it is too large.
  mutating func keep(_ name: String) -> Bool {
    var status = stat()
    guard stat(place + "/" + name, &status) == 0 else { return false }
    guard bytes + Int(status.st_size) <= limit else {
      unlink(place + "/" + name)
      return false
    }
    bytes += Int(status.st_size)
    return true
  }

  /// Notes what was left out.
  mutating func leaveOut(_ name: String, bytes: Int, why: String) {
    leftOut.append(BundleReport.Gap(name: name, bytes: ByteCount(bytes), why: why))
  }

  private mutating func fits(_ size: Int, name: String) -> Bool {
    if bytes + size <= limit { return true }
    leaveOut(
      name, bytes: size, why: "the folder would be larger than \(Units.bytes(ByteCount(limit)))")
    return false
  }

  /// Gives the folder its name, in place of a bundle that was there.
  func finish() throws(CommandError) {
    let old = path + ".old-\(getpid())"
    let hadOne = rename(path, old) == 0
    guard rename(place, path) == 0 else {
      let reason = errno
      if hadOne { rename(old, path) }
      throw Self.failure(path, reason)
    }
    Leftovers.forget(place)
    if hadOne { Self.remove(old) }
  }

  /// Removes what was written so far.
  func discard() {
    Self.remove(place)
    Leftovers.forget(place)
  }

  // MARK: - Files

  /// Makes the folders that a file lies in.
  static func makeFolders(to name: String, in folder: String) throws(CommandError) {
    var path = folder
    for part in name.split(separator: "/").dropLast() {
      path += "/" + part
      try makeFolder(path)
    }
  }

  private static func makeFolder(_ path: String) throws(CommandError) {
    guard mkdir(path, 0o777) != 0, errno != EEXIST else { return }
    throw failure(path, errno)
  }

  private static func isEmpty(_ path: String) -> Bool {
    guard let stream = opendir(path) else { return false }
    defer { closedir(stream) }
    var count = 0
    while readdir(stream) != nil { count += 1 }
    return count <= 2
  }

  private static func copy(_ path: String, to sink: DescriptorSink) throws(SinkError) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw SinkError(errno: errno) }
    defer { close(file) }
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(file, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw SinkError(errno: errno) }
      if count == 0 { return }
      try sink.write(bytes: piece[..<count])
    }
  }

  /// Removes a folder of ours with all that is in it; a link in it is removed, not followed.
  private static func remove(_ folder: String) {
    guard let stream = opendir(folder) else { return }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name != ".", name != ".." else { continue }
      let path = folder + "/" + name
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR { remove(path) } else { unlink(path) }
    }
    closedir(stream)
    rmdir(folder)
  }

  private static func failure(_ path: String, _ reason: Int32) -> CommandError {
    CommandError(
      path, "cannot write the bundle: " + String(cString: strerror(reason)), status: .impossible)
  }
}
