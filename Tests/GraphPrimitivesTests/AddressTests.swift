// Tests of Address: arithmetic that wraps instead of trapping, and how one is shown.

import GraphPrimitives
import Testing

@Suite struct AddressTests {
  @Test("An address is shown in hexadecimal")
  func description() {
    #expect(Address(0x7F3A_1000_2340).description == "0x7f3a10002340")
    #expect(Address.null.description == "0x0")
    #expect("\(Address(.max))" == "0xffffffffffffffff")
  }

  @Test("Adding and taking away distances are each other's inverse, at the ends too")
  func arithmetic() {
    let addresses: [UInt64] = [0, 1, 0x1000, 1 << 63, .max - 1, .max]
    for address in addresses.map(Address.init) {
      for distance in [0, 1, -1, 4_096, Int.max, Int.min] {
        #expect((address + distance) - address == distance)
      }
    }
    #expect(Address(.max) + 1 == .null)
    #expect(Address(0x1000) - Address(0x1010) == -16)
  }

  @Test("Addresses are compared as unsigned numbers")
  func order() {
    #expect(Address(1) < Address(1 << 63))
    #expect(!(Address(5) < Address(5)))
    #expect([Address(3), .null, Address(.max)].sorted() == [.null, Address(3), Address(.max)])
  }
}
