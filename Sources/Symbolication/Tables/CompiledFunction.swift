// CompiledFunction: what debug information says of a function's code, calls inlined into it included.

/// A function as the source declares it.
struct FunctionDeclaration {
  /// The linker's name, or the plain one; it points into the file. Nil for none.
  var name: UnsafePointer<CChar>?
  var place: SourcePlace

  /// The named parameters in order; for closures the captures follow the parameters in the source.
  var parameters: [Parameter]

  struct Parameter: Hashable {
    var name: String

    /// Where the variable is declared, for a capture outside of the closure.
    var line: Int?

    /// Whether the compiler made it, as it does `self`.
    var isArtificial: Bool

    var room: Room

    /// How many bytes a closure's context has for it; nil where that is not known.
    var bytes: Int?
  }

  /// Whether a value takes room in memory, as far as its type tells.
  enum Room: Hashable {
    case some

    /// An empty struct, `Void`, the type of a struct: a closure that captures one has nothing of it.
    case none

    /// A type that depends on a generic parameter.
    case unknown
  }
}

/// A function whose code was put into its caller's.
struct InlinedCall {
  var declaration: FunctionDeclaration
  var ranges: [Range<UInt64>]

  /// The place of the call in the function that it was inlined into.
  var callSite: SourcePlace

  /// The calls that were inlined into this one.
  var inlined: [InlinedCall]
}

/// A function that has code of its own.
final class CompiledFunction {
  let declaration: FunctionDeclaration
  let ranges: [Range<UInt64>]
  let inlined: [InlinedCall]

  init(declaration: FunctionDeclaration, ranges: [Range<UInt64>], inlined: [InlinedCall]) {
    self.declaration = declaration
    self.ranges = ranges
    self.inlined = inlined
  }

  /// The inlined calls that an address is in, outermost first.
  ///
  /// - Complexity: O(inlined calls on the way).
  func inlinedCalls(at address: UInt64) -> [InlinedCall] {
    var result: [InlinedCall] = []
    var level = inlined
    while let call = level.first(where: { $0.ranges.contains { $0.contains(address) } }) {
      result.append(call)
      level = call.inlined
    }
    return result
  }

  /// All inlined calls, each before those within it.
  var allInlinedCalls: [InlinedCall] {
    var result: [InlinedCall] = []
    func add(_ calls: [InlinedCall]) {
      for call in calls {
        result.append(call)
        add(call.inlined)
      }
    }
    add(inlined)
    return result
  }
}
