// ExportTable: the tables of an export: what they are called, which columns they have. docs/export.md tells their meaning.

/// A table that an export can have.
package enum ExportTable: String, CaseIterable, Sendable {
  case snapshots
  case marks
  case modules
  case objects
  case edges
  case roots
  case findings
  case findingObjects = "finding_objects"

  // Those below are filled by the rows of those above.
  case types
  case fields
  case frames
  case stacks

  /// A column of a table.
  package struct Column: Sendable {
    package enum Kind: Sendable {
      case integer
      case text

      /// What the number in a column before it stands for: for formats in which nothing can be looked up. A database has it in
      /// another table.
      case name

      /// What a database computes from other columns.
      case computed(String)

      /// Whether a database keeps it.
      var isStored: Bool {
        switch self {
        case .integer, .text: true
        case .name, .computed: false
        }
      }
    }

    package var name: String
    package var kind: Kind

    /// Whether it identifies the row.
    package var isKey = false

    init(_ name: String, _ kind: Kind, isKey: Bool = false) {
      self.name = name
      self.kind = kind
      self.isKey = isKey
    }
  }

  /// The columns, in order.
  package var columns: [Column] {
    switch self {
    case .snapshots:
      [
        Column("id", .integer, isKey: true), Column("path", .text), Column("mark", .text),
        Column("executable", .text), Column("pid", .integer), Column("run", .integer),
        Column("objects", .integer), Column("bytes", .integer), Column("leaked_objects", .integer),
        Column("leaked_bytes", .integer),
      ]
    case .marks:
      [
        Column("snapshot_id", .integer), Column("name", .text), Column("generation", .integer),
        Column("nanoseconds", .integer),
      ]
    case .modules:
      [
        Column("snapshot_id", .integer), Column("path", .text), Column("build_id", .text),
        Column("start", .integer), Column("end", .integer),
      ]
    case .objects:
      [
        Column("id", .integer, isKey: true), Column("snapshot_id", .integer),
        Column("identity", .computed("address << 16 | ifnull(generation, 0)")),
        Column("address", .integer), Column("type_id", .integer),
        Column("type", .name), Column("kind", .text), Column("state", .text),
        Column("bytes", .integer), Column("generation", .integer), Column("mark", .name),
        Column("stack_id", .integer), Column("strong_count", .integer),
        Column("unowned_count", .integer), Column("weak_count", .integer),
        Column("is_alive", .integer), Column("is_reachable", .integer),
        Column("is_leaked", .integer), Column("dominator_id", .integer),
        Column("retained_objects", .integer), Column("retained_bytes", .integer),
      ]
    case .edges:
      [
        Column("source_id", .integer), Column("place", .integer), Column("target_id", .integer),
        Column("field_id", .integer), Column("field", .name), Column("strength", .name),
        Column("provenance", .name), Column("holds", .name),
      ]
    case .roots:
      [
        Column("id", .integer, isKey: true), Column("snapshot_id", .integer),
        Column("object_id", .integer), Column("kind", .text), Column("name", .text),
        Column("thread", .text), Column("strength", .text), Column("provenance", .text),
      ]
    case .findings:
      [
        Column("id", .integer, isKey: true), Column("snapshot_id", .integer),
        Column("fingerprint", .text), Column("kind", .text), Column("type", .text),
        Column("objects", .integer), Column("bytes", .integer), Column("retained_bytes", .integer),
        Column("cut", .text), Column("advice", .text), Column("file", .text),
        Column("line", .integer), Column("json", .text),
      ]
    case .findingObjects:
      [Column("finding_id", .integer), Column("object_id", .integer)]
    case .types:
      [
        Column("id", .integer, isKey: true), Column("name", .text), Column("module", .text),
        Column("counted_as", .text), Column("is_own", .integer),
      ]
    case .fields:
      [
        Column("id", .integer, isKey: true), Column("field", .text), Column("via", .text),
        Column("strength", .text), Column("provenance", .text), Column("holds", .integer),
      ]
    case .frames:
      [
        Column("id", .integer, isKey: true), Column("function", .text), Column("file", .text),
        Column("line", .integer), Column("module", .text), Column("is_inlined", .integer),
        Column("is_own", .integer), Column("is_allocator", .integer),
      ]
    case .stacks:
      [
        Column("id", .integer, isKey: true), Column("caller_id", .integer),
        Column("frame_id", .integer), Column("depth", .integer),
      ]
    }
  }
}

/// Takes the rows of a table: each cell in the order of the columns, then the end of the row.
///
/// Cells that a database doesn't keep come through ``name(_:)`` and ``named(_:)``, which a taker may ignore.
protocol RowTaker {
  mutating func integer(_ value: Int64)
  mutating func text(_ value: String)
  mutating func null()

  /// A text that many rows have: the text of a row of `texts`, in which a taker keeps how it writes it.
  mutating func text(_ value: @autoclosure () -> String, row: Int, of texts: inout RepeatedTexts)

  /// A word of 64 bits, as an address is: a number, or as reports write addresses where numbers may be read as doubles.
  mutating func word(_ value: UInt64)

  /// What a number in a column before stands for.
  mutating func name(_ value: @autoclosure () -> String, row: Int, of texts: inout RepeatedTexts)
  mutating func named(_ value: Int64)
  mutating func named(word: UInt64)

  /// - Throws: What ends the export.
  mutating func endRow() throws
}

extension RowTaker {
  mutating func integer(_ value: some BinaryInteger) { integer(Int64(clamping: value)) }
  mutating func flag(_ value: Bool) { integer(value ? 1 : 0) }

  /// A text; nothing for an empty one.
  mutating func text(orNull value: String?) {
    if let value, !value.isEmpty { text(value) } else { null() }
  }
}

/// Takes rows for what they teach: which types, fields and stacks there are.
struct NoRows: RowTaker {
  mutating func integer(_ value: Int64) {}
  mutating func text(_ value: String) {}
  mutating func text(
    _ value: @autoclosure () -> String, row: Int, of texts: inout RepeatedTexts
  ) {}
  mutating func null() {}
  mutating func word(_ value: UInt64) {}
  mutating func name(
    _ value: @autoclosure () -> String, row: Int, of texts: inout RepeatedTexts
  ) {}
  mutating func named(_ value: Int64) {}
  mutating func named(word: UInt64) {}
  mutating func endRow() throws {}
}
