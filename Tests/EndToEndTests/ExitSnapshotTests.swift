// The snapshot of a program's end: main has returned, and its old frame holds nothing any more.
internal import Foundation
internal import Testing

@Suite struct ExitSnapshotTests {
  private static let source = """
    final class Lost { var number = 0 }
    final class Kept { var number = 0 }
    nonisolated(unsafe) var kept: [Kept] = []

    @main struct Program {
      static func main() {
        // Each of them is retained once too often, and only this frame knows where it is.
        withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer.self, capacity: 5) { places in
          for index in 0..<5 {
            places[index] = Unmanaged.passRetained(Lost()).toOpaque()
            kept.append(Kept())
          }
          print(places.count)
        }
        let last = Unmanaged.passRetained(Lost())
        print(UInt(bitPattern: last.toOpaque()) % 16)
      }
    }
    """

  @Test(
    "What only the frame of a main knew that has returned is leaked", arguments: ["-Onone", "-O"])
  func returnedMain(optimization: String) throws {
    let folder = try ScratchFolder()
    let file = folder.url.appendingPathComponent("Program.swift")
    try Self.source.write(to: file, atomically: true, encoding: .utf8)
    let program = folder.url.appendingPathComponent("Program")
    let made = try run(
      URL(fileURLWithPath: "/usr/bin/env"),
      [
        "swiftc", optimization, "-g", "-parse-as-library", "-module-name", "Program", file.path,
        "-o",
        program.path,
      ])
    try #require(made.status == 0, "\(made.errors)")
    let recording = try Recording(of: program, [])
    #expect(recording.outcome.status == 0)
    let report = try Report.of("leaks", recording.mark("exit"))
    #expect(report.totals?.leaked?.count(of: "Program.Lost") == 6)
    #expect(report.totals?.leaked?.count(of: "Program.Kept") == 0)
    #expect(report.totals?.live?.count(of: "Program.Kept") == 5)
  }
}
