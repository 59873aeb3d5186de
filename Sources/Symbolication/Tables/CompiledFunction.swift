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
struct InlinedCall: Equatable {
  /// The entry that describes the call.
  var entry: UInt64
  var ranges: [Range<UInt64>]

  /// How many inlined calls it is inlined into.
  var depth: Int

  /// Behind the last call that was inlined into this one, as a place in the function's calls.
  var end = 0
}

/// A function that has code of its own, with the calls inlined into it.
///
/// What an entry says besides its code is read from `DebugInformation` where it is asked for: a function has many
/// inlined calls, and an address is in few of them.
final class CompiledFunction {
  /// The entry that describes the function.
  let entry: UInt64

  /// All inlined calls, each before those within it.
  let inlinedCalls: [InlinedCall]

  /// - Parameter calls: Each before those within it; their ends are found here.
  init(entry: UInt64, calls: [InlinedCall]) {
    self.entry = entry
    var calls = calls
    var open: [Int] = []
    for index in calls.indices {
      while let last = open.last, calls[last].depth >= calls[index].depth {
        calls[last].end = index
        open.removeLast()
      }
      open.append(index)
    }
    for index in open { calls[index].end = calls.count }
    inlinedCalls = calls
  }

  /// The inlined calls that an address is in, outermost first.
  ///
  /// - Complexity: O(inlined calls on the way).
  func inlinedCalls(at address: UInt64) -> [InlinedCall] {
    var result: [InlinedCall] = []
    var index = 0
    var end = inlinedCalls.count
    while index < end {
      if inlinedCalls[index].ranges.contains(where: { $0.contains(address) }) {
        result.append(inlinedCalls[index])
        end = inlinedCalls[index].end
        index += 1
      } else {
        index = inlinedCalls[index].end
      }
    }
    return result
  }
}
