// ModuleSymbols: all that is known of one module, by addresses in its file.

internal import Glibc

/// The names in one module. Addresses are those of the file, before the loader moved it.
///
/// Symbols are read when the first name is asked for, debug information when the first line is.
///
/// Not thread-safe.
final class ModuleSymbols {
  /// The name of the module's file: `App`.
  let name: String

  private let image: ELFFile?
  private let debugFile: ELFFile?
  private var nameByPointer: [UnsafePointer<CChar>: SwiftNameOrText] = [:]

  private struct SwiftNameOrText {
    var text: String
    var swift: SwiftName?
  }

  init(name: String, image: ELFFile?, debugFile: ELFFile?) {
    self.name = name
    self.image = image
    self.debugFile = debugFile
  }

  private(set) lazy var symbols: SymbolTable = {
    var files: [ELFFile] = []
    if let image { files.append(image) }
    if let debugFile, debugFile !== image { files.append(debugFile) }
    return SymbolTable(files: files)
  }()

  private(set) lazy var debug: DebugInformation? = debugFile.flatMap { DebugInformation(file: $0) }

  // MARK: - Names

  /// A linker's name, written as people write it.
  func text(_ name: UnsafePointer<CChar>) -> String { demangled(name).text }

  /// A linker's name taken apart; nil where it isn't Swift's.
  func swiftName(_ name: UnsafePointer<CChar>) -> SwiftName? { demangled(name).swift }

  private func demangled(_ name: UnsafePointer<CChar>) -> SwiftNameOrText {
    if let known = nameByPointer[name] { return known }
    var result: SwiftNameOrText
    if isSwiftMangled(name), let long = demangleSwift(name) {
      let swift = SwiftName(demangled: long)
      result = SwiftNameOrText(text: swift.text, swift: swift)
    } else if name[0] == 0x5f, name[1] == 0x5a, let text = demangleCxx(name) {
      result = SwiftNameOrText(text: text, swift: nil)
    } else {
      let text = String(cString: name)
      result = SwiftNameOrText(text: isTopLevelCode(text) ? "main" : text, swift: nil)
    }
    if result.text.isEmpty { result.text = String(cString: name) }
    nameByPointer[name] = result
    return result
  }

  /// The linker's name of the function whose code an address is in.
  func functionName(at address: UInt64) -> UnsafePointer<CChar>? {
    if let symbol = symbols.functions.row(containing: address) { return symbol.value }
    guard let debug, let function = debug.function(at: address) else { return nil }
    return debug.functionName(ofEntry: function.entry)
  }

  // MARK: - Frames

  /// A frame with the linker's name, before it is written for people.
  struct RawFrame {
    var name: UnsafePointer<CChar>?
    var place: SourcePlace
    var isInlined: Bool
  }

  /// The functions that an instruction is in, innermost first.
  func rawFrames(at address: UInt64) -> [RawFrame] {
    let outer = functionName(at: address)
    var place = debug?.place(at: address) ?? SourcePlace()
    var result: [RawFrame] = []
    if let debug, let function = debug.function(at: address) {
      for call in function.inlinedCalls(at: address).reversed() {
        result.append(
          RawFrame(
            name: debug.functionName(ofEntry: call.entry), place: place, isInlined: true))
        place = debug.callSite(of: call, inUnitOf: address)
      }
    }
    result.append(RawFrame(name: outer, place: place, isInlined: false))
    return result
  }

  // MARK: - Code

  /// The code of a function, bounded; empty where the file with the code isn't there.
  func code(of addresses: Range<UInt64>) -> [UInt8] {
    image?.bytes(
      at: addresses.lowerBound,
      count: Int(clamping: min(addresses.upperBound - addresses.lowerBound, 1 << 14))) ?? []
  }

  /// The function that a description of an asynchronous function leads to: its first word is the
  /// distance to the code.
  func asyncFunction(describedAt address: UInt64) -> UInt64? {
    guard let bytes = image?.bytes(at: address, count: 4) else { return nil }
    let distance = bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return address &+ UInt64(bitPattern: Int64(Int32(bitPattern: distance)))
  }

  /// The pointer in the module's data at an address, after relocation.
  func pointer(at address: UInt64) -> UInt64? {
    if let value = image?.relocatedPointer(at: address) { return value }
    guard let bytes = image?.bytes(at: address, count: 8) else { return nil }
    let value = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return value == 0 ? nil : value
  }

  /// Where the tables lie through which methods are called, by the name of the type.
  struct DispatchTables {
    /// The metadata of classes: `main.Model`.
    var classes: [String: UInt64] = [:]

    /// The witness tables for a protocol, of all types that conform.
    var witnesses: [String: [UInt64]] = [:]
  }

  /// - Complexity: O(*n*), *n* being the number of variables, when first asked for.
  private(set) lazy var dispatchTables: DispatchTables = {
    var result = DispatchTables()
    for row in symbols.variables.rows where isSwiftMangled(row.value) {
      let length = strlen(row.value)
      guard length > 4 else { continue }
      switch (row.value[length - 2], row.value[length - 1]) {
      case (0x43, 0x4e):  // CN
        if let text = swiftName(row.value)?.text.dropping(prefix: "type metadata for ") {
          result.classes[text] = row.start
        }
      case (0x57, 0x50):  // WP
        if let text = demangleSwift(row.value), let colon = text.firstRange(of: " : ") {
          let name = SwiftName(demangled: String(text[colon.upperBound...])).text
          let type = name.firstRange(of: " in ").map { String(name[..<$0.lowerBound]) } ?? name
          result.witnesses[type, default: []].append(row.start)
        }
      default: break
      }
    }
    return result
  }()
}

extension String {
  /// What follows a prefix; nil where the string doesn't start with it.
  fileprivate func dropping(prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}
