// DebugInformation: the compilation units of a file, found by address, and what lies in them.

internal import CLibdw

/// A place in the source.
struct SourcePlace: Hashable {
  /// As the compiler named it; nil for code that is in no file.
  var file: String?

  /// Counted from 1; nil for code that the compiler made.
  var line: Int?
}

/// The debug information of one file.
///
/// swiftc writes no `.debug_aranges`, without which libdw finds no unit by address, and libdw's own
/// search for scopes reads the whole unit for each address. So the ranges of all units are indexed once,
/// the functions of a unit when an address in it is first asked for, and the inlined calls of a function
/// likewise.
///
/// Not thread-safe. Must not outlive the file, which it keeps open.
final class DebugInformation {
  private let file: ELFFile
  private let dwarf: OpaquePointer

  /// The bytes of all entries, as libdw has them, which are the file's where they aren't compressed.
  private let entries: UnsafeRawBufferPointer
  private var unitsByRange: IntervalTable<Int>
  private var units: [Unit]
  private var stringByPointer: [UnsafePointer<CChar>: String] = [:]

  private struct Unit {
    var die: Dwarf_Die

    /// Row in `functions`, by range; nil until it is asked for.
    var functionsByRange: IntervalTable<Dwarf_Off>?

    /// The entries of functions without code of their own, found with the others.
    var abstractFunctions: [Dwarf_Off] = []

    /// Reads the unit's entries; nil before they are asked for, and where libdw must read them.
    var scanner: EntryScanner?

    /// All functions by linker's name; nil until one is asked for.
    var functionByName: [String: Dwarf_Off]?
    var fileNameByPointer: [UnsafePointer<CChar>: String] = [:]
  }

  private var functionByOffset: [Dwarf_Off: CompiledFunction] = [:]
  private var declarationByOffset: [Dwarf_Off: FunctionDeclaration] = [:]

  /// Opens the debug information; nil where the file has none that can be read.
  ///
  /// - Complexity: O(units and their ranges).
  init?(file: ELFFile) {
    guard file.hasDebugInformation, let dwarf = dwarf_begin_elf(file.elf, DWARF_C_READ, nil) else {
      return nil
    }
    self.file = file
    self.dwarf = dwarf
    entries = file.contents(ofSectionNamed: ".debug_info")
    // Code that the linker dropped keeps its debug information, at addresses near zero.
    let code = file.sections.filter { $0.isExecutable }.map { $0.addresses }
    var rows: [IntervalTable<Int>.Row] = []
    var found: [Unit] = []
    var unit: OpaquePointer?
    while true {
      var die = Dwarf_Die()
      var next: OpaquePointer?
      guard dwarf_get_units(dwarf, unit, &next, nil, nil, &die, nil) == 0, let next, next != unit
      else { break }
      unit = next
      guard dwarf_tag(&die) == DW_TAG_compile_unit else { continue }
      let ranges = codeRanges(of: &die).filter { range in
        code.contains { $0.contains(range.lowerBound) }
      }
      guard !ranges.isEmpty else { continue }
      rows += ranges.map { .init($0.lowerBound, $0.upperBound, found.count) }
      found.append(Unit(die: die, functionsByRange: nil))
    }
    unitsByRange = IntervalTable(rows)
    units = found
  }

  deinit {
    dwarf_end(dwarf)
  }

  /// The line of the source that an instruction comes from.
  ///
  /// - Complexity: the unit's line table is read once, then O(log lines).
  func place(at address: UInt64) -> SourcePlace? {
    guard let unit = unitsByRange.row(containing: address)?.value,
      let line = dwarf_getsrc_die(&units[unit].die, address)
    else { return nil }
    var number: Int32 = 0
    guard dwarf_lineno(line, &number) == 0 else { return nil }
    return place(file: dwarf_linesrc(line, nil, nil), line: Int(number), unit: unit)
  }

  /// The first line with a number that the code of a function comes from.
  func firstPlace(in addresses: Range<UInt64>) -> SourcePlace? {
    guard let unit = unitsByRange.row(containing: addresses.lowerBound)?.value else { return nil }
    var address = addresses.lowerBound
    // Lines by instruction: no address of code is skipped that could start a line.
    for _ in 0..<4096 where address < addresses.upperBound {
      if let line = dwarf_getsrc_die(&units[unit].die, address) {
        var number: Int32 = 0
        if dwarf_lineno(line, &number) == 0, number > 0 {
          return place(file: dwarf_linesrc(line, nil, nil), line: Int(number), unit: unit)
        }
      }
      address += 1
    }
    return nil
  }

  /// The function, as compiled, whose code an address is in.
  ///
  /// - Complexity: the entries of the unit are read once, those of the function once.
  func function(at address: UInt64) -> CompiledFunction? {
    guard let unit = unitsByRange.row(containing: address)?.value else { return nil }
    readFunctions(of: unit)
    guard let offset = units[unit].functionsByRange?.row(containing: address)?.value else {
      return nil
    }
    if let known = functionByOffset[offset] { return known }
    let calls =
      scannedInlinedCalls(inFunctionAt: offset, ofUnit: unit)
      ?? walkedInlinedCalls(inFunctionAt: offset)
    let function = CompiledFunction(entry: offset, calls: calls)
    functionByOffset[offset] = function
    return function
  }

  /// What the entry of a function or an inlined call says of the function.
  ///
  /// - Parameter address: An address in the unit of the entry.
  /// - Complexity: the entry and its parameters are read once.
  func declaration(ofEntry offset: Dwarf_Off, inUnitOf address: UInt64) -> FunctionDeclaration? {
    if let known = declarationByOffset[offset] { return known }
    var die = Dwarf_Die()
    guard let unit = unitsByRange.row(containing: address)?.value,
      dwarf_offdie(dwarf, offset, &die) != nil
    else { return nil }
    let declaration = declaration(of: &die, unit: unit)
    declarationByOffset[offset] = declaration
    return declaration
  }

  /// The linker's name of the function of an entry, or the plain one; nil for none.
  func functionName(ofEntry offset: Dwarf_Off) -> UnsafePointer<CChar>? {
    var die = Dwarf_Die()
    guard dwarf_offdie(dwarf, offset, &die) != nil else { return nil }
    return functionName(of: &die)
  }

  /// Where an inlined function was called.
  ///
  /// - Parameter address: An address in the unit of the call.
  func callSite(of call: InlinedCall, inUnitOf address: UInt64) -> SourcePlace {
    var die = Dwarf_Die()
    guard let unit = unitsByRange.row(containing: address)?.value,
      dwarf_offdie(dwarf, call.entry, &die) != nil
    else { return SourcePlace() }
    return callSite(of: &die, unit: unit)
  }

  /// The declaration of a function, by its linker's name, in the unit that an address is in; also of
  /// one that has no code left because it was inlined everywhere.
  ///
  /// - Complexity: O(functions of the unit) once.
  func declaration(named name: String, inUnitOf address: UInt64) -> FunctionDeclaration? {
    guard let unit = unitsByRange.row(containing: address)?.value else { return nil }
    if units[unit].functionByName == nil {
      readFunctions(of: unit)
      var offsetByName: [String: Dwarf_Off] = [:]
      let compiled = units[unit].functionsByRange?.rows.map(\.value) ?? []
      for offset in compiled + units[unit].abstractFunctions {
        var die = Dwarf_Die()
        // A mere declaration has no names of parameters.
        guard dwarf_offdie(dwarf, offset, &die) != nil, !isDeclaration(&die),
          let name = text(of: &die, DW_AT_linkage_name)
        else { continue }
        let key = string(name)
        if offsetByName[key] == nil { offsetByName[key] = offset }
      }
      units[unit].functionByName = offsetByName
    }
    var die = Dwarf_Die()
    guard let offset = units[unit].functionByName?[name], dwarf_offdie(dwarf, offset, &die) != nil
    else { return nil }
    return declaration(of: &die, unit: unit)
  }

  private func isDeclaration(_ die: inout Dwarf_Die) -> Bool {
    var value = Dwarf_Attribute()
    var isSet = false
    return dwarf_attr(&die, UInt32(DW_AT_declaration), &value) != nil
      && dwarf_formflag(&value, &isSet) == 0 && isSet
  }

  // MARK: - Entries

  /// Calls a function for each child of an entry, in order, until it returns false.
  ///
  /// libdw is given the last word on what a child is, but not on whether there is an end: each child
  /// must lie after the one before, so that a damaged file can't lead in a circle.
  private func forEachChild(of die: inout Dwarf_Die, _ body: (inout Dwarf_Die) -> Void) {
    var child = Dwarf_Die()
    guard dwarf_child(&die, &child) == 0 else { return }
    while true {
      let position = dwarf_dieoffset(&child)
      var current = child
      body(&current)
      var next = Dwarf_Die()
      guard dwarf_siblingof(&child, &next) == 0, dwarf_dieoffset(&next) > position else { return }
      child = next
    }
  }

  private static let deepest = 64

  private func readFunctions(of unit: Int) {
    guard units[unit].functionsByRange == nil else { return }
    var found = FoundFunctions()
    units[unit].scanner = EntryScanner(unit: &units[unit].die, of: dwarf, section: entries)
    if let functions = units[unit].scanner?.functions() {
      for entry in functions { found.add(entry.offset, ranges(of: entry)) }
    } else {
      for offset in walkedFunctionOffsets(of: unit) { found.add(offset, ranges(ofEntry: offset)) }
    }
    units[unit].functionsByRange = IntervalTable(found.compiled)
    units[unit].abstractFunctions = found.abstract
  }

  /// The code of the entry of a function or an inlined call.
  func ranges(ofEntry offset: Dwarf_Off) -> [Range<UInt64>] {
    var die = Dwarf_Die()
    return dwarf_offdie(dwarf, offset, &die) == nil ? [] : codeRanges(of: &die)
  }

  private func ranges(of entry: EntryScanner.Entry) -> [Range<UInt64>] {
    switch entry.code {
    case .none: []
    case .range(let range): [range]
    case .elsewhere: ranges(ofEntry: entry.offset)
    }
  }

  /// The entries of the unit's functions, in one pass; nil where libdw must find them.
  func scannedFunctionOffsets(of unit: Int) -> [Dwarf_Off]? {
    EntryScanner(unit: &units[unit].die, of: dwarf, section: entries)?.functions()?.map(\.offset)
  }

  /// The entries of the unit's functions, from libdw's walk down the tree.
  func walkedFunctionOffsets(of unit: Int) -> [Dwarf_Off] {
    var result: [Dwarf_Off] = []
    collectFunctions(under: &units[unit].die, depth: 0, into: &result)
    return result
  }

  var unitCount: Int { units.count }

  /// The entries of the unit's functions that have code.
  func compiledFunctionOffsets(of unit: Int) -> Set<Dwarf_Off> {
    readFunctions(of: unit)
    return Set(units[unit].functionsByRange?.rows.map(\.value) ?? [])
  }

  private struct FoundFunctions {
    var compiled: [IntervalTable<Dwarf_Off>.Row] = []
    var abstract: [Dwarf_Off] = []

    mutating func add(_ offset: Dwarf_Off, _ ranges: [Range<UInt64>]) {
      for range in ranges { compiled.append(.init(range.lowerBound, range.upperBound, offset)) }
      if ranges.isEmpty { abstract.append(offset) }
    }
  }

  private func collectFunctions(
    under die: inout Dwarf_Die, depth: Int, into offsets: inout [Dwarf_Off]
  ) {
    forEachChild(of: &die) { child in
      let tag = Int(dwarf_tag(&child))
      if tag == DW_TAG_subprogram { offsets.append(dwarf_dieoffset(&child)) }
      // Closures and local functions lie in the function that they are written in.
      if depth < Self.deepest, dwarf_haschildren(&child) == 1 {
        collectFunctions(under: &child, depth: depth + 1, into: &offsets)
      }
    }
  }

  /// The calls inlined into a function, in one pass; nil where libdw must find them.
  func scannedInlinedCalls(inFunctionAt offset: Dwarf_Off, ofUnit unit: Int) -> [InlinedCall]? {
    readFunctions(of: unit)
    return units[unit].scanner?.inlinedCalls(inFunctionAt: offset)?.map { entry in
      InlinedCall(entry: entry.offset, ranges: ranges(of: entry), depth: entry.callDepth)
    }
  }

  /// The calls inlined into a function, from libdw's walk down the tree.
  func walkedInlinedCalls(inFunctionAt offset: Dwarf_Off) -> [InlinedCall] {
    var die = Dwarf_Die()
    guard dwarf_offdie(dwarf, offset, &die) != nil else { return [] }
    var result: [InlinedCall] = []
    collectInlinedCalls(under: &die, depth: 0, callDepth: 0, into: &result)
    return result
  }

  private func collectInlinedCalls(
    under die: inout Dwarf_Die, depth: Int, callDepth: Int, into calls: inout [InlinedCall]
  ) {
    guard depth < Self.deepest else { return }
    forEachChild(of: &die) { child in
      let tag = Int(dwarf_tag(&child))
      if tag == DW_TAG_subprogram { return }
      if tag == DW_TAG_inlined_subroutine {
        calls.append(
          InlinedCall(
            entry: dwarf_dieoffset(&child), ranges: codeRanges(of: &child), depth: callDepth))
      }
      if dwarf_haschildren(&child) == 1 {
        collectInlinedCalls(
          under: &child, depth: depth + 1,
          callDepth: callDepth + (tag == DW_TAG_inlined_subroutine ? 1 : 0), into: &calls)
      }
    }
  }

  private func functionName(of die: inout Dwarf_Die) -> UnsafePointer<CChar>? {
    text(of: &die, DW_AT_linkage_name) ?? text(of: &die, DW_AT_MIPS_linkage_name)
      ?? dwarf_diename(&die)
  }

  /// What an entry says of the function that it is code of: through the declaration or the abstract
  /// function that it refers to.
  private func declaration(of die: inout Dwarf_Die, unit: Int) -> FunctionDeclaration {
    var origin = die
    // The abstract function holds the parameters; the code's own entry may have lost some.
    if let abstract = referred(by: &die, DW_AT_abstract_origin) { origin = abstract }
    let name = functionName(of: &die)
    var line: Int32 = 0
    let hasLine = dwarf_decl_line(&origin, &line) == 0
    let file = dwarf_decl_file(&origin)
    var parameters: [FunctionDeclaration.Parameter] = []
    forEachChild(of: &origin) { child in
      guard dwarf_tag(&child) == DW_TAG_formal_parameter else { return }
      guard let name = dwarf_diename(&child) else { return }
      var line: Int32 = 0
      let (room, bytes) = room(of: &child)
      parameters.append(
        .init(
          name: string(name), line: dwarf_decl_line(&child, &line) == 0 ? Int(line) : nil,
          isArtificial: flag(of: &child, DW_AT_artificial), room: room, bytes: bytes))
    }
    return FunctionDeclaration(
      name: name,
      place: place(file: file, line: hasLine ? Int(line) : 0, unit: unit),
      parameters: parameters)
  }

  /// Whether the values of a variable take room in memory, and how much of it in a closure's context.
  private func room(
    of variable: inout Dwarf_Die
  ) -> (FunctionDeclaration.Room, bytes: Int?) {
    guard var type = referred(by: &variable, DW_AT_type) else { return (.some, nil) }
    // Of a variable that is captured the context has the box.
    let isConstant = dwarf_tag(&type) == DW_TAG_const_type
    // Each `let` is of a constant type, and an alias leads to the type itself.
    for _ in 0..<8 where [DW_TAG_const_type, DW_TAG_typedef].contains(Int(dwarf_tag(&type))) {
      guard let plain = referred(by: &type, DW_AT_type) else { return (.none, 0) }
      type = plain
    }
    let name = text(of: &type, DW_AT_linkage_name) ?? dwarf_diename(&type)
    let mangled = name.map { string($0) } ?? ""
    // A metatype that the compiler knows takes none, and is said to take a byte.
    if mangled.hasPrefix("$s"), mangled.hasSuffix("XMtD") { return (.none, 0) }
    let size = number(of: &type, DW_AT_byte_size)
    guard size == 0 else { return (.some, isConstant ? size : 8) }
    // Instances of a generic type have no name of their own, their size stands around it.
    var member = Dwarf_Die()
    var inner = mangled
    if mangled.isEmpty, dwarf_child(&type, &member) == 0,
      var generic = referred(by: &member, DW_AT_type)
    {
      inner =
        (text(of: &generic, DW_AT_linkage_name) ?? dwarf_diename(&generic))
        .map { string($0) } ?? ""
    }
    let room = FunctionDeclaration.Room(ofEmpty: inner)
    return (room, room == .none ? 0 : nil)
  }

  /// Whether a function around a closure declares a variable of some name in some line.
  ///
  /// - Parameters:
  ///   - closure: The closure's linker's name, which begins with that of each function around it.
  ///   - isItself: Whether a linker's name is one of the closure: a specialization's begins with that of the plain one.
  /// - Complexity: O(length of the name, and entries of those functions).
  func isDeclared(
    _ variable: String, inLine line: Int, around closure: String, inUnitOf address: UInt64,
    isItself: (UnsafePointer<CChar>) -> Bool
  ) -> Bool {
    guard let unit = unitsByRange.row(containing: address)?.value,
      let functions = units[unit].functionByName
    else { return false }
    var name = closure[...]
    while name.popLast() != nil {
      var die = Dwarf_Die()
      guard let offset = functions[String(name)], dwarf_offdie(dwarf, offset, &die) != nil else {
        continue
      }
      if let name = text(of: &die, DW_AT_linkage_name), isItself(name) { continue }
      if let origin = referred(by: &die, DW_AT_abstract_origin) { die = origin }
      if declares(&die, variable, inLine: line, depth: 0) { return true }
    }
    return false
  }

  private func declares(
    _ die: inout Dwarf_Die, _ variable: String, inLine line: Int, depth: Int
  ) -> Bool {
    var isFound = false
    forEachChild(of: &die) { child in
      if isFound { return }
      switch Int(dwarf_tag(&child)) {
      case DW_TAG_formal_parameter, DW_TAG_variable:
        var declared: Int32 = 0
        isFound =
          dwarf_decl_line(&child, &declared) == 0 && Int(declared) == line
          && dwarf_diename(&child).map { string($0) == variable } == true
      case DW_TAG_lexical_block:
        isFound =
          depth < Self.deepest && declares(&child, variable, inLine: line, depth: depth + 1)
      default: break
      }
    }
    return isFound
  }

  private func referred(by die: inout Dwarf_Die, _ attribute: Int) -> Dwarf_Die? {
    var value = Dwarf_Attribute()
    var target = Dwarf_Die()
    guard dwarf_attr(&die, UInt32(attribute), &value) != nil,
      dwarf_formref_die(&value, &target) != nil
    else { return nil }
    return target
  }

  private func text(of die: inout Dwarf_Die, _ attribute: Int) -> UnsafePointer<CChar>? {
    var value = Dwarf_Attribute()
    guard dwarf_attr_integrate(&die, UInt32(attribute), &value) != nil else { return nil }
    return dwarf_formstring(&value)
  }

  private func number(of die: inout Dwarf_Die, _ attribute: Int) -> Int? {
    var value = Dwarf_Attribute()
    var number: Dwarf_Word = 0
    guard dwarf_attr(&die, UInt32(attribute), &value) != nil, dwarf_formudata(&value, &number) == 0
    else { return nil }
    return Int(clamping: number)
  }

  private func flag(of die: inout Dwarf_Die, _ attribute: Int) -> Bool {
    var value = Dwarf_Attribute()
    var isSet = false
    return dwarf_attr_integrate(&die, UInt32(attribute), &value) != nil
      && dwarf_formflag(&value, &isSet) == 0 && isSet
  }

  /// Where an inlined function was called.
  private func callSite(of die: inout Dwarf_Die, unit: Int) -> SourcePlace {
    var files: OpaquePointer?
    var count = 0
    var name: UnsafePointer<CChar>?
    if let index = number(of: &die, DW_AT_call_file),
      dwarf_getsrcfiles(&units[unit].die, &files, &count) == 0, index >= 0, index < count
    {
      name = dwarf_filesrc(files, index, nil, nil)
    }
    return place(file: name, line: number(of: &die, DW_AT_call_line) ?? 0, unit: unit)
  }

  // MARK: - Text

  private func place(file: UnsafePointer<CChar>?, line: Int, unit: Int) -> SourcePlace {
    let name = file.map { fileName($0, unit: unit) }
    return SourcePlace(
      file: name.flatMap { $0.hasSuffix("<compiler-generated>") ? nil : $0 },
      line: line > 0 ? line : nil)
  }

  /// A file's name with the folder that the compiler ran in, where it was given without.
  private func fileName(_ pointer: UnsafePointer<CChar>, unit: Int) -> String {
    if let known = units[unit].fileNameByPointer[pointer] { return known }
    var name = string(pointer)
    if !name.hasPrefix("/"), let folder = text(of: &units[unit].die, DW_AT_comp_dir) {
      name = string(folder) + "/" + name
    }
    units[unit].fileNameByPointer[pointer] = name
    return name
  }

  /// The string at a pointer into the file, which libdw gives again and again.
  private func string(_ pointer: UnsafePointer<CChar>) -> String {
    if let known = stringByPointer[pointer] { return known }
    let string = String(cString: pointer)
    stringByPointer[pointer] = string
    return string
  }
}

/// The ranges of code of an entry that are not empty.
private func codeRanges(of die: inout Dwarf_Die) -> [Range<UInt64>] {
  var result: [Range<UInt64>] = []
  var base: Dwarf_Addr = 0
  var start: Dwarf_Addr = 0
  var end: Dwarf_Addr = 0
  var offset = 0
  while true {
    let next = dwarf_ranges(&die, offset, &base, &start, &end)
    guard next > 0, next != offset else { break }
    offset = next
    if start < end { result.append(start..<end) }
  }
  return result
}
