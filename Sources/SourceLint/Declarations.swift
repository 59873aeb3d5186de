// Declarations: what the sources declare, collected over all files before a rule is applied.

internal import SwiftSyntax

/// A stored property of a type.
struct PropertyDeclaration {
  let name: String

  /// The name of its type without optionality and generic arguments, where it can be read.
  let typeName: String?
  let isWeak: Bool

  /// Whether its type is written as that of a function.
  let isFunction: Bool
  let isVariable: Bool
  let isOptional: Bool
  let node: PatternBindingSyntax
  let file: Int
}

/// A `static` or `class` variable of a type.
struct TypeLevelProperty {
  /// The name of its type, where it can be read.
  let typeName: String?

  /// Whether it has memory of its own, which lives as long as the program.
  let isStored: Bool
}

/// A function, initializer or deinitializer.
struct FunctionDeclaration {
  struct Parameter {
    let label: String?
    let name: String

    /// Whether a closure may be passed that outlives the call.
    let isEscaping: Bool
    let isAsync: Bool

    /// Whether a call may leave it out.
    let isOptional: Bool

    /// Its type's name; see ``TypeName``.
    let typeName: String?
  }

  /// Which function it is.
  struct ID: Hashable {
    let file: Int
    let offset: Int
  }

  let id: ID

  /// `init` and `deinit` for those.
  let name: String
  let isTypeLevel: Bool
  let isPrivate: Bool
  let parameters: [Parameter]

  /// The name of the type that it returns; see ``TypeName``.
  let resultTypeName: String?
  let body: CodeBlockSyntax?

  /// The type that it is a member of; empty for a free function.
  let owner: String
}

/// All that is declared of a type, in its own declaration and in extensions.
struct TypeDeclaration {
  enum Kind { case object, value, protocolType, unknown }

  /// Its name with those of the types around it.
  let name: String
  var kind = Kind.unknown
  var inherited: [String] = []
  var properties: [String: PropertyDeclaration] = [:]

  /// The types of computed properties, where they can be read.
  var computed: [String: String] = [:]
  var computedNames: Set<String> = []

  /// The `static` and `class` variables.
  var typeLevel: [String: TypeLevelProperty] = [:]
  private(set) var functions: [FunctionDeclaration] = []

  /// The positions in ``functions``, by name.
  private var positions: [String: [Int]] = [:]

  /// Cases of an enum that a closure can be the payload of.
  var closureCases: Set<String> = []

  /// Whether a protocol can only be adopted by classes.
  var isClassBound = false

  /// Whether the system makes its one instance when the program begins, and keeps it.
  var isApplication = false

  init(name: String) { self.name = name }

  mutating func add(_ function: FunctionDeclaration) {
    positions[function.name, default: []].append(functions.count)
    functions.append(function)
  }

  func functions(named name: String) -> [FunctionDeclaration] {
    (positions[name] ?? []).map { functions[$0] }
  }
}

/// The declarations of all files.
struct DeclarationIndex {
  private(set) var files: [ParsedFile] = []

  /// By module and by the name with those of the types around it.
  private(set) var types: [TypeKey: TypeDeclaration] = [:]

  /// The modules that declare a type, by its name.
  private(set) var modulesByName: [String: Set<String>] = [:]
  private(set) var freeFunctions: [String: [FunctionDeclaration]] = [:]

  /// Where objects of a type are made, by the name that is written there.
  private(set) var constructions: [String: [Construction]] = [:]

  /// The types of objects that are made for a property of another object, by the property's name.
  private(set) var madeForProperty: [String: Set<String>] = [:]

  /// The types whose objects assign themselves to a property of another object, by the property's name.
  private(set) var selfAssigners: [String: Set<String>] = [:]

  /// What any type inherits from, as it is written.
  private(set) var inheritedNames: Set<String> = []

  /// The enum cases with a closure, by module.
  private(set) var closureCases: [String: Set<String>] = [:]

  struct TypeKey: Hashable {
    let module: String
    let name: String
  }

  mutating func add(_ file: ParsedFile) {
    let collector = DeclarationCollector(file: files.count)
    collector.walk(file.tree)
    files.append(file)
    for (name, part) in collector.types {
      inheritedNames.formUnion(part.inherited)
      let key = TypeKey(module: file.module, name: name)
      modulesByName[name, default: []].insert(file.module)
      types[key, default: TypeDeclaration(name: name)].merge(part)
      closureCases[file.module, default: []].formUnion(part.closureCases)
    }
    for function in collector.freeFunctions {
      freeFunctions[function.name, default: []].append(function)
    }
    let made = ConstructionCollector.collect(in: file.tree, number: files.count - 1)
    selfAssigners.merge(made.selfAssigners) { $0.union($1) }
    for (name, places) in made.places {
      constructions[name, default: []] += places
      for case .member(let property) in places.map(\.sink) {
        madeForProperty[property, default: []].insert(name)
      }
    }
  }

  /// A type as it is seen from a module: its own, else the only one of that name.
  func type(_ name: String, from module: String) -> TypeDeclaration? {
    if let own = types[TypeKey(module: module, name: name)] { return own }
    guard let modules = modulesByName[name], modules.count == 1, let only = modules.first else {
      return nil
    }
    return types[TypeKey(module: only, name: name)]
  }

  /// A type and those that it inherits from, nearest first.
  func ancestry(of name: String, from module: String) -> [TypeDeclaration] {
    var names = [name]
    var seen: Set<String> = []
    var all: [TypeDeclaration] = []
    while let next = names.popLast() {
      guard seen.insert(next).inserted, let type = type(next, from: module) else { continue }
      all.append(type)
      names += type.inherited
    }
    return all
  }
}

extension TypeDeclaration {
  fileprivate mutating func merge(_ other: TypeDeclaration) {
    if other.kind != .unknown { kind = other.kind }
    inherited += other.inherited
    properties.merge(other.properties) { first, _ in first }
    computed.merge(other.computed) { first, _ in first }
    computedNames.formUnion(other.computedNames)
    typeLevel.merge(other.typeLevel) { first, _ in first }
    for function in other.functions { add(function) }
    closureCases.formUnion(other.closureCases)
    isClassBound = isClassBound || other.isClassBound
    isApplication = isApplication || other.isApplication
  }
}

/// What the object of a whole application adopts.
private let applicationProtocols: Set = [
  "UIApplicationDelegate", "NSApplicationDelegate", "WKApplicationDelegate", "WKExtensionDelegate",
]
private let entryPointAttributes: Set = ["main", "UIApplicationMain", "NSApplicationMain"]

/// Collects the declarations of one file.
private final class DeclarationCollector: SyntaxVisitor {
  private let file: Int
  private(set) var types: [String: TypeDeclaration] = [:]
  private(set) var freeFunctions: [FunctionDeclaration] = []
  private var enclosing: [String] = []

  init(file: Int) {
    self.file = file
    super.init(viewMode: .sourceAccurate)
  }

  private var owner: String { enclosing.joined(separator: ".") }

  private func enter(
    _ name: String, _ kind: TypeDeclaration.Kind, _ inheritance: InheritanceClauseSyntax?
  ) {
    enclosing.append(name)
    let inherited = inheritance?.inheritedTypes.compactMap { TypeName($0.type).name } ?? []
    var part = types[owner] ?? TypeDeclaration(name: owner)
    if kind != .unknown { part.kind = kind }
    part.inherited += inherited
    if kind == .protocolType,
      inherited.contains(where: { ["AnyObject", "class", "Actor"].contains($0) })
    {
      part.isClassBound = true
    }
    if !applicationProtocols.isDisjoint(with: inherited) { part.isApplication = true }
    types[owner] = part
  }

  override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(node.name.text.unquoted, .object, node.inheritanceClause)
    if node.attributes.names.contains(where: entryPointAttributes.contains) {
      types[owner]?.isApplication = true
    }
    return .visitChildren
  }
  override func visitPost(_ node: ClassDeclSyntax) { enclosing.removeLast() }
  override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(node.name.text.unquoted, .object, node.inheritanceClause)
    return .visitChildren
  }
  override func visitPost(_ node: ActorDeclSyntax) { enclosing.removeLast() }
  override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(node.name.text.unquoted, .value, node.inheritanceClause)
    if node.attributes.names.contains("main") { types[owner]?.isApplication = true }
    return .visitChildren
  }
  override func visitPost(_ node: StructDeclSyntax) { enclosing.removeLast() }
  override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(node.name.text.unquoted, .value, node.inheritanceClause)
    return .visitChildren
  }
  override func visitPost(_ node: EnumDeclSyntax) { enclosing.removeLast() }
  override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(node.name.text.unquoted, .protocolType, node.inheritanceClause)
    // `where Self: Screen` is another way to write what it inherits from.
    for requirement in node.genericWhereClause?.requirements ?? [] {
      if case .conformanceRequirement(let part) = requirement.requirement,
        TypeName(part.leftType).name == "Self", let name = TypeName(part.rightType).name
      {
        types[owner]?.inherited.append(name)
      }
    }
    return .visitChildren
  }
  override func visitPost(_ node: ProtocolDeclSyntax) { enclosing.removeLast() }
  override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(TypeName(node.extendedType).name ?? "?", .unknown, node.inheritanceClause)
    return .visitChildren
  }
  override func visitPost(_ node: ExtensionDeclSyntax) { enclosing.removeLast() }

  override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind {
    let parameters = node.parameterClause?.parameters.map { $0.type } ?? []
    if parameters.contains(where: { TypeName($0).isFunction }) {
      types[owner]?.closureCases.insert(node.name.text.unquoted)
    }
    return .skipChildren
  }

  override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
    guard !enclosing.isEmpty, node.parent?.is(MemberBlockItemSyntax.self) == true else {
      return .visitChildren
    }
    for binding in node.bindings {
      guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else { continue }
      let name = pattern.identifier.text.unquoted
      let type = binding.typeAnnotation.map { TypeName($0.type) }
      let typeName = type?.name ?? binding.initializer?.value.constructedType
      if node.modifiers.isTypeLevel {
        types[owner]?.typeLevel[name] = TypeLevelProperty(
          typeName: typeName, isStored: binding.isStored)
        continue
      }
      guard binding.isStored else {
        types[owner]?.computed[name] = typeName
        // A protocol says nothing of memory.
        if types[owner]?.kind != .protocolType { types[owner]?.computedNames.insert(name) }
        continue
      }
      types[owner]?.properties[name] = PropertyDeclaration(
        name: name, typeName: typeName,
        isWeak: node.isWeak, isFunction: type?.isFunction ?? false,
        isVariable: node.bindingSpecifier.text == "var", isOptional: type?.isOptional ?? false,
        node: binding, file: file)
    }
    return .visitChildren
  }

  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
    add(
      node.name.text.unquoted, node.modifiers, node.signature.parameterClause, node.body, of: node,
      returning: node.signature.returnClause.flatMap { TypeName($0.type).name })
    // What a body declares is the body's own.
    return .skipChildren
  }
  override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
    add("init", node.modifiers, node.signature.parameterClause, node.body, of: node)
    return .skipChildren
  }
  override func visit(_ node: DeinitializerDeclSyntax) -> SyntaxVisitorContinueKind {
    add("deinit", node.modifiers, nil, node.body, of: node)
    return .skipChildren
  }
  override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  private func add(
    _ name: String, _ modifiers: DeclModifierListSyntax, _ clause: FunctionParameterClauseSyntax?,
    _ body: CodeBlockSyntax?, of node: some SyntaxProtocol, returning resultTypeName: String? = nil
  ) {
    let parameters = clause?.parameters.map { parameter in
      let type = TypeName(parameter.type)
      let label = parameter.firstName.text
      return FunctionDeclaration.Parameter(
        label: label == "_" ? nil : label.unquoted,
        name: (parameter.secondName ?? parameter.firstName).text.unquoted,
        isEscaping: type.isEscaping, isAsync: type.isAsync,
        isOptional: parameter.defaultValue != nil || parameter.ellipsis != nil, typeName: type.name)
    }
    let function = FunctionDeclaration(
      id: .init(file: file, offset: node.position.utf8Offset), name: name,
      isTypeLevel: modifiers.isTypeLevel,
      isPrivate: modifiers.has("private") || modifiers.has("fileprivate"),
      parameters: parameters ?? [], resultTypeName: resultTypeName, body: body, owner: owner)
    if enclosing.isEmpty {
      freeFunctions.append(function)
    } else {
      types[owner]?.add(function)
    }
  }
}
