// Tests of RetainPlaces: an object's place is the way that `memgraph paths` tells, folded by hand.

import GraphAnalysis
import GraphPrimitives
import GraphReport
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import GraphExport

@Suite struct RetainPlacesTests {
  private static func places(
    _ exported: ExportedSnapshot
  ) throws -> [[String]] {
    var objects = ObjectNames()
    var references = ReferenceNames()
    objects.startSnapshot(exported.graph)
    references.startSnapshot(exported.graph)
    var places = RetainPlaces()
    try places.add(exported, objectNames: &objects, referenceNames: &references)
    return exported.graph.nodes.map { node in
      var texts: [String] = []
      var place = Int(places.placeByNode[node.position])
      while place >= 0 {
        texts.append(places.text(numbered: places.tree.steps[place].field))
        place = places.tree.parents[place]
      }
      return texts.reversed()
    }
  }

  /// The steps of a way as texts, from what the analysis tells of it.
  private static func texts(of path: RetainPath, _ exported: ExportedSnapshot) -> [String] {
    let names = exported.names
    var texts = [Names.foldingIndices(names.root(path.root).name)]
    for (number, step) in path.steps.enumerated() {
      var parts = ""
      var holder = step.node
      for edge in step.edges {
        var text = names.text(of: edge, from: holder)
        if [.block, .taskSlab, .cStorage].contains(exported.graph.kind(of: holder)),
          text.field.hasPrefix("+")
        {
          text = ("[_]", "")
        }
        let isFirst = edge == step.edges[0]
        var shown = ReferenceName(field: text.field, via: text.via).shown
        if !isFirst || exported.graph.kind(of: step.node).isFolded {
          shown = text.field + (text.via.isEmpty ? "" : " (\(text.via))")
        }
        shown = Names.foldingIndices(shown)
        let joined =
          shown.isEmpty || shown.hasPrefix("[") || shown.hasPrefix(" ") ? shown : "." + shown
        if isFirst || !parts.hasSuffix(joined) { parts += joined }
        holder = names.target(of: edge)
      }
      if number == 0, exported.graph.kind(of: step.node).isFolded {
        // The storage that a variable has is the variable's.
        texts[0] += texts[0].hasSuffix(parts) ? "" : parts
      } else {
        let name = names.typeName(of: step.node)
        texts.append((name.contains(" ") ? "(\(name))" : name) + parts)
      }
    }
    return texts
  }

  /// A step that was taken before leads back to where it led then.
  private static func folded(_ texts: [String]) -> [String] {
    var way: [String] = []
    for text in texts {
      if let place = way.firstIndex(of: text) {
        way.removeSubrange((place + 1)...)
      } else {
        way.append(text)
      }
    }
    return way
  }

  @Test("Each object's place is the way that paths tells first", arguments: 0..<150)
  func oracle(_ seed: Int) throws {
    let exported = try Shop.exported(RandomShop.make(seed: UInt64(seed)))
    let graph = exported.graph
    let found = try Self.places(exported)
    var compared = 0
    for node in graph.nodes {
      let told = try paths(
        to: [node], in: graph, options: PathOptions(maximum: 1, isMerged: true))
      guard let path = told.groups.first?.path else {
        #expect(
          found[node.position].first
            == (graph.isReachable[node.position] ? RetainPlaces.held : RetainPlaces.leaked)
            || found[node.position].first == RetainPlaces.held
            || found[node.position].first == RetainPlaces.leaked)
        continue
      }
      // A folded target is a part of the field that holds it, as its holder would be.
      #expect(found[node.position] == Self.folded(Self.texts(of: path, exported)), "\(node)")
      compared += 1
    }
    #expect(
      compared == graph.nodes.count { node in found[node.position].first?.hasPrefix("(") == false })
  }

  @Test("A list of a hundred thousand links is one place, and leaks begin where they are entered")
  func list() throws {
    var heap = SnapshotDSL()
    let owner = heap.object("App.Owner")
    heap.root(.global, address: 0x5000, to: owner)
    var last = heap.object("App.Link")
    heap.edge(owner, "first", to: last)
    for _ in 0..<100_000 {
      let next = heap.object("App.Link")
      heap.edge(last, "next", to: next)
      last = next
    }
    let lost = heap.object("App.Lost")
    heap.edge(lost, "itself", to: lost)
    let kept = heap.object("App.Kept")
    heap.edge(lost, "kept", to: kept)
    let found = try Self.places(try Shop.exported(heap.snapshot()))
    #expect(Set(found).count == 5)
    #expect(found[100_000] == ["static App.Hub.shared", "App.Owner.first", "App.Link.next"])
    #expect(found[Int(lost.provisionalRow)] == [RetainPlaces.leaked])
    #expect(found[Int(kept.provisionalRow)] == [RetainPlaces.leaked, "App.Lost.kept"])
  }

  @Test("Storage within storage makes no text that grows with it")
  func zigzag() throws {
    var heap = SnapshotDSL()
    let owner = heap.object("App.Owner")
    heap.root(.global, address: 0x5000, to: owner)
    var last = owner
    for place in 0..<5_000 {
      let next = heap.box()
      heap.edge(last, place % 2 == 0 ? "left" : "right", to: next)
      last = next
    }
    let end = heap.object("App.End")
    heap.edge(last, "end", to: end)
    let found = try Self.places(try Shop.exported(heap.snapshot()))
    #expect(found.allSatisfy { $0.allSatisfy { $0.utf8.count < 200 } })
    #expect(Set(found).count < 60)
    #expect(found[Int(end.provisionalRow)].last?.hasPrefix("App.Owner.left.right.left") == true)
  }
}
