// EmptyType: whether a type that debug information gives no size has none.

extension FunctionDeclaration.Room {
  /// The room that values of a type take for which debug information has a size of zero.
  ///
  /// An empty struct has that size, and so has what depends on a generic parameter, whose size only the running
  /// program knows. A generic parameter itself, an associated type of one or an optional of them counts as room: a
  /// closure captures it whatever it turns out to be.
  ///
  ///     FunctionDeclaration.Room(ofEmpty: "$s3App5EmptyVD")       // .none
  ///     FunctionDeclaration.Room(ofEmpty: "$sxD")                 // .some, T
  ///     FunctionDeclaration.Room(ofEmpty: "$s3App7PhantomVyxGD")  // .unknown, Phantom<T>
  ///
  /// - Parameter type: The type's linker's name; empty where it has none.
  init(ofEmpty type: String) {
    guard let text = type.withCString({ demangleSwift($0) }), !text.isEmpty else {
      self = .unknown
      return
    }
    var inner = text[...]
    while inner.hasPrefix("Swift.Optional<"), inner.hasSuffix(">") {
      inner = inner.dropFirst("Swift.Optional<".count).dropLast()
    }
    if Self.isOfParameter(inner) {
      self = .some
      return
    }
    // A path of names begins with a module, or with a parameter.
    let paths = text.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }
    let isDependent = paths.contains { Self.isOfParameter($0) }
    self = isDependent ? .unknown : .none
  }

  /// Whether a name is one that the demangler gives to a generic parameter, `A`, `B1`, or to an associated type of
  /// one, `A.App.Source.Item`.
  private static func isOfParameter(_ name: Substring) -> Bool {
    guard let head = name.split(separator: ".").first, let first = head.first, first.isASCII,
      first.isUppercase
    else { return false }
    return head.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
      && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
  }
}
