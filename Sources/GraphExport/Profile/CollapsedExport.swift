// CollapsedExport: what is alive as collapsed stacks.

internal import GraphPrimitives
internal import Symbolication

/// What a line of collapsed stacks counts.
package enum ProfileValue: String, CaseIterable, Sendable {
  case bytes
  case objects
}

/// Writes collapsed stacks, one a line: the frames from the outermost on, separated by semicolons, a space, and how much.
///
/// `flamegraph.pl`, inferno and speedscope read it.
package enum CollapsedExport {
  /// - Throws: What an analysis and the stream's taker throw.
  /// - Complexity: O(*V* + *E*), beside that O(frames) for each line.
  package static func write(
    _ snapshot: ExportedSnapshot, by kind: ProfileKind, value: ProfileValue, to stream: ExportStream
  ) throws {
    let samples = try ProfileSamples([snapshot], by: kind)
    // Types, generations, files and lines are no part of it: stacks that differ in nothing else are one.
    var rowByText: [String: Int] = [:]
    var lines: [(text: String, value: Int64)] = []
    for (key, cost) in samples.samples {
      let text = samples.frames(of: key).reversed().map { word(samples.source(of: $0).function) }
        .joined(separator: ";")
      let amount = value == .bytes ? cost.bytes.rawValue : Int64(cost.count)
      if let row = rowByText[text] {
        lines[row].value += amount
      } else {
        rowByText[text] = lines.count
        lines.append((text, amount))
      }
    }
    for line in lines where line.value > 0 {
      stream.put(line.text)
      stream.put(byte: UInt8(ascii: " "))
      stream.put(decimal: line.value)
      stream.put(byte: UInt8(ascii: "\n"))
      try stream.checkpoint()
    }
    try stream.flush()
  }

  /// A name without what separates frames and lines.
  private static func word(_ name: String) -> String {
    guard name.utf8.contains(where: { $0 == UInt8(ascii: ";") || $0 < 0x20 }) else { return name }
    return String(
      decoding: name.utf8.map { byte in
        byte == UInt8(ascii: ";") ? UInt8(ascii: ",") : byte < 0x20 ? UInt8(ascii: " ") : byte
      }, as: UTF8.self)
  }
}
