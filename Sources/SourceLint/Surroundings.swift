// Surroundings: a type as the functions in it see it, with what is found out of it once for all of them.

/// A type and those that it inherits from.
final class TypeSurroundings {
  /// Nearest first; empty outside of types.
  let ancestry: [TypeDeclaration]

  /// Where the type ends what its properties keep going.
  private(set) lazy var endings = TypeEndings(ancestry)

  init(_ ancestry: [TypeDeclaration]) { self.ancestry = ancestry }
}

/// The surroundings of all types: one of each, since a type is asked for once for each function in it.
///
/// For one thread.
final class SurroundingsByType {
  private let index: DeclarationIndex
  private var known: [DeclarationIndex.TypeKey: TypeSurroundings] = [:]

  init(_ index: DeclarationIndex) { self.index = index }

  /// - Parameter name: with the names of the types around it; empty outside of types.
  func of(_ name: String, from module: String) -> TypeSurroundings {
    let key = DeclarationIndex.TypeKey(module: module, name: name)
    if let surroundings = known[key] { return surroundings }
    let made = TypeSurroundings(name.isEmpty ? [] : index.ancestry(of: name, from: module))
    known[key] = made
    return made
  }
}
