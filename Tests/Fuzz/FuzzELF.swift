// FuzzELF: bytes as an executable with debug information, asked for everything that a report asks for.

import Glibc

@testable import Symbolication

@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  withFile(Array(UnsafeBufferPointer(start: start, count: count))) { path in
    guard let file = ELFFile(path: path) else { return }
    _ = file.debugLink
    let symbols = ModuleSymbols(name: "App", image: file, debugFile: file)
    for row in symbols.symbols.functions.rows.prefix(30) {
      _ = symbols.rawFrames(at: row.start)
      _ = symbols.closure(at: row.start)
      _ = symbols.captureNames(of: row.start)
    }
    for row in symbols.symbols.variables.rows.prefix(10) {
      _ = symbols.text(row.value)
      _ = symbols.pointer(at: row.start)
    }
    for section in file.sections.prefix(64) {
      for address in [section.addresses.lowerBound, section.addresses.upperBound &- 1] {
        _ = symbols.rawFrames(at: address)
        _ = symbols.closure(at: address)
      }
    }
  }
  return 0
}
