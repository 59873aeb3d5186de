// TestLibraries: which objects a test library made for itself.

internal import CMemoryGraphHooks
internal import GraphReport

/// Tells the objects that Swift Testing or XCTest made for itself, in the task of a test, from the test's own.
///
/// Such an object is one that code of the library asked for, nobody's code between it and the allocator but
/// the runtime's and that of Foundation, and whose type is none of the test's. What the test's code asks for counts
/// always, also when the library has called it, as the closure of a `confirmation` is. Where it is not known
/// who asked, as with a library that is linked into the test's program, the object counts.
struct TestLibraries {
  /// Whose code lies in a file.
  private enum Owner {
    case library
    case system
    case program
  }

  private static let _files = ["libTesting", "lib_Testing", "libXCTest"]

  private var _owners: [UInt64: Owner] = [:]
  private var _asked: [UInt32: Bool] = [:]

  /// Whether an object is a library's own.
  ///
  /// - Parameter isClass: whether the type is a class; else it is what a closure, a box or a task begins with.
  /// - Complexity: O(frames of the stack) for the first object with its stack and of its type.
  mutating func own(_ block: memory_graph_survivor, type: UInt64, isClass: Bool) -> Bool {
    _haveAsked(for: block.stack) && !_isOfProgram(type, isClass: isClass)
  }

  private mutating func _haveAsked(for stack: UInt32) -> Bool {
    if let known = _asked[stack] { return known }
    let frames = [UInt64](unsafeUninitializedCapacity: 256) { buffer, count in
      guard let base = buffer.baseAddress else { return }
      count = min(memory_graph_stack_frames(stack, base, buffer.count), buffer.count)
    }
    var asking = Owner.system
    for frame in frames where asking == .system {
      // A return address may be the first of the next function.
      asking = _owner(of: frame - 1)
    }
    _asked[stack] = asking == .library
    return asking == .library
  }

  /// Whether a type is one of the program's. A type without a place of its own, as the runtime makes them for
  /// boxes, is nobody's.
  private mutating func _isOfProgram(_ type: UInt64, isClass: Bool) -> Bool {
    if !isClass { return _file(of: type) != nil && _owner(of: type) == .program }
    // Of a generic class there is one description, in the file of its source.
    guard let description = Survivors.word(at: type + 40) else { return true }
    return _owner(of: description) == .program
  }

  private mutating func _owner(of address: UInt64) -> Owner {
    if let known = _owners[address] { return known }
    let owner: Owner
    if let file = _file(of: address) {
      owner =
        Self._files.contains { file.hasPrefix($0) }
        ? .library : OwnCode.isSystem(file: file) ? .system : .program
    } else {
      owner = .program
    }
    _owners[address] = owner
    return owner
  }

  /// The name of the file that an address lies in, empty for the executable.
  private func _file(of address: UInt64) -> Substring? {
    memory_graph_image(address).map { String(cString: $0).split(separator: "/").last ?? "" }
  }
}
