// ExportTable: the tables of an export: what they are called, which columns they have. docs/export.md tells their meaning.

/// A table that an export can have.
package enum ExportTable: String, CaseIterable, Sendable {
  case snapshots
  case marks
  case modules
  case objects
  case edges
  case roots
  case retained
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

      /// A text that stands for the number in the column before it: for formats in which nothing can be looked up. A database
      /// has it in another table.
      case name
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
        Column("identity", .integer), Column("address", .integer), Column("type_id", .integer),
        Column("type", .name), Column("kind", .text), Column("state", .text),
        Column("bytes", .integer), Column("generation", .integer), Column("mark", .name),
        Column("stack_id", .integer), Column("strong_count", .integer),
        Column("unowned_count", .integer), Column("weak_count", .integer),
        Column("is_alive", .integer), Column("is_reachable", .integer),
        Column("is_leaked", .integer),
      ]
    case .edges:
      [
        Column("source_id", .integer), Column("place", .integer), Column("target_id", .integer),
        Column("field_id", .integer), Column("field", .name), Column("strength", .text),
        Column("provenance", .text), Column("holds", .integer),
      ]
    case .roots:
      [
        Column("id", .integer, isKey: true), Column("snapshot_id", .integer),
        Column("object_id", .integer), Column("kind", .text), Column("name", .text),
        Column("thread", .text), Column("strength", .text), Column("provenance", .text),
      ]
    case .retained:
      [
        Column("object_id", .integer, isKey: true), Column("dominator_id", .integer),
        Column("objects", .integer), Column("bytes", .integer),
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
      [Column("id", .integer, isKey: true), Column("field", .text), Column("via", .text)]
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
/// Cells of kind `name` come through ``name(_:)``, which a taker may leave unanswered.
protocol RowTaker {
  mutating func integer(_ value: Int64)
  mutating func text(_ value: String)
  mutating func null()

  /// A word of 64 bits, as an address is: a number, or as reports write addresses where numbers may be read as doubles.
  mutating func word(_ value: UInt64)

  /// What the number in the column before stands for.
  mutating func name(_ value: @autoclosure () -> String)

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
  mutating func null() {}
  mutating func word(_ value: UInt64) {}
  mutating func name(_ value: @autoclosure () -> String) {}
  mutating func endRow() throws {}
}
