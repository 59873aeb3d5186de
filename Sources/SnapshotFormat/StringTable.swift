// StringTable: all texts of a snapshot, each once.

public import GraphPrimitives

/// The texts of a snapshot, each once, as UTF-8. Row 0 is the empty string.
public struct StringTable: Sendable {
  /// Where each text starts in `bytes`; one row more than there are texts.
  public var offset: Column<UInt32>

  /// The texts, one after the other.
  public var bytes: Column<UInt8>

  public init(offset: Column<UInt32>, bytes: Column<UInt8>) {
    self.offset = offset
    self.bytes = bytes
  }

  /// A table of these texts.
  ///
  /// - Precondition: the first is empty.
  public init(_ texts: [String]) {
    precondition(texts.first == "", "the first text of a table is the empty one")
    var offset: [UInt32] = [0]
    var bytes: [UInt8] = []
    for text in texts {
      bytes.append(contentsOf: text.utf8)
      offset.append(UInt32(bytes.count))
    }
    self.init(offset: Column(offset), bytes: Column(bytes))
  }

  public var count: Int { offset.count - 1 }

  /// The text in a row; bytes that are no UTF-8 come out as U+FFFD.
  public subscript(index: StringIndex) -> String {
    bytes.withUnsafeBufferPointer { all in
      String(
        decoding: all[Int(offset[index.position])..<Int(offset[index.position + 1])], as: UTF8.self)
    }
  }

  /// The text in a row.
  public subscript(row: UInt32) -> String { self[StringIndex(rawValue: row)] }
}
