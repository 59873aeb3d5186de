// Constructions: where the sources make objects of a type, which says how many there are and how long they live.

internal import SwiftSyntax

/// A place where an object is made.
struct Construction {
  enum Sink {
    /// Into a global variable, or a `static` one of another type.
    case global
    /// Into a property, when an object of the type with that name is made.
    case property(of: String)
    /// Into a property of something else, which has it from then on: `zone.delegate = ZoneDelegate()`.
    case member(String)
    case elsewhere
  }
  let sink: Sink
  let file: Int
}

/// Collects what a file makes.
final class ConstructionCollector: SyntaxVisitor {
  private let file: Int
  private var found: [String: [Construction]] = [:]

  /// The types whose objects assign themselves to a property of another object, by the property's name.
  private var selfAssigners: [String: Set<String>] = [:]

  private init(file: Int) {
    self.file = file
    super.init(viewMode: .sourceAccurate)
  }

  /// What a file makes, and who gives itself to others.
  ///
  /// The places are by the last part of the type's name. Where only `.init()` is written, it is known for variables
  /// with a written type.
  ///
  /// - Parameter number: that of the file.
  static func collect(
    in tree: SourceFileSyntax, number: Int
  ) -> (places: [String: [Construction]], selfAssigners: [String: Set<String>]) {
    let collector = ConstructionCollector(file: number)
    collector.walk(tree)
    return (collector.found, collector.selfAssigners)
  }

  override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
    if let assignment = Assignment(node), let path = assignment.target.path, path.count > 1,
      assignment.values.contains(where: { $0.bare.path == ["self"] })
    {
      selfAssigners[path[path.count - 1], default: []].insert(Self.typeName(around: Syntax(node)))
    }
    return .visitChildren
  }

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    let binding = node.parent?.parent?.as(PatternBindingSyntax.self)
    let annotation = binding?.typeAnnotation.map { TypeName($0.type) }
    let isPlain =
      node.calledExpression.as(MemberAccessExprSyntax.self)
      .map { $0.base == nil && $0.declName.baseName.text == "init" } ?? false
    guard let name = ExprSyntax(node).constructedType ?? (isPlain ? annotation?.name : nil),
      let last = name.split(separator: ".").last
    else { return .visitChildren }
    let sink: Construction.Sink
    if let binding, binding.isStored, annotation?.isOptional != true {
      sink = Self.sink(of: binding, type: String(last))
    } else if let assignment = node.parent?.parent?.as(SequenceExprSyntax.self).flatMap({
      Assignment($0)
    }),
      let path = assignment.target.path, path.count > 1, path[0] != "self" || path.count > 2
    {
      sink = .member(path[path.count - 1])
    } else {
      sink = .elsewhere
    }
    found[String(last), default: []].append(Construction(sink: sink, file: file))
    return .visitChildren
  }

  private static func sink(of binding: PatternBindingSyntax, type: String) -> Construction.Sink {
    guard let variable = binding.parent?.parent?.as(VariableDeclSyntax.self), !variable.isWeak
    else { return .elsewhere }
    if variable.parent?.parent?.parent?.is(SourceFileSyntax.self) == true { return .global }
    guard variable.parent?.is(MemberBlockItemSyntax.self) == true else { return .elsewhere }
    let owner = typeName(around: Syntax(variable))
    guard variable.modifiers.isTypeLevel else { return .property(of: owner) }
    // An instance that the class itself offers is told by its name: `preview` is one of many.
    return owner.split(separator: ".").last == type[...] ? .elsewhere : .global
  }

  /// The type that something is in, with those around it; empty outside of types.
  private static func typeName(around node: Syntax) -> String {
    var names: [String] = []
    var next = node.parent
    while let outer = next {
      if let name = outer.declaredTypeName { names.append(name) }
      next = outer.parent
    }
    return names.reversed().joined(separator: ".")
  }
}

extension Syntax {
  /// The name of the class, actor or value type that it declares or extends.
  fileprivate var declaredTypeName: String? {
    if let node = self.as(ClassDeclSyntax.self) { return node.name.text.unquoted }
    if let node = self.as(ActorDeclSyntax.self) { return node.name.text.unquoted }
    if let node = self.as(StructDeclSyntax.self) { return node.name.text.unquoted }
    if let node = self.as(EnumDeclSyntax.self) { return node.name.text.unquoted }
    if let node = self.as(ExtensionDeclSyntax.self) { return TypeName(node.extendedType).name }
    return nil
  }
}
