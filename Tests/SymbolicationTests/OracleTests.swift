// Tests of ModuleSymbols against llvm-symbolizer: the same names, files, lines and inlined calls.

import Foundation
import Testing

@testable import Symbolication

@Suite struct OracleTests {
  /// What llvm-symbolizer says of an address.
  private struct Answer: Decodable {
    var Address: String
    var Symbol: [Frame]

    struct Frame: Decodable {
      var FunctionName: String
      var FileName: String
      var Line: Int
    }
  }

  @Test("The toolchain's symbolizer says the same", arguments: [Program.Build.debug, .optimized])
  func agrees(build: Program.Build) throws {
    let program = try Program.built(build)
    let file = try #require(ELFFile(path: program.path))
    let symbols = ModuleSymbols(name: "App", image: file, debugFile: file)
    var random = Generator(seed: 7)
    // Only functions with a size and code of the program itself; what lies between is padding.
    let functions = symbols.symbols.functions.rows.filter { isSwiftMangled($0.value) }
    let addresses = functions.flatMap { row in
      (0..<6).map { _ in UInt64.random(in: row.start..<row.end, using: &random) }
    }
    let toolchain = try Program.run(["sh", "-c", "command -v swiftc"])
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let symbolizer = URL(fileURLWithPath: toolchain).resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("llvm-symbolizer").path
    let output = try Program.run(
      [symbolizer, "--output-style=JSON", "--no-demangle", "--inlines", "--obj=\(program.path)"],
      input: addresses.map { "0x" + String($0, radix: 16) + "\n" }.joined())
    let answers = try output.split(separator: "\n").map {
      try JSONDecoder().decode(Answer.self, from: Data($0.utf8))
    }
    try #require(answers.count == addresses.count)
    #expect(addresses.count > 300)
    var inlined = 0
    for (address, answer) in zip(addresses, answers) {
      let frames = symbols.rawFrames(at: address)
      let place = "0x" + String(address, radix: 16)
      #expect(frames.count == max(answer.Symbol.count, 1), "\(place)")
      inlined += frames.count - 1
      for (frame, expected) in zip(frames, answer.Symbol) {
        #expect(frame.name.map { String(cString: $0) } == expected.FunctionName, "\(place)")
        #expect(frame.place.line ?? 0 == expected.Line, "\(place)")
        if let file = frame.place.file { #expect(file == expected.FileName, "\(place)") }
      }
    }
    #expect(build == .debug || inlined > 20)
  }
}
