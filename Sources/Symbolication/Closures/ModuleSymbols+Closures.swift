// ModuleSymbols+Closures: which closure or method the function of a closure value stands for.

extension ModuleSymbols {
  /// What a closure value calls.
  struct Closure {
    var name: SwiftName?
    var text: String
    var kind: ClosureName.Kind
    var place: SourcePlace
  }

  /// The linker's name and code of the function of a closure value. An asynchronous one is given by the
  /// address of its description, not of its code.
  private func resolve(_ address: UInt64) -> (name: UnsafePointer<CChar>, code: UInt64)? {
    if let row = symbols.functions.row(containing: address) { return (row.value, row.start) }
    if let row = symbols.variables.row(containing: address) {
      // `...Tu`, where an optimizer's suffix doesn't hide it from the demangler.
      return (row.value, asyncFunction(describedAt: row.start) ?? row.start)
    }
    if let debug, let entry = debug.function(at: address)?.entry,
      let name = debug.functionName(ofEntry: entry)
    {
      return (name, debug.ranges(ofEntry: entry).first?.lowerBound ?? address)
    }
    return nil
  }

  /// Names the function of a closure value; nil where there is no name.
  func closure(at address: UInt64) -> Closure? {
    guard let (pointer, code) = resolve(address) else { return nil }
    let place = sourceOfClosure(named: pointer, code: code)
    guard let name = swiftName(pointer) else {
      return Closure(name: nil, text: text(pointer), kind: .function, place: place)
    }
    var result = Closure(name: name, text: name.text, kind: .function, place: place)
    switch name.kind {
    case .closure: result.kind = .closure
    case .thunk: result.kind = .thunk
    case .function: result.kind = .function
    case .methodReference:
      result.kind = .methodReference
      // `curry thunk of` and a bare forwarder name the method themselves.
      guard let type = name.referencedType else { break }
      if let method = referencedMethod(code: code, name: name, type: type) {
        result.text = method
      } else {
        let context = name.text.split(separator: " in ").last.map(String.init) ?? name.text
        result.text = "a method of \(type), passed in \(context)"
      }
    }
    return result
  }

  /// Where a closure starts in the source, also where only a forwarder to it has code.
  private func sourceOfClosure(named name: UnsafePointer<CChar>, code: UInt64) -> SourcePlace {
    guard let debug else { return SourcePlace() }
    if let declaration = declarationOfClosure(named: name, code: code),
      declaration.place.line != nil
    {
      return declaration.place
    }
    guard let row = symbols.functions.row(startingAt: code) else { return SourcePlace() }
    return debug.firstPlace(in: row.start..<row.end) ?? SourcePlace()
  }

  /// The declaration of the closure that a function of a closure value stands for: the function itself,
  /// or the one whose name its own name begins with, to which it forwards.
  func declarationOfClosure(named name: UnsafePointer<CChar>, code: UInt64) -> FunctionDeclaration?
  {
    guard let debug, let parts = swiftName(name) else {
      return debug.flatMap { debug in
        debug.function(at: code).flatMap {
          debug.declaration(ofEntry: $0.entry, inUnitOf: code)
        }
      }
    }
    // A copy of a forwarder has no debug information, but it jumps to what it was copied from.
    let copied = directCalls(from: code).filter { swiftName($0.value)?.text == parts.text }
    // `...U_` is the closure, `...U_TA` its forwarder, `...U_TA.13TQ0_` a part of a copy of that.
    var mangled = String(cString: name)[...]
    for _ in 0..<8 {
      for place in [code] + copied.map(\.start) {
        if let declaration = debug.declaration(named: String(mangled), inUnitOf: place),
          isSource(declaration, of: parts)
        {
          return declaration
        }
      }
      guard let end = mangled.lastIndex(where: { $0 == "T" || $0 == "." }) else { break }
      mangled = mangled[..<end]
    }
    // The name of a specialization has more in the middle: look at what was inlined into it.
    for place in [code] + copied.map(\.start) {
      for call in debug.function(at: place)?.inlinedCalls ?? [] {
        if let declaration = debug.declaration(ofEntry: call.entry, inUnitOf: place),
          isSource(declaration, of: parts)
        {
          return declaration
        }
      }
    }
    return nil
  }

  /// Whether a declaration is that of a closure in the source, rather than of one of its forwarders or
  /// specializations, which have no line.
  private func isSource(_ declaration: FunctionDeclaration, of parts: SwiftName) -> Bool {
    guard declaration.place.line != nil, let name = declaration.name, let other = swiftName(name)
    else { return false }
    return !other.isPartialApply && other.text == parts.text && other.kind == parts.kind
  }

  /// The names of the values that a closure captures, in the order of its context; none where it is unsure which
  /// they are, and empty ones for those of which it is.
  ///
  /// The compiler passes captures to a closure's function after the parameters of the source, and debug
  /// information lists the named ones of both in that order. A value that takes no room is listed, and isn't in
  /// the context. The actor that a task begins on is not listed, and is in the context, before all others: the size
  /// of the context tells.
  func captureNames(of address: UInt64, in context: ContextSize? = nil) -> [String] {
    guard let (pointer, code) = resolve(address), let name = swiftName(pointer),
      let captures = captures(of: name, pointer, code: code)
    else { return [] }
    var names: [String] = []
    var needed: Int? = 0
    var isSure = true
    for capture in captures {
      // What may take no room may not be there.
      if capture.room == .unknown { isSure = false }
      names.append(isSure ? capture.name : "")
      needed = needed.flatMap { needed in
        capture.bytes.map { bytes in
          let alignment = bytes >= 8 ? 8 : bytes >= 4 ? 4 : bytes >= 2 ? 2 : 1
          return (needed + alignment - 1) / alignment * alignment + bytes
        }
      }
    }
    guard let context else { return names }
    // Whether an actor comes first is not known.
    guard let needed else { return name.isAsynchronous ? [] : names }
    let spare = Int(clamping: context.bytes) - needed
    // The optimizer has left something out.
    if spare < 0 { return [] }
    return name.isAsynchronous && spare >= Self.actorBytes ? [""] + names : names
  }

  /// What a reference to an actor and its conformance take.
  private static let actorBytes = 16

  /// What a closure captures and its context has, in order; nil where it is unsure where the captures begin.
  private func captures(
    of name: SwiftName, _ pointer: UnsafePointer<CChar>, code: UInt64
  ) -> [FunctionDeclaration.Parameter]? {
    guard let parameterCount = name.parameterCount,
      let declaration = declarationOfClosure(named: pointer, code: code)
    else { return nil }
    // A parameter that is not used may not be listed, so count only those declared within the closure.
    let start = declaration.place.line ?? 0
    let listed = declaration.parameters
    var ownCount = 0
    own: while ownCount < min(parameterCount, listed.count) {
      let parameter = listed[ownCount]
      switch origin(of: parameter, in: declaration, of: name, start: start, code: code) {
      case .closure: ownCount += 1
      case .around: break own
      case .unsure: return nil
      }
    }
    return listed.dropFirst(ownCount).filter { $0.room != .none }
  }

  /// Where what is listed with a closure's function was declared.
  private enum Origin {
    /// In the closure: a parameter of its own.
    case closure

    /// In a function around it: a capture.
    case around

    /// One of them.
    case unsure
  }

  private func origin(
    of parameter: FunctionDeclaration.Parameter, in declaration: FunctionDeclaration,
    of name: SwiftName, start: Int, code: UInt64
  ) -> Origin {
    // What an implicit closure takes besides its arguments, all made by the compiler.
    if name.text.hasPrefix("implicit") {
      return ["self", "$base$"].contains(parameter.name) ? .around : .closure
    }
    // `$0`, and `_0` for a parameter without a name.
    if parameter.name.hasPrefix("$") { return .closure }
    if parameter.isArtificial { return .around }
    guard let line = parameter.line, line >= start else { return .around }
    // In the line where the closure begins variables around it may be declared as well.
    if line == start, let debug, let mangled = declaration.name,
      debug.isDeclared(
        parameter.name, inLine: line, around: String(cString: mangled), inUnitOf: code,
        isItself: { swiftName($0)?.text == name.text })
    {
      return .unsure
    }
    return .closure
  }

  // MARK: - Methods

  /// The name of the method that an implicit closure calls, found in its code: inlined into it, called
  /// directly, or through the class's table.
  private func referencedMethod(code: UInt64, name: SwiftName, type: String) -> String? {
    var pending = [code]
    var seen: Set<UInt64> = []
    while let start = pending.popLast(), seen.count < 8 {
      guard seen.insert(start).inserted else { continue }
      var methods: [SwiftName] = []
      if let debug {
        for call in debug.function(at: start)?.inlinedCalls ?? [] {
          if let pointer = debug.functionName(ofEntry: call.entry),
            let callee = swiftName(pointer), callee.isSourceFunction
          {
            methods.append(callee)
          }
        }
      }
      for target in directCalls(from: start) {
        guard let callee = swiftName(target.value) else { continue }
        if callee.isSourceFunction {
          methods.append(callee)
        } else if callee.kind == .methodReference, callee.text == name.text {
          pending.append(target.start)
        }
      }
      if let method = methods.first(where: { $0.text.isMember(of: type) }) { return method.text }
      if let method = tableCall(from: start, type: type) { return method }
    }
    return nil
  }

  /// The functions that a function calls or jumps to by distance.
  ///
  /// The code is not decoded: a byte that looks like a call counts if what follows leads to the very
  /// start of a function, which other bytes hardly ever do.
  private func directCalls(from start: UInt64) -> [IntervalTable<SymbolTable.Name>.Row] {
    guard let function = symbols.functions.row(startingAt: start) else { return [] }
    let code = code(of: function.start..<function.end)
    var result: [IntervalTable<SymbolTable.Name>.Row] = []
    for index in code.indices.dropLast(4) where code[index] == 0xe8 || code[index] == 0xe9 {
      let distance = Int32(truncatingIfNeeded: code.littleEndian(at: index + 1, bytes: 4))
      let target = start &+ UInt64(index) &+ 5 &+ UInt64(bitPattern: Int64(distance))
      if target != start, let row = symbols.functions.row(startingAt: target) { result.append(row) }
    }
    return result
  }

  /// The method that a function calls through the table of a class or of a protocol's witnesses.
  ///
  /// Each offset of an indirect call in the code is tried on the tables that the type has; what lies
  /// there must be a method's code, so bytes that only look like a call lead nowhere.
  private func tableCall(from start: UInt64, type: String) -> String? {
    guard let function = symbols.functions.row(startingAt: start) else { return nil }
    let offsets = code(of: function.start..<function.end).indirectCallOffsets
    for offset in offsets {
      if let metadata = dispatchTables.classes[type],
        let method = sourceFunction(inTable: metadata, at: offset), method.isSourceFunction
      {
        return method.text
      }
      // Any type's witness names the requirement.
      for table in dispatchTables.witnesses[type] ?? [] {
        if let requirement = sourceFunction(inTable: table, at: offset)?.witnessedRequirement {
          return requirement
        }
      }
    }
    return nil
  }

  private func sourceFunction(inTable table: UInt64, at offset: Int) -> SwiftName? {
    guard let target = pointer(at: table &+ UInt64(bitPattern: Int64(offset))),
      let row = symbols.functions.row(startingAt: target)
    else { return nil }
    return swiftName(row.value)
  }
}

extension [UInt8] {
  /// An unsigned number of some bytes, least significant first.
  fileprivate func littleEndian(at index: Int, bytes: Int) -> UInt64 {
    self[index..<(index + bytes)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The offsets at which code loads the function that it calls or jumps to: those of
  /// `call *offset(%r)` and of `mov offset(%r), %s; call *%s`, in order.
  fileprivate var indirectCallOffsets: [Int] {
    var result: [Int] = []
    for start in indices {
      // A prefix for 64-bit operands and the upper registers.
      let hasPrefix = self[start] & 0xf0 == 0x40
      let prefix = hasPrefix ? self[start] : 0
      let opcode = hasPrefix ? start + 1 : start
      guard opcode + 3 < count, self[opcode] == 0xff || self[opcode] == 0x8b else { continue }
      let mode = self[opcode + 1]
      let base = mode & 7
      let register = mode >> 3 & 7
      // A base of rsp or r12 takes another byte.
      let displacement = opcode + (base == 4 ? 3 : 2)
      let offset: Int
      let end: Int
      switch mode >> 6 {
      case 1 where displacement < count:
        offset = Int(Int8(bitPattern: self[displacement]))
        end = displacement + 1
      case 2 where displacement + 4 <= count:
        offset = Int(Int32(truncatingIfNeeded: littleEndian(at: displacement, bytes: 4)))
        end = displacement + 4
      default: continue
      }
      if self[opcode] == 0xff {
        if register == 2 || register == 4 { result.append(offset) }
        continue
      }
      let isUpper = prefix & 4 != 0
      let call = isUpper ? end + 1 : end
      guard prefix & 8 != 0, call + 1 < count, !isUpper || self[end] == 0x41,
        self[call] == 0xff, self[call + 1] & 0xc7 == 0xc0 | register,
        [2, 4].contains(self[call + 1] >> 3 & 7)
      else { continue }
      result.append(offset)
    }
    return result
  }
}

extension String {
  /// Whether a function's name is that of a member of a type: `main.Model.start()`.
  fileprivate func isMember(of type: String) -> Bool {
    let name = hasPrefix("static ") ? dropFirst("static ".count) : self[...]
    return name.hasPrefix(type + ".")
  }
}
