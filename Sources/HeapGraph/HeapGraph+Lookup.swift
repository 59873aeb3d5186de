// HeapGraph+Lookup: finding nodes by address and by the names of their types.

package import GraphPrimitives
internal import SnapshotFormat

extension HeapGraph {
  /// The node that holds an address, at its start or inside; nil where none does.
  ///
  /// - Complexity: O(log *V*).
  package func node(at address: Address) -> NodeIndex? {
    let starts = snapshot.nodes.address
    var low = 0
    var high = nodeCount
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= address.rawValue { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return nil }
    let node = NodeIndex(low - 1)
    let inside = address.rawValue - starts[node.position]
    return inside == 0 || inside < snapshot.nodes.bytes(node.position) ? node : nil
  }

  /// The nodes whose type's name matches a pattern, in ascending order of address.
  ///
  /// - Complexity: O(*V* + types × length of the names).
  package func nodes(ofType pattern: TypePattern) -> [NodeIndex] {
    var matches = [Bool](repeating: false, count: snapshot.types.count)
    for row in 0..<snapshot.types.count {
      matches[row] = pattern.matches(
        name(of: TypeIndex(row)), module: snapshot.strings[snapshot.types.module[row]])
    }
    var found = nodes.filter { matches[Int(snapshot.nodes.type[$0.position])] }
    let named = snapshot.nodeNames.filter { node, name in
      !matches[Int(snapshot.nodes.type[node.position])]
        && pattern.matches(snapshot.strings[name], module: "")
    }
    if !named.isEmpty { found = (found + named.keys).sorted() }
    return found
  }
}

/// A pattern for names of types: `*` stands for any characters, `?` for one.
///
/// It matches the whole name, with or without the module, with or without generic arguments: `App.Cache<*>`,
/// `Cache<Swift.Int>`, `Cache<Int>`, `Cache`, `*Cache`.
package struct TypePattern: Hashable, Sendable {
  /// The pattern as it was given.
  package let text: String

  /// Creates a pattern; any text is one.
  package init(_ text: String) { self.text = text }

  /// Whether the name of a type matches.
  ///
  /// - Parameter module: The module that defines the type; empty for none.
  package func matches(_ name: String, module: String) -> Bool {
    if _matches(name, module: module) { return true }
    let spelling = ToolchainModules.sourceSpelling(of: name)
    return spelling != name && _matches(spelling, module: module)
  }

  private func _matches(_ name: String, module: String) -> Bool {
    if Self.glob(text, name) { return true }
    let bare = name.hasPrefix(module + ".") ? String(name.dropFirst(module.count + 1)) : name
    if Self.glob(text, bare) { return true }
    guard !text.contains("<"), let arguments = name.firstIndex(of: "<"), name.last == ">" else {
      return false
    }
    let plain = String(name[..<arguments])
    if Self.glob(text, plain) { return true }
    return plain.hasPrefix(module + ".")
      && Self.glob(text, String(plain.dropFirst(module.count + 1)))
  }

  /// Whether a text matches a pattern from start to end.
  ///
  /// A name with spaces is found as it is typed, with its backticks or without.
  ///
  /// - Complexity: O(length of the pattern × length of the text).
  package static func glob(_ pattern: String, _ text: String) -> Bool {
    let pattern = _typed(pattern)
    var text = _typed(text)
    if !pattern.contains("`") { text.removeAll { $0 == "`" } }
    var inPattern = 0
    var inText = 0
    // Where the last star stands, and how much of the text it has taken so far.
    var star: Int?
    var taken = 0
    while inText < text.count {
      if inPattern < pattern.count && pattern[inPattern] == "*" {
        star = inPattern
        taken = inText
        inPattern += 1
      } else if inPattern < pattern.count
        && (pattern[inPattern] == "?" || pattern[inPattern] == text[inText])
      {
        inPattern += 1
        inText += 1
      } else if let star {
        taken += 1
        inText = taken
        inPattern = star + 1
      } else {
        return false
      }
    }
    while inPattern < pattern.count && pattern[inPattern] == "*" { inPattern += 1 }
    return inPattern == pattern.count
  }

  /// The compiler writes the spaces of a raw identifier as no-break spaces, so that a mangled name has none.
  private static func _typed(_ text: String) -> [Unicode.Scalar] {
    text.unicodeScalars.map { $0 == "\u{A0}" ? " " : $0 }
  }
}
