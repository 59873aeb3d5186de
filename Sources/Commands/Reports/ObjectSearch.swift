// ObjectSearch: the objects that a type's name or an address names.

internal import GraphAnalysis
package import GraphPrimitives
internal import GraphReport
package import HeapGraph
internal import SnapshotFormat

/// Finds objects by what the caller wrote.
package enum ObjectSearch {
  /// The objects of a type, none where there are none; or the one at an address.
  package static func nodes(_ subject: String, in graph: HeapGraph) throws -> [NodeIndex] {
    if subject.hasPrefix("0x") { return [try node(atAddress: subject, in: graph)] }
    return graph.nodes(ofType: TypePattern(subject))
  }

  /// The type of the snapshot whose name is nearest to what was written; nil where none is near.
  package static func nearestType(to subject: String, in graph: HeapGraph) -> String? {
    let names = (0..<graph.snapshot.types.count).map {
      Names.sourceSpelling(of: graph.name(of: TypeIndex($0)))
    }.sorted()
    if let name = Spelling.nearest(to: subject, among: names) { return name }
    let bare = names.map { $0.split(separator: ".").last.map(String.init) ?? $0 }
    return Spelling.nearest(to: subject, among: bare).flatMap { guess in
      bare.firstIndex(of: guess).map { names[$0] }
    }
  }

  /// The object that an address lies in.
  package static func node(atAddress text: String, in graph: HeapGraph) throws -> NodeIndex {
    let digits = text.hasPrefix("0x") ? text.dropFirst(2) : text[...]
    guard let address = UInt64(digits, radix: 16) else {
      throw CommandError(
        text, "no address", mend: "write it as 0x7f3a10002340", status: .usage)
    }
    guard let node = graph.node(at: Address(address)) else {
      throw CommandError(
        text, "no object there in the snapshot",
        mend: "memgraph leaks and memgraph paths print addresses of this snapshot", status: .usage)
    }
    return node
  }
}
