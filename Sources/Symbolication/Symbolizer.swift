// Symbolizer: names for the addresses of a snapshot, from the files that its modules were loaded from.

internal import GraphPrimitives
public import SnapshotFormat

/// Turns the addresses of a snapshot into names, offline: the program need not run any more.
///
/// A module's file is used only if its build id is the one in the snapshot. What could not be named and
/// why is in ``diagnostics``. Files are opened when a name in them is first asked for and stay mapped
/// as long as the symbolizer lives.
///
/// Not thread-safe.
public final class Symbolizer: Symbolizing {
  private struct Module {
    var description: Snapshot.Module
    var name: String
    var symbols: ModuleSymbols?
    var problem: String?
    var isOpen = false
  }

  /// In ascending order of address.
  private var modules: [Module]
  private var files: DebugFiles

  /// What could not be done, in sentences without a full stop, each with the number of times.
  public private(set) var diagnostics: [String: Int] = [:]

  /// Creates a symbolizer for the modules of a snapshot.
  ///
  /// - Parameter debugDirectories: folders with debug files, by build id (`ab/cdef.debug`, with or
  ///   without `.build-id/` before) or as plain files.
  public init(modules: [Snapshot.Module], debugDirectories: [String] = []) {
    self.modules = modules.map { module in
      Module(
        description: module,
        name: module.path.split(separator: "/").last.map(String.init) ?? module.path)
    }
    self.modules.sort { $0.description.start < $1.description.start }
    files = DebugFiles(directories: debugDirectories)
  }

  public func frames(atReturnAddress address: UInt64) -> [SourceFrame] {
    frames(atInstruction: address == 0 ? 0 : address - 1, shownAs: address)
  }

  /// The functions at an instruction, such as a program counter from a register, innermost first.
  public func frames(atInstruction address: UInt64) -> [SourceFrame] {
    frames(atInstruction: address, shownAs: address)
  }

  private func frames(atInstruction address: UInt64, shownAs shown: UInt64) -> [SourceFrame] {
    guard let index = module(containing: address) else {
      return [SourceFrame(unnamed: shown, module: nil)]
    }
    let name = modules[index].name
    guard let symbols = open(index) else { return [SourceFrame(unnamed: shown, module: name)] }
    return symbols.rawFrames(at: address &- modules[index].description.bias).map { frame in
      SourceFrame(
        function: frame.name.map { symbols.text($0) } ?? Address(shown).description,
        file: frame.place.file, line: frame.place.line, module: name, isInlined: frame.isInlined)
    }
  }

  public func closure(at function: UInt64) -> ClosureName {
    let index = module(containing: function)
    guard let index, let symbols = open(index),
      let closure = symbols.closure(at: function &- modules[index].description.bias)
    else {
      return ClosureName(
        kind: .closure, name: "closure at \(Address(function))", file: nil, line: nil,
        module: index.map { modules[$0].name })
    }
    return ClosureName(
      kind: closure.kind, name: closure.text, file: closure.place.file, line: closure.place.line,
      module: modules[index].name)
  }

  public func captureNames(of function: UInt64, in context: ContextSize?) -> [String] {
    guard let index = module(containing: function), let symbols = open(index) else { return [] }
    return symbols.captureNames(of: function &- modules[index].description.bias, in: context)
  }

  public func variable(at address: UInt64) -> (name: String, offset: UInt64, module: String)? {
    guard let index = module(containing: address), let symbols = open(index) else { return nil }
    let place = address &- modules[index].description.bias
    guard let row = symbols.symbols.variables.row(containing: place) else { return nil }
    return (symbols.text(row.value), place - row.start, modules[index].name)
  }

  // MARK: - Modules

  private func module(containing address: UInt64) -> Int? {
    var low = 0
    var high = modules.count
    while low < high {
      let middle = (low + high) / 2
      if modules[middle].description.start <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, address < modules[low - 1].description.end else { return nil }
    return low - 1
  }

  /// The names of a module, opened on first use; nil, and a diagnostic counted, where it has none.
  private func open(_ index: Int) -> ModuleSymbols? {
    if !modules[index].isOpen {
      modules[index].isOpen = true
      let found = files.find(modules[index].description)
      modules[index].problem = found.problem
      if found.image != nil || found.debug != nil {
        let symbols = ModuleSymbols(
          name: modules[index].name, image: found.image, debugFile: found.debug)
        if symbols.symbols.isEmpty, symbols.debug == nil {
          modules[index].problem = "the file has no symbols; give --symbols or don't strip it"
        }
        modules[index].symbols = symbols
      }
    }
    if let problem = modules[index].problem {
      diagnostics["\(modules[index].name): \(problem)", default: 0] += 1
    }
    return modules[index].symbols
  }
}

extension SourceFrame {
  /// A frame of which only the address is known.
  fileprivate init(unnamed address: UInt64, module: String?) {
    self.init(
      function: Address(address).description, file: nil, line: nil, module: module, isInlined: false
    )
  }
}
