// Snapshot+Fields: how stored properties are declared, as far as it matters for what may be done about them.

extension Snapshot {
  /// How the places are declared that references lie in. Only those are listed of which a plain `var` would say
  /// too much; what is not listed is one, or nothing is known of it.
  public struct Fields: Sendable {
    /// Row in `types`: the type of the nodes that have the reference. Ascending.
    public var type: Column<UInt32>

    /// Row in `strings`: the name of the reference's label. Strictly ascending within a type.
    public var name: Column<UInt32>

    /// See ``FieldDeclaration``.
    public var declaration: Column<UInt8>

    public var rowCount: Int { type.count }

    public init(
      type: Column<UInt32> = Column(), name: Column<UInt32> = Column(),
      declaration: Column<UInt8> = Column()
    ) {
      self.type = type
      self.name = name
      self.declaration = declaration
    }
  }

  /// How the place is declared by which nodes of a type refer to something.
  ///
  /// - Parameters:
  ///   - type: A row of `types`.
  ///   - name: A row of `strings`: the name of the label.
  /// - Complexity: O(log *n*) for *n* rows.
  public func declaration(ofType type: UInt32, name: UInt32) -> FieldDeclaration {
    var low = 0
    var high = fields.rowCount
    while low < high {
      let middle = (low + high) / 2
      if (fields.type[middle], fields.name[middle]) < (type, name) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < fields.rowCount, fields.type[low] == type, fields.name[low] == name else {
      return .variable
    }
    return FieldDeclaration(rawValue: fields.declaration[low]) ?? .variable
  }
}

/// How the place of a reference is declared in the source. Raw values are those in the file.
public enum FieldDeclaration: UInt8, CaseIterable, BitwiseCopyable, Sendable {
  /// A stored property that is a `var` of a class's or class-bound protocol's type, or nothing is known of it.
  case variable = 0

  /// A stored property of a class that is a `let`.
  case constant = 1

  /// A stored property of a struct.
  case structure = 2

  /// The payload of a case of an enum.
  case payload = 3

  /// An element of a tuple.
  case tuple = 4

  /// A value of `Any` or of a protocol that structs can conform to.
  case existential = 5

  /// The value of a `Mutex`, or an atomic reference.
  case locked = 6

  /// A stored property that a superclass from the toolchain's libraries declares.
  case library = 7
}
