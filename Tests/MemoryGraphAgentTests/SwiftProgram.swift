// SwiftProgram: a Swift program that links the agent and says what it sees.

/// A Swift program that links the agent, uses the whole of its API, and prints what came of it.
enum SwiftProgram {
  static let text = #"""
    import Foundation
    import Glibc
    import MemoryGraphAgent
    import SnapshotFormat

    final class Node {
      var next: Node?
    }

    final class Session {
      let handle: UnsafeMutableRawPointer
      init() { handle = malloc(100) }
      deinit { free(handle) }
    }

    /// Counts itself by the generation that it was born in.
    final class Item {
      nonisolated(unsafe) static var live = [Int](repeating: 0, count: 5)
      let generation: Int
      init(generation: Int) {
        self.generation = generation
        Item.live[generation] += 1
      }
      deinit { Item.live[generation] -= 1 }
    }

    func names(_ snapshot: Snapshot) -> [String] {
      snapshot.nodeNames.values.map { snapshot.strings[$0] }.sorted()
    }

    func count(_ type: String, in snapshot: Snapshot) -> Int {
      (0..<snapshot.nodes.count).filter {
        snapshot.strings[snapshot.types.name[Int(snapshot.nodes.type[$0])]].hasSuffix(type)
      }.count
    }

    @main
    struct Program {
      static func main() throws {
        switch CommandLine.arguments[1] {
        case "registered":
          // No discovery: the graph is what the program tells.
          let ring = Node()
          ring.next = ring
          MemoryGraph.register(ring, as: "Ring")
          var session: Session? = Session()
          MemoryGraph.register(session!, as: "Session")
          let encoder = MemoryGraph.registerResource(session!.handle, type: "Encoder", bytes: 4096)
          MemoryGraph.addStrongEdge(from: ring, to: session!, label: "session")
          MemoryGraph.addStrongEdge(from: session!, to: encoder, label: "encoder")
          var snapshot = try MemoryGraph.snapshot(to: "registered-1.mgraph")
          print(names(snapshot), snapshot.nodes.count, snapshot.edges.count)
          for row in 0..<snapshot.nodes.count
          where snapshot.strings[snapshot.types.name[Int(snapshot.nodes.type[row])]] == "Encoder" {
            print("encoder", snapshot.nodes.bytes(row))
          }
          // The program's own free ends the registrations.
          session = nil
          snapshot = try MemoryGraph.snapshot(to: "registered-2.mgraph")
          print(names(snapshot), snapshot.nodes.count, snapshot.edges.count)
          ring.next = nil
        case "started":
          try MemoryGraph.start()
          try MemoryGraph.start()
          let nodes = (0..<7).map { _ in Node() }
          try MemoryGraph.mark("first")
          let more = (0..<3).map { _ in Node() }
          let snapshot = try MemoryGraph.snapshot(to: "started.mgraph")
          print(count(".Node", in: snapshot), snapshot.marks.map(\.name), snapshot.process.mark)
          withExtendedLifetime((nodes, more)) {}
        case "late":
          // Made before the agent looks, and the only holder of what is made after.
          let holder = Node()
          try MemoryGraph.start()
          holder.next = Node()
          holder.next?.next = Node()
          try MemoryGraph.snapshot(to: "late.mgraph")
          withExtendedLifetime(holder) {}
        case "marks":
          let nodes = (0..<5).map { _ in Node() }
          try MemoryGraph.mark("to disk")
          withExtendedLifetime(nodes) {}
        case "generations":
          // Some die in each generation, of all ages; others take their addresses.
          var items: [Item] = []
          var random: UInt32 = 7
          func next(_ limit: Int) -> Int {
            random = random &* 1_664_525 &+ 1_013_904_223
            return Int(random >> 8) % limit
          }
          for generation in 0..<5 {
            for _ in 0..<40 + next(40) { items.append(Item(generation: generation)) }
            for _ in 0..<next(items.count) { items.remove(at: next(items.count)) }
            for _ in 0..<10 { items.append(Item(generation: generation)) }
            try MemoryGraph.mark("g\(generation)")
            print(Item.live.map(String.init).joined(separator: " "))
          }
          withExtendedLifetime(items) {}
        case "memory":
          // Touched and untouched blocks, freed ones below one that is kept, and a pool of one's own.
          let megabyte = 1 << 20
          let touched = malloc(20 * megabyte)!
          memset(touched, 1, 20 * megabyte)
          let untouched = malloc(30 * megabyte)!
          let pool = mmap(
            nil, 10 * megabyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
          memset(pool, 1, 10 * megabyte)
          let freed = (0..<8192).map { _ -> UnsafeMutableRawPointer in
            let block = malloc(1000)!
            memset(block, 1, 1000)
            return block
          }
          let kept = malloc(1000)
          for block in freed { free(block) }
          try MemoryGraph.mark("memory")
          let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            .split(separator: " ")
          print(Int(fields[1])! * Int(getpagesize()))
          withExtendedLifetime((touched, untouched, kept)) {}
        case "fails":
          do {
            try MemoryGraph.snapshot(to: "/nowhere/at/all.mgraph")
          } catch {
            print(error)
          }
          print("goes on")
        default:
          exit(98)
        }
      }
    }
    """#
}
