// Goldens: what reports looked like when somebody last found them right.

internal import Foundation
package import Testing

/// Holds a text against a file in the folder `Goldens` beside the test's own file.
///
/// `RECORD_GOLDENS=1 swift test` writes the files anew and fails, so that nobody takes a recording for a
/// test; look at the difference before it is committed.
package func expectGolden(
  _ text: String, named name: String, besideFile path: String = #filePath,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let file = URL(fileURLWithPath: path).deletingLastPathComponent()
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
