// Goldens: what reports looked like when somebody last found them right.

import Foundation
import Testing

/// Holds a text against a file in `Goldens`.
///
/// `RECORD_GOLDENS=1 swift test` writes the files anew and fails, so that nobody takes a recording for a
/// test; look at the difference before it is committed.
func expectGolden(
  _ text: String, named name: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Goldens").appendingPathComponent(name)
  if ProcessInfo.processInfo.environment["RECORD_GOLDENS"] == "1" {
    try text.write(to: file, atomically: true, encoding: .utf8)
    Issue.record("recorded \(name)", sourceLocation: sourceLocation)
    return
  }
  let golden = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
  guard text != golden else { return }
  Attachment.record(text, named: name, sourceLocation: sourceLocation)
  let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  let wanted = golden.split(separator: "\n", omittingEmptySubsequences: false)
  let place =
    zip(lines, wanted).enumerated().first { $1.0 != $1.1 }?.offset
    ?? min(lines.count, wanted.count)
  Issue.record(
    """
    \(name) differs from line \(place + 1) on:
    - \(place < wanted.count ? wanted[place] : "(the golden ends)")
    + \(place < lines.count ? lines[place] : "(the text ends)")
    RECORD_GOLDENS=1 records it anew
    """, sourceLocation: sourceLocation)
}
