// ControlCharacters: text that moves no cursor and changes no colour, whatever is in it.

/// Text whose control characters are written out, as `\u{1B}`: what a program calls its types, and what files are
/// called, may have sequences in it that a terminal obeys. Ends of lines and tabs stay.
///
/// - Complexity: O(*n*) for *n* bytes.
package func withoutControls(_ text: String) -> String {
  // Nearly all text is free of them: bytes below a space, DEL, and U+0080 to U+009F, which begin with C2.
  guard text.utf8.contains(where: { $0 < 0x20 && $0 != 10 && $0 != 9 || $0 == 0x7f || $0 == 0xc2 })
  else { return text }
  var result = ""
  for scalar in text.unicodeScalars {
    switch scalar.value {
    case 9, 10: result.unicodeScalars.append(scalar)
    case 0..<0x20, 0x7f..<0xa0: result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result
}
