// AnalyzerMemoryTests: how much memory a node of a snapshot takes while the tool looks at it.

internal import Foundation
internal import Testing

@Suite struct AnalyzerMemoryTests {
  /// The most bytes that a product had resident, run to its end.
  private func peak(_ product: String, _ arguments: [String]) throws -> Int {
    let program = buildFolder.appendingPathComponent(product).path
    var files: posix_spawn_file_actions_t = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&files)
    defer { posix_spawn_file_actions_destroy(&files) }
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0)
    var texts: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
    defer { texts.forEach { free($0) } }
    var child: pid_t = 0
    guard posix_spawn(&child, program, &files, nil, &texts, environ) == 0 else {
      throw RunFailure(description: "\(program) can't be started")
    }
    var status: Int32 = 0
    var usage = rusage()
    guard wait4(child, &status, 0, &usage) == child, status & 0x7f == 0, status >> 8 & 0xff < 2
    else {
      throw RunFailure(description: "\(product) ended with \(status)")
    }
    return usage.ru_maxrss * 1024
  }

  /// The file is mapped, 58 bytes of it a node, and counts; so do the program's own pages, which the difference of two
  /// sizes takes out. 123 bytes were counted when the bound was set.
  @Test("A node with 2.5 references takes so many bytes while leaks are looked for")
  func leaks() throws {
    let folder = try ScratchFolder()
    let counts = [40_000, 160_000]
    let peaks = try counts.map { count in
      let file = folder.url.appendingPathComponent("\(count).mgraph").path
      let made = try run("SnapshotMaker", ["\(count)", "\(count * 5 / 2)", file])
      #expect(made.status == 0, "\(made.errors)")
      return try peak("memgraph", ["leaks", file])
    }
    let each = Double(peaks[1] - peaks[0]) / Double(counts[1] - counts[0])
    #expect(each <= 135, "\(each) bytes a node")
    #expect(each >= 58, "\(each) bytes a node: the whole snapshot is looked at")
  }
}
