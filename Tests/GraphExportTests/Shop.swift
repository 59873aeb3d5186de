// Shop: the snapshots that exports are tested with: a program with something of everything, at two marks.

import GraphExport
import GraphPrimitives
import GraphReport
import HeapGraph
import SnapshotDSL
import SnapshotFormat
import Symbolication

/// A made-up program: a hub that a global holds with its listeners, carts that leak in a cycle through a closure, weak and
/// unowned references back, a destroyed object, C memory, and names that no format may stumble over.
enum Shop {
  static let oddName = "App.Odd<\"a, b\";\\ \u{1} é🛒>"

  static func snapshot(visits: Int, runIdentity: UInt64 = 0x5EED) -> Snapshot {
    var heap = SnapshotDSL()
    heap.builder.process.runIdentity = runIdentity
    heap.module("/app/App", buildID: "5eed", addresses: 0x5000..<0xA000)
    let main = heap.thread("App", id: 4711)
    let open = heap.stack(0x8001, 0x8100, 0x8200)
    let fill = heap.stack(0x8001, 0x8110, 0x8200)
    let hub = heap.object("App.Hub", bytes: 64, stack: open)
    let listeners = heap.storage("Swift._ContiguousArrayStorage<App.Listener>", bytes: 128)
    heap.root(.global, address: 0x5000, to: hub)
    heap.edge(hub, "listeners", to: listeners)
    let odd = heap.object(oddName, bytes: 48, name: "odd\n\"one\", really")
    heap.edge(hub, "odd", to: odd)
    heap.edge(odd, "hub", to: hub, strength: .unowned)
    let buffer = heap.block(bytes: 1_000, stack: fill)
    heap.edge(odd, "bytes", to: buffer, provenance: .scanned)
    heap.root(.stack, address: 0x7FFF_0000_0010, to: buffer, pc: 0x8200, thread: main)
    let large = heap.resource("Film", bytes: 6 << 30)
    heap.root(.declared, to: large)
    let ghost = heap.object(
      "App.Ghost", bytes: 32, strongCount: 0, unownedCount: 1, state: .deinited)
    heap.edge(odd, "ghost", to: ghost, strength: .unowned)
    heap.edge(ghost, "hub", to: hub)
    for visit in 0..<visits {
      let generation = UInt16(visit)
      let cart = heap.object("App.Cart", bytes: 96, generation: generation, stack: fill)
      let handler = heap.closureContext(bytes: 40, generation: generation, stack: fill)
      heap.edge(cart, "onChange", to: handler, function: 0x9000)
      heap.edge(handler, "capture[0]", to: cart)
      heap.edge(cart, "hub", to: hub, strength: .weak)
      let listener = heap.object("App.Listener", bytes: 32, generation: generation, stack: open)
      heap.edge(listeners, "[\(visit)]", to: listener)
      heap.edge(listener, "next", to: listener, strength: .unmanaged)
      heap.mark("visit-\(visit + 1)", generation: generation)
    }
    return heap.snapshot()
  }

  static func exported(
    _ snapshot: Snapshot, path: String = "shop.mgraph"
  ) throws
    -> ExportedSnapshot
  {
    ExportedSnapshot(
      input: ReportInput(path: path, snapshot: snapshot), graph: try HeapGraph(snapshot),
      names: Names(snapshot, symbols: ShopSymbols()))
  }

  /// Two marks of one run.
  static func marks() throws -> [ExportedSnapshot] {
    try [
      exported(snapshot(visits: 1), path: "visit-1.mgraph"),
      exported(snapshot(visits: 3), path: "visit-3.mgraph"),
    ]
  }

  /// The bytes of a format.
  static func bytes(
    _ format: ExportFormat, of snapshots: [ExportedSnapshot],
    _ change: (inout ExportRequest) -> Void = { _ in }
  ) throws -> (bytes: [UInt8], notes: [String]) {
    var request = ExportRequest(format: format)
    change(&request)
    var bytes: [UInt8] = []
    let notes = try GraphExport.write(
      request, of: snapshots, to: ExportStream { bytes += $0 })
    return (bytes, notes)
  }

  static func text(
    _ format: ExportFormat, of snapshots: [ExportedSnapshot],
    _ change: (inout ExportRequest) -> Void = { _ in }
  ) throws -> String {
    String(decoding: try bytes(format, of: snapshots, change).bytes, as: UTF8.self)
  }
}

/// The names of the shop's code.
final class ShopSymbols: Symbolizing {
  func frames(atReturnAddress address: UInt64) -> [SourceFrame] {
    func frame(_ function: String, _ line: Int?, inlined: Bool = false) -> SourceFrame {
      SourceFrame(
        function: function, file: line == nil ? nil : "/src/Shop.swift", line: line, module: "App",
        isInlined: inlined)
    }
    switch address {
    case 0x8001: return [frame("swift_allocObject", nil)]
    case 0x8100: return [frame("App.Hub.init()", 7, inlined: true), frame("App.open()", 12)]
    case 0x8110: return [frame("App.fill(_:)", 20)]
    default: return [frame("App.main()", 30)]
    }
  }

  func closure(at function: UInt64) -> ClosureName {
    ClosureName(
      kind: .closure, name: "closure #1 in App.Cart.watch()", file: "/src/Cart.swift", line: 5,
      module: "App")
  }

  func captureNames(of function: UInt64, in context: ContextSize?) -> [String] { ["self"] }

  func variable(at address: UInt64) -> (name: String, offset: UInt64, module: String)? {
    address == 0x5000 ? ("static App.Hub.shared", 0, "App") : nil
  }
}
