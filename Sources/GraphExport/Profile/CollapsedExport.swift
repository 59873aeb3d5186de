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
    // Types and generations are no part of it: stacks that differ in nothing else are one.
    var rowByFrames: [[ProfileFrame]: Int] = [:]
    var lines: [(frames: [ProfileFrame], value: Int64)] = []
    for (key, cost) in samples.samples {
      let frames = samples.frames(of: key)
      let amount = value == .bytes ? cost.bytes.rawValue : Int64(cost.count)
      if let row = rowByFrames[frames] {
        lines[row].value += amount
      } else {
        rowByFrames[frames] = lines.count
        lines.append((frames, amount))
      }
    }
    for line in lines where line.value > 0 {
      for (place, frame) in line.frames.reversed().enumerated() {
        if place > 0 { stream.put(byte: UInt8(ascii: ";")) }
        // The separator and the end of a line can't stand in a name.
        let name = samples.source(of: frame).function
        for byte in name.utf8 {
          switch byte {
          case UInt8(ascii: ";"): stream.put(byte: UInt8(ascii: ","))
          case ..<0x20: stream.put(byte: UInt8(ascii: " "))
          default: stream.put(byte: byte)
          }
        }
      }
      stream.put(byte: UInt8(ascii: " "))
      stream.put(decimal: line.value)
      stream.put(byte: UInt8(ascii: "\n"))
      try stream.checkpoint()
    }
    try stream.flush()
  }
}
