// PackedEnums: generic enums whose cases are told apart by bits that their payloads don't use.

internal import SnapshotFormat

/// The generic enums that the compiler has laid out itself, since their payloads are as large for any arguments.
///
/// Which payload such an enum has is told by bits that no payload uses, where there are some. The remote mirror
/// takes it for an enum that the runtime has laid out, which has a byte for it behind its payloads: it finds
/// the wrong case, and a size too large. The compiler lists these enums in a section of their own
/// (`swift5_mpenum`), which the mirror's interface in C has no way to be told of.
struct PackedEnums {
  /// Each enum by its module and its own name: what lies between may be an extension or a private context, which are
  /// spelled in several ways.
  private var _names: Set<String> = []

  var isEmpty: Bool { _names.isEmpty }

  /// Reads the lists of all modules.
  ///
  /// An entry is the place of the type's name, relative to its own; a word with the number of words from it on
  /// and, in bit 0, whether bits of payloads are used; then which bits these are.
  ///
  /// - Complexity: O(*n*) for *n* enums.
  init(of images: [LoadedImage], reader: MetadataReader) {
    let memory = reader.memory
    for range in images.compactMap({ $0.sections["swift5_mpenum"] }) {
      var entry = range.lowerBound
      while entry + 8 <= range.upperBound, let contents = memory.load(UInt32.self, at: entry + 4) {
        let words = contents >> 16
        if words == 0 { break }
        if contents & 1 != 0, let descriptor = Self._descriptor(ofEntry: entry, memory) {
          _names.insert(Self._key(reader.name(ofDescriptor: descriptor)))
        }
        entry += 4 + 4 * UInt64(words)
      }
    }
  }

  /// Whether a type is one of them, by the name that the mirror has for it; never for a type that isn't generic, which the
  /// mirror has a description of.
  func contains(name: String) -> Bool {
    name.contains("<") && _names.contains(Self._key(Self._withoutArguments(name)))
  }

  /// The type's descriptor, to which its mangled name has a symbolic reference.
  private static func _descriptor(ofEntry entry: UInt64, _ memory: TargetMemory) -> UInt64? {
    func relative(_ place: UInt64) -> UInt64? {
      memory.load(Int32.self, at: place).map { place &+ UInt64(bitPattern: Int64($0)) }
    }
    guard let name = relative(entry), let control = memory.load(UInt8.self, at: name) else {
      return nil
    }
    switch control {
    case 1: return relative(name + 1)
    case 2: return relative(name + 1).flatMap { memory.word(at: $0) }
    default: return nil
    }
  }

  private static func _withoutArguments(_ name: String) -> String {
    var depth = 0
    var plain = ""
    for character in name {
      if character == "<" { depth += 1 }
      if depth == 0 { plain.append(character) }
      if character == ">" { depth -= 1 }
    }
    return plain
  }

  /// `App` and `State` of `App.Store.State`, `(extension in Kit):App.Store.State` and
  /// `App.Store.(State in _5EED)`.
  private static func _key(_ name: String) -> String {
    var name = name[...]
    if name.hasPrefix("("), let end = name.firstRange(of: "):") { name = name[end.upperBound...] }
    let parts = name.split(separator: ".")
    guard let first = parts.first, let last = parts.last else { return "" }
    let own = last.prefix { $0 != " " }.drop { $0 == "(" }
    return first + "." + own
  }
}
