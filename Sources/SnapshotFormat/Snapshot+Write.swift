// Snapshot+Write: a snapshot as a file.

extension Snapshot {
  /// Writes the snapshot to a file, whole or not at all.
  ///
  /// The bytes go to a file under another name in the same folder, readable by its owner alone, which
  /// takes the place of `path` when they are on the disk. After an error nothing stays behind, and a file
  /// that was at `path` is as it was. Equal snapshots give equal bytes.
  ///
  /// - Throws: `SnapshotError.file` where the system refuses, `SnapshotError.malformed` for a snapshot
  ///   that `validate()` refuses, before anything is written.
  /// - Complexity: O(*b*) for *b* bytes: read twice, for the checksums and for the file.
  public func write(to path: String) throws(SnapshotError) {
    do throws(Malformation) {
      try check()
    } catch {
      throw .malformed(
        path: path, section: error.section.rawValue, offset: error.offset, reason: error.reason)
    }
    let encoder = SnapshotEncoder(self)
    try AtomicFile.write(to: path, size: encoder.fileSize) { (file) throws(AtomicFile.Failure) in
      try encoder.forEachPiece { (bytes, offset) throws(AtomicFile.Failure) in
        try file.put(bytes, at: offset)
      }
    }
  }

  /// The bytes of the file that `write(to:)` would write.
  ///
  /// - Precondition: the snapshot is valid.
  /// - Complexity: O(*b*) for *b* bytes.
  package func serialized() -> [UInt8] { SnapshotEncoder(self).serialized() }
}
