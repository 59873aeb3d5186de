// Symbolizing: what a reader asks for names. It knows addresses and modules, and no graph.

internal import GraphPrimitives

/// A function in the source, as one frame of a stack.
public struct SourceFrame: Hashable, Sendable {
  /// The demangled name, without module paths that say nothing: `App.Model.init()`,
  /// `closure #1 in App.Model.start()`. `0x7f...` where there is no symbol.
  public var function: String

  /// The file as the compiler named it; nil without debug information.
  public var file: String?

  /// The line, counted from 1; nil without debug information.
  public var line: Int?

  /// The name of the module's file (`App`, `libFoundation.so`); nil for code outside any module.
  public var module: String?

  /// Whether the compiler inlined this function into the next frame.
  public var isInlined: Bool

  public init(function: String, file: String?, line: Int?, module: String?, isInlined: Bool) {
    self.function = function
    self.file = file
    self.line = line
    self.module = module
    self.isInlined = isInlined
  }
}

/// What the function of a closure value is.
public struct ClosureName: Hashable, Sendable {
  /// What kind of function a closure value calls.
  public enum Kind: Hashable, Sendable {
    /// A closure in the source.
    case closure

    /// A method that was passed as a function: `onNext: handle`, which captures `self` unseen.
    case methodReference

    /// A function that the compiler made between two calling conventions.
    case thunk

    /// Anything else with a name.
    case function
  }

  public var kind: Kind

  /// `closure #1 in App.Model.start()`, `App.Model.handle(_:)`.
  public var name: String
  public var file: String?
  public var line: Int?
  public var module: String?

  public init(kind: Kind, name: String, file: String?, line: Int?, module: String?) {
    self.kind = kind
    self.name = name
    self.file = file
    self.line = line
    self.module = module
  }
}

/// How large a closure's context is.
public struct ContextSize: Hashable, Sendable {
  /// The bytes behind the header; where the allocator told them, up to 15 more than were asked for.
  public var bytes: UInt64

  public init(bytes: UInt64) { self.bytes = bytes }
}

/// Turns addresses of a captured program into names.
///
/// Not thread-safe: implementations keep the files open and cache what they have read.
public protocol Symbolizing: AnyObject {
  /// The functions at a return address, innermost first: inlined frames, then the function that was
  /// compiled. Looks up the instruction before the address. Never empty.
  func frames(atReturnAddress address: UInt64) -> [SourceFrame]

  /// The function that starts at or contains an address, as the name of a closure.
  func closure(at function: UInt64) -> ClosureName

  /// The names of the values that a closure captures, in the order in which they lie in its context;
  /// empty where they are not known, as is each name that is not.
  ///
  /// From debug information. Which of the values are in a context can be told for sure only where its size is known.
  ///
  /// - Parameter context: The context that the names are for; nil for any.
  func captureNames(of function: UInt64, in context: ContextSize?) -> [String]

  /// What could not be done, in sentences without a full stop, each with the number of times.
  var diagnostics: [String: Int] { get }

  /// The variable that an address in a module's data belongs to, demangled (`static App.Hub.shared`),
  /// with the offset into it where that is not zero; nil where no symbol covers it.
  func variable(at address: UInt64) -> (name: String, offset: UInt64, module: String)?
}

/// A symbolizer without names, for `--no-symbols` and tests.
public final class NoSymbols: Symbolizing {
  public init() {}

  public func frames(atReturnAddress address: UInt64) -> [SourceFrame] {
    [
      SourceFrame(
        function: Address(address).description, file: nil, line: nil, module: nil, isInlined: false)
    ]
  }

  public func closure(at function: UInt64) -> ClosureName {
    ClosureName(
      kind: .closure, name: "closure at \(Address(function))", file: nil, line: nil, module: nil)
  }

  public var diagnostics: [String: Int] { [:] }

  public func variable(at address: UInt64) -> (name: String, offset: UInt64, module: String)? {
    nil
  }
}

extension Symbolizing {
  /// No names, for symbolizers that know none.
  public func captureNames(of function: UInt64, in context: ContextSize?) -> [String] { [] }

  /// The names of what a closure captures, whatever its context.
  public func captureNames(of function: UInt64) -> [String] { captureNames(of: function, in: nil) }

  /// Nothing, for symbolizers that can't fail.
  public var diagnostics: [String: Int] { [:] }
}
