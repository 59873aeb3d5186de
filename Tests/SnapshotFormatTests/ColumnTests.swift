// Tests of Column: its rows, however they came there, for as long as anybody has it.

import SnapshotFormat
import Testing

@Suite struct ColumnTests {
  @Test("A column has the rows of its array, and those that a closure fills in")
  func rows() {
    let column = Column<UInt32>([3, 1, 2])
    #expect(Array(column) == [3, 1, 2])
    #expect(column.count == 3)
    #expect(column[1] == 1)
    #expect(column.withUnsafeBufferPointer { $0.reduce(0, +) } == 6)
    let filled = Column<UInt16>(count: 4) { rows in
      for row in rows.indices { rows.initializeElement(at: row, to: UInt16(row * row)) }
    }
    #expect(Array(filled) == [0, 1, 4, 9])
    #expect(Array(Column<UInt8>()) == [])
    #expect(Column<UInt8>([]).withUnsafeBufferPointer { $0.count } == 0)
  }

  @Test("A column keeps what owns its rows")
  func owner() {
    final class Owner {
      let rows = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 2)
      init() { rows.initialize(repeating: 7) }
      deinit { rows.deallocate() }
    }
    weak var owner: Owner?
    var column: Column<UInt8>? = {
      let new = Owner()
      owner = new
      return Column(UnsafeBufferPointer(new.rows), owner: new)
    }()
    #expect(owner != nil)
    #expect(column.map { Array($0) } == [7, 7])
    column = nil
    #expect(owner == nil)
  }

  @Test("A row outside its column ends the process")
  func outside() async {
    await #expect(processExitsWith: .failure) { _ = Column<UInt8>([1, 2])[2] }
    await #expect(processExitsWith: .failure) { _ = Column<UInt8>([1, 2])[-1] }
  }

  @Test("A string table has its texts; bytes that are no UTF-8 are replaced")
  func strings() {
    let table = StringTable(["", "é", "", "abc"])
    #expect(table.count == 4)
    #expect((0..<4).map { table[UInt32($0)] } == ["", "é", "", "abc"])
    let broken = StringTable(offset: Column([0, 0, 2]), bytes: Column([0xFF, 0x41]))
    #expect(broken[1] == "\u{FFFD}A")
  }
}
