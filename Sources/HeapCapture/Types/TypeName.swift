// TypeName: how a type's name is written for people.

internal import GraphPrimitives

/// A demangled name without what only the compiler needs: private discriminators, the mark of nested
/// types that an extension declares, empty lists of arguments.
///
/// `main.(Socket in _8F3A)` becomes `main.Socket`.
func readableTypeName(_ demangled: String) -> String {
  let text = Array(demangled.utf8)
  var result: [UInt8] = []
  var index = 0
  while index < text.count {
    if text[index] == UInt8(ascii: "(") {
      if let (name, end) = _privateName(text, at: index) {
        result.append(contentsOf: name)
        index = end
        continue
      }
      if let end = _extensionMark(text, at: index) {
        index = end
        continue
      }
    }
    // A type without arguments of its own within one that has some.
    if text[index] == UInt8(ascii: "<"), index + 1 < text.count,
      text[index + 1] == UInt8(ascii: ">")
    {
      index += 2
      continue
    }
    result.append(text[index])
    index += 1
  }
  return String(decoding: result, as: UTF8.self)
}

/// The module in a readable name: what stands before the first dot of the outermost type.
func moduleName(ofType name: String) -> String {
  guard let dot = name.firstIndex(of: ".") else { return "" }
  let module = name[..<dot]
  return module.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? String(module) : ""
}

/// Whether the fields of a value of this type are left out of paths: those of types that are tools and not
/// what a program's author thinks in (`channels`, not `channels._variant.object`).
func isFoldedInPaths(_ typeName: String) -> Bool {
  let module = moduleName(ofType: typeName)
  return ToolchainModules.names.contains(module) || module == "Builtin" || module == "System"
}

/// The name of a stored property as its author wrote it: the compiler stores a lazy one under a
/// longer name.
func readableFieldName(_ name: String) -> String {
  if name == "$defaultActor" { return "queue" }
  let lazyPrefix = "$__lazy_storage_$_"
  return name.hasPrefix(lazyPrefix) ? String(name.dropFirst(lazyPrefix.count)) : name
}

/// The labels of a tuple type's elements, nil for each that has none.
///
/// `(Swift.Int, name: Swift.String)` gives nil and `name`.
func tupleLabels(_ typeName: String) -> [String?] {
  let text = Array(typeName.utf8)
  guard text.count > 2, text.first == UInt8(ascii: "("), text.last == UInt8(ascii: ")") else {
    return []
  }
  var labels: [String?] = []
  var depth = 0
  var start = 1
  for index in 1..<text.count {
    switch text[index] {
    case UInt8(ascii: "("), UInt8(ascii: "<"), UInt8(ascii: "["):
      depth += 1
    case UInt8(ascii: ">") where text[index - 1] == UInt8(ascii: "-"):
      // The arrow of a function type.
      break
    case UInt8(ascii: ")") where depth == 0, UInt8(ascii: ",") where depth == 0:
      let element = text[start..<index].drop { $0 == UInt8(ascii: " ") }
      let name = element.prefix(while: _isIdentifier)
      let hasLabel = element.dropFirst(name.count).starts(with: Array(": ".utf8))
      labels.append(hasLabel && !name.isEmpty ? String(decoding: name, as: UTF8.self) : nil)
      start = index + 1
    case UInt8(ascii: ")"), UInt8(ascii: ">"), UInt8(ascii: "]"):
      depth -= 1
    default:
      break
    }
  }
  return labels
}

/// The name in `(Name in _0123ABCD)` and where the parenthesis ends.
private func _privateName(_ text: [UInt8], at start: Int) -> (ArraySlice<UInt8>, Int)? {
  var index = start + 1
  while index < text.count, _isIdentifier(text[index]) { index += 1 }
  let name = text[(start + 1)..<index]
  let mark = Array(" in ".utf8)
  guard !name.isEmpty, text[index...].starts(with: mark) else { return nil }
  index += mark.count
  guard index < text.count, text[index] == UInt8(ascii: "_") || text[index] == UInt8(ascii: "$")
  else { return nil }
  index += 1
  while index < text.count, _isHexadecimal(text[index]) { index += 1 }
  guard index < text.count, text[index] == UInt8(ascii: ")") else { return nil }
  return (name, index + 1)
}

/// Where `(extension in Module):` ends.
private func _extensionMark(_ text: [UInt8], at start: Int) -> Int? {
  let mark = Array("(extension in ".utf8)
  guard text[start...].starts(with: mark) else { return nil }
  var index = start + mark.count
  while index < text.count, _isIdentifier(text[index]) { index += 1 }
  guard text[min(index, text.count)...].starts(with: Array("):".utf8)) else { return nil }
  return index + 2
}

private func _isIdentifier(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
    return true
  default:
    return false
  }
}

private func _isHexadecimal(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"),
    UInt8(ascii: "0")...UInt8(ascii: "9"):
    return true
  default:
    return false
  }
}
