// Tests of StreamBuffers: what streams have in their buffers holds nothing.

import GraphPrimitives
import SnapshotFormat
import Testing

@testable import HeapCapture

@Suite struct StreamBuffersTests {
  @Test("Old words in a stream's buffer hold nothing")
  func oldWords() throws {
    let program = try OutsideProgram(["streams"], withAgent: true)
    let twin = try Snapshot(contentsOf: try program.mark("twin"))
    let attached = try captureProcess(program.pid).snapshot
    for snapshot in [twin, attached] {
      let nodes = (0..<snapshot.nodes.count).filter {
        let type = snapshot.types.name[Int(snapshot.nodes.type[$0])]
        return snapshot.strings[StringIndex(rawValue: type)] == "OutsideTarget.Node"
      }
      #expect(nodes.count == 56)
      let held = Set(snapshot.edges.target).union(snapshot.roots.target)
      #expect(nodes.filter { held.contains(UInt32($0)) } == [], "\(snapshot.process.source)")
    }
  }

  private static let data: UInt64 = 0x10_0000
  private static let blocks: UInt64 = 0x20_0000

  @Test("A list of streams that goes in a circle or leads nowhere ends")
  func damagedList() {
    let memory = FakeMemory(
      Self.data..<(Self.data + 0x1000), Self.blocks..<(Self.blocks + 0x1000))
    let nodes = HeapNodes()
    nodes.append(HeapBlock(address: Self.blocks, size: 64))
    nodes.append(HeapBlock(address: Self.blocks + 256, size: 64))
    nodes.buildIndex()
    func rows() -> [Int] {
      streamBuffers(from: Self.data, nodes: nodes, memory: TargetMemory(memory))
    }
    #expect(rows() == [])
    memory.set(Self.data, Self.data + 0x100)
    memory.set(Self.data + 0x100 + 56, Self.blocks)
    memory.set(Self.data + 0x100 + 104, Self.data + 0x200)
    memory.set(Self.data + 0x200 + 56, Self.blocks + 256)
    memory.set(Self.data + 0x200 + 104, Self.data + 0x100)
    #expect(rows() == [0, 1])
    memory.set(Self.data + 0x200 + 104, 0x7777_0000)
    #expect(rows() == [0, 1])
    memory.set(Self.data, 0x7777_0000)
    #expect(rows() == [])
  }
}
