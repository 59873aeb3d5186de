// Tests of cutting the page at its slots.

import Testing

@testable import GraphViewer

@Suite struct TemplatePartsTests {
  @Test("The page that is built in has each slot once")
  func builtIn() throws {
    let parts = try #require(TemplateParts("\(ViewerTemplate.text)"))
    #expect(parts.pieces.count == TemplateParts.Slot.allCases.count + 1)
    #expect(parts.pieces[0].hasSuffix("<title>"))
    #expect(parts.pieces[2].hasSuffix("<script type=\"application/json\" id=\"summary\">"))
    #expect(parts.pieces[3].hasPrefix("</script>"))
  }

  @Test(
    "A page with a slot missing, twice or out of order is none",
    arguments: [
      "", "a<!--slot:title-->b<!--slot:static-->c<!--slot:summary-->d",
      "<!--slot:static--><!--slot:title--><!--slot:summary--><!--slot:data-->",
      "<!--slot:title--><!--slot:static--><!--slot:summary--><!--slot:data--><!--slot:data-->",
      "<!--slot:title--><!--slot:other--><!--slot:static--><!--slot:summary--><!--slot:data-->",
    ])
  func refuses(_ text: String) { #expect(TemplateParts(text) == nil) }
}
