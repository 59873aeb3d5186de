// Growth of the program's own generic types, the arguments of which reports write without their modules.

import SnapshotDSL
import SnapshotFormat
import Testing

@testable import Commands

@Suite struct GenericGrowthTests {
  @Test("A type of the program's own over one of Swift's is a finding where it grows")
  func isFound() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    for boxes in [1, 3] {
      try Self.snapshot(boxes: boxes).write(to: "\(clinic.folder)/boxes-\(boxes).mgraph")
    }
    let call = clinic.call(["diff", "boxes-1.mgraph", "boxes-3.mgraph"])
    #expect(call.status == .findings)
    #expect(call.output.contains("1. 2 × App.Box<String>, abandoned"))
  }

  @Test("Marks in the order in which a shell fills them in are put in the order of time")
  func shellOrder() throws {
    let clinic = try Clinic()
    defer { clinic.remove() }
    let numbers = Array(1...12)
    for boxes in numbers {
      try Self.snapshot(boxes: boxes).write(to: "\(clinic.folder)/boxes-\(boxes).mgraph")
    }
    let inTime = numbers.map { "boxes-\($0).mgraph" }
    let ordered = clinic.call(["growth"] + inTime)
    #expect(ordered.errors.isEmpty && ordered.status == .findings)
    let asShell = clinic.call(["growth"] + inTime.sorted())
    #expect(asShell.output == ordered.output && asShell.status == .findings)
    #expect(asShell.errors.contains("the order in which they were taken"))
    // The marks for warming up are the earliest ones.
    let warm = clinic.call(["growth", "--warm-up", "9"] + inTime.sorted())
    #expect(warm.output == clinic.call(["growth"] + inTime.suffix(3)).output)
    #expect(clinic.call(["diff"] + inTime.sorted()).output == clinic.call(["diff"] + inTime).output)
  }

  private static func snapshot(boxes: Int) -> Snapshot {
    var heap = SnapshotDSL()
    heap.module("/app/App", buildID: "5eed", addresses: 0x5000..<0xA000)
    let shelf = heap.object("App.Shelf", bytes: 48)
    heap.root(.global, address: 0x5000, to: shelf)
    for box in 1...boxes {
      let generation = UInt16(box - 1)
      let object = heap.object("App.Box<Swift.String>", bytes: 32, generation: generation)
      heap.edge(shelf, "boxes[_]", to: object)
      heap.mark("box-\(box)", generation: generation)
    }
    return heap.snapshot()
  }
}
