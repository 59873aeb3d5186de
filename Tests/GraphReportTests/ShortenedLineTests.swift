// ShortenedLineTests: lines that are cut in the middle.

import Testing

@testable import GraphReport

@Suite struct ShortenedLineTests {
  @Test(
    "The program's own part of a library's type stays, else both ends",
    arguments: [
      ("AsyncStream<Array<Feed.Post>>._Storage", 24, "AsyncSt…Feed.Post…torage"),
      ("_ContiguousArrayStorage<App.Listener>", 30, "_ContiguousArray…App.Listener>"),
      ("static App.Hub.shared → App.Hub.cache[_] → App.Entry", 24, "static App.H…→ App.Entry"),
      ("App.Short", 24, "App.Short"),
    ])
  func cut(text: String, width: Int, expected: String) {
    #expect(ShortenedLine.shortened(Line(text), to: width).text == expected)
  }

  @Test("No line is wider than it may be, and it keeps its first and last character")
  func widths() {
    for text in ["Dictionary<String, Array<App.Model.Inner>>.Values", "a.b", "NSObject<X.Y>"] {
      for width in 8..<60 {
        let cut = ShortenedLine.shortened(Line(text, .code), to: width).text
        #expect(cut.count <= width)
        #expect(cut.first == text.first && cut.last == text.last)
      }
    }
  }
}
