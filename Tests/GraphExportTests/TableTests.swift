// Tests of tables: the database against the snapshot, views against the analysis, CSV and JSON against the database.

import Foundation
import GraphAnalysis
import GraphPrimitives
import GraphReport
import HeapGraph
import SnapshotFormat
import Testing

@testable import GraphExport

@Suite struct TableTests {
  @Test("Every row of a random heap is in the database", arguments: 0..<40)
  func whole(_ seed: Int) throws {
    let exported = try Shop.exported(RandomShop.make(seed: UInt64(seed) + 900))
    let graph = exported.graph
    let snapshot = graph.snapshot
    let file = try SQLiteFile([exported])
    #expect(try file.rows("PRAGMA integrity_check") == [["ok"]])
    let objects = try file.rows(
      "SELECT address, type, kind, state, bytes, generation, mark, coalesce(strong_count, 'none'), is_reachable, retained_bytes FROM object_list ORDER BY id"
    )
    try #require(objects.count == graph.nodeCount)
    for (node, row) in zip(graph.nodes, objects) {
      #expect(row[0] == graph.address(of: node).description)
      #expect(row[1] == exported.names.typeName(of: node))
      #expect(row[2] == graph.kind(of: node).name && row[3] == graph.state(of: node).name)
      #expect(row[4] == "\(snapshot.nodes.bytes(node))")
      #expect(row[5] == "\(snapshot.nodes.generation[node.position])")
      #expect(row[6] == exported.names.generation(of: node) ?? "NULL")
      #expect(row[7] == graph.strongCount(of: node).map { "\($0)" } ?? "none")
      #expect(row[8] == (graph.isReachable[node.position] ? "1" : "0"))
      #expect(row[9] == "\(try exported.sizes().retained(by: node).bytes.rawValue)")
    }
    let edges = try file.rows(
      "SELECT source_id, target_id, fields.field, coalesce(via, ''), strength, provenance, holds FROM edges JOIN fields ON fields.id = field_id ORDER BY source_id, place"
    )
    try #require(edges.count == snapshot.edges.count)
    var next = 0
    for node in graph.nodes {
      for row in graph.edges(of: node) {
        let edge = EdgeIndex(row)
        let text = exported.names.text(of: edge, from: node)
        let info = graph.info(of: edge)
        let holds = info.isStrong && graph.state(of: node) != .deinited
        let target = graph.target(of: edge).position
        #expect(edges[next][..<2] == ["\(node.position + 1)", "\(target + 1)"])
        #expect(edges[next][2..<4] == [text.field, text.via])
        #expect(edges[next][4...] == [info.strength.name, info.provenance.name, holds ? "1" : "0"])
        next += 1
      }
    }
    #expect(try file.rows("SELECT count(*) FROM roots") == [[String(snapshot.roots.count)]])
    let live = try file.rows("SELECT type, objects, bytes FROM live_types ORDER BY type")
    let wanted = histogram(of: liveNodes(of: graph), in: graph).costByType.map { name, cost in
      [Names.sourceSpelling(of: name), "\(cost.count)", "\(cost.bytes.rawValue)"]
    }
    #expect(live == wanted.sorted { $0[0] < $1[0] })
  }

  @Test("An object of two marks has one identity, and what is at its address later has another")
  func identity() throws {
    let file = try SQLiteFile(try Shop.marks())
    let shared = try file.rows(
      "SELECT count(*) FROM objects a JOIN objects b USING (identity) WHERE a.snapshot_id = 1 AND b.snapshot_id = 2"
    )
    #expect(shared == [["9"]])
    #expect(
      try file.rows("SELECT count(DISTINCT identity) FROM objects WHERE snapshot_id = 2")
        == file.rows("SELECT count(*) FROM objects WHERE snapshot_id = 2"))
  }

  @Test("Sizes above 4 GB and any name are kept")
  func oddValues() throws {
    let file = try SQLiteFile([try Shop.marks()[1]])
    #expect(try file.rows("SELECT bytes FROM object_list WHERE type = 'Film'") == [["6442450944"]])
    #expect(
      try file.rows(
        "SELECT count(*) FROM types WHERE name = 'odd' || char(10) || '\"one\", really'")
        == [["1"]])
    let csv = try Shop.text(.csv, of: [Shop.marks()[1]]) { $0.table = .types }
    #expect(csv.contains("\"odd\n\"\"one\"\", really\""))
    let json = try Shop.bytes(.json, of: [Shop.marks()[1]]) { $0.table = .types }.bytes
    let value = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
    #expect(value?["schema"] as? String == "memory-graph/tables/1")
  }

  @Test("Findings are those of the analysis, with their objects")
  func findings() throws {
    let exported = try Shop.marks()[1]
    let file = try SQLiteFile([exported])
    let wanted = try exported.leaks().findings
    #expect(
      try file.rows("SELECT fingerprint, kind, objects, retained_bytes FROM findings ORDER BY id")
        == wanted.map {
          [$0.fingerprint, $0.kind.name, String($0.own.count), String($0.retained.bytes.rawValue)]
        })
    #expect(
      try file.rows("SELECT count(*) FROM finding_objects")
        == [[String(wanted.reduce(0) { $0 + $1.members.count })]])
    #expect(
      try file.rows(
        "SELECT DISTINCT type FROM object_list JOIN finding_objects ON object_id = id ORDER BY type"
      )
      .map { $0[0] } == ["App.Cart", "App.Ghost"])
  }

  @Test("The innermost function of the program's own is the site")
  func sites() throws {
    let file = try SQLiteFile([try Shop.marks()[1]])
    let sites = try file.rows(
      "SELECT function, line, objects FROM allocation_sites ORDER BY function")
    #expect(sites == [["App.Hub.init()", "7", "4"], ["App.fill(_:)", "20", "7"]])
  }

  @Test("A database that can't be written is an error with SQLite's reason")
  func unwritable() throws {
    #expect(throws: ExportError.self) {
      try SQLiteExport.write([Shop.marks()[0]], to: "/nowhere/at/all.sqlite")
    }
    #expect(throws: ExportError.self) {
      try SQLiteExport.write([Shop.marks()[0]], to: "/dev/full")
    }
  }
}
