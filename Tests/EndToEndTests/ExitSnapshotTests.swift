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

  /// A program of the test's own, built as asked.
  private struct Built {
    let folder: ScratchFolder
    let program: URL

    init(_ source: String, _ optimization: String, isStripped: Bool) throws {
      folder = try ScratchFolder()
      program = folder.url.appendingPathComponent("Program")
      let file = folder.url.appendingPathComponent("Program.swift")
      try source.write(to: file, atomically: true, encoding: .utf8)
      let words = [
        "swiftc", optimization, "-g", "-parse-as-library", "-module-name", "Program", file.path,
        "-o", program.path,
      ]
      try Self.run(words)
      if isStripped { try Self.run(["strip", "--strip-all", program.path]) }
    }

    private static func run(_ words: [String]) throws {
      let made = try EndToEndTests.run(URL(fileURLWithPath: "/usr/bin/env"), words)
      try #require(made.status == 0, "\(made.errors)")
    }
  }

  @Test(
    "What only the frame of a main knew that has returned is leaked", arguments: ["-Onone", "-O"],
    [false, true])
  func returnedMain(optimization: String, isStripped: Bool) throws {
    let built = try Built(Self.source, optimization, isStripped: isStripped)
    let recording = try Recording(of: built.program, [])
    #expect(recording.outcome.status == 0)
    let report = try Report.of("leaks", recording.mark("exit"))
    #expect(report.totals?.leaked?.count(of: "Program.Lost") == 6)
    #expect(report.totals?.leaked?.count(of: "Program.Kept") == 0)
    #expect(report.totals?.live?.count(of: "Program.Kept") == 5)
  }

  private static let endlessSource = """
    import Dispatch
    import Glibc
    final class Kept { var number = 0 }
    // So that they are objects of the heap for an optimizer, too.
    nonisolated(unsafe) weak var seen: Kept?

    @main struct Program {
      static func main() {
        let first = Kept(), second = [Kept(), Kept()]
        for kept in [first] + second { seen = kept }
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.1) {
          // The main thread has ended by now, or sleeps where it would have.
          while !mainSleeps() { usleep(1_000) }
          exit(0)
        }
        withExtendedLifetime((first, second)) { dispatchMain() }
      }
    }

    func mainSleeps() -> Bool {
      let file = open("/proc/self/stat", O_RDONLY)
      defer { close(file) }
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = read(file, &bytes, bytes.count)
      let text = String(decoding: bytes[..<max(count, 0)], as: UTF8.self)
      return text.contains(") S ") || text.contains(") Z ")
    }
    """

  @Test(
    "What a main holds that ended in dispatchMain() is held", arguments: ["-Onone", "-O"],
    [false, true])
  func endedMain(optimization: String, isStripped: Bool) throws {
    let built = try Built(Self.endlessSource, optimization, isStripped: isStripped)
    let recording = try Recording(of: built.program, [])
    #expect(recording.outcome.status == 0)
    let report = try Report.of("leaks", recording.mark("exit"))
    #expect(report.totals?.leaked?.count(of: "Program.Kept") == 0)
    #expect(report.totals?.live?.count(of: "Program.Kept") == 3)
  }
}
