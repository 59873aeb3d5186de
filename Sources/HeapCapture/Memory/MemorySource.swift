// MemorySource: where the bytes of a captured program come from. A frozen twin, a process and a core
// file differ in this and in nothing else.

/// A range of the captured program's address space, as the kernel describes it.
package struct MemoryMapping: Hashable, Sendable {
  package var start: UInt64
  package var end: UInt64
  package var isReadable: Bool
  package var isWritable: Bool
  package var isExecutable: Bool

  /// Whether what is written goes to the file, or to other processes.
  package var isShared: Bool

  /// Where in the file the mapping starts.
  package var fileOffset: UInt64

  /// The file's path, a name in brackets (`[heap]`, `[stack]`), or empty for anonymous memory.
  package var path: String

  package var count: Int { Int(end - start) }

  /// Whether it is no part of a file: heap, stack or anonymous memory.
  package var isAnonymous: Bool {
    path.isEmpty || path == "[heap]" || path.hasPrefix("[stack") || path.hasPrefix("[anon")
  }

  package init(
    start: UInt64, end: UInt64, isReadable: Bool, isWritable: Bool, isExecutable: Bool,
    isShared: Bool = false, fileOffset: UInt64, path: String
  ) {
    self.start = start
    self.end = end
    self.isReadable = isReadable
    self.isWritable = isWritable
    self.isExecutable = isExecutable
    self.isShared = isShared
    self.fileOffset = fileOffset
    self.path = path
  }
}

/// Where the bytes of a captured program come from.
///
/// The program must not run while a source is read, or what is read contradicts itself.
package protocol MemorySource: AnyObject {
  /// The mappings in ascending order of address.
  var mappings: [MemoryMapping] { get }

  /// Copies bytes from the program.
  ///
  /// - Returns: how many bytes from the start of the range could be read; less than asked for where
  ///   the range runs into memory that is not there.
  func read(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int

  /// `twin`, `pid` or `core`.
  var name: String { get }

  /// The program's executable file; empty where it is unknown.
  var executable: String { get }

  /// The bytes of the program's memory that were resident.
  var residentBytes: UInt64 { get }

  /// Which pages were in the machine's memory; nil where that is not known.
  var residentPages: ResidentPages? { get }

  /// Whether the program is still the one that was opened, so that what could not be read is not there, and not
  /// gone with the program. Asked after the last read.
  var isStillThere: Bool { get }

  /// Where the file of a mapping may be read on this machine, the likeliest place first: paths as bytes, which need not
  /// be text, without a NUL at the end.
  func localFiles(of mapping: MemoryMapping) -> [[UInt8]]

  /// Whether a range of anonymous memory has pages that were ever written to; true where that is not
  /// known. Others hold zeros.
  func hasOwnPages(_ range: Range<UInt64>) -> Bool
}

extension MemorySource {
  package var residentPages: ResidentPages? { nil }

  package var isStillThere: Bool { true }

  package func localFiles(of mapping: MemoryMapping) -> [[UInt8]] { [Array(mapping.path.utf8)] }

  package func hasOwnPages(_ range: Range<UInt64>) -> Bool { true }
}
