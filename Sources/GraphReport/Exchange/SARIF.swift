// SARIF: the parts that every log of OASIS SARIF 2.1.0 is made of.

/// Makes logs of SARIF 2.1.0.
package enum SARIF {
  /// The name for the folder of the sources, which who reads the log puts in.
  private static let sourceRoot = "SRCROOT"

  /// A log of one run of a tool.
  ///
  /// - Parameters:
  ///   - rules: What `ruleIndex` of results counts.
  ///   - more: What the run has beside its tool and results.
  package static func log(
    tool name: String, version: String, rules: [JSONValue], results: [JSONValue],
    more: [JSONValue.Member] = []
  ) -> JSONValue {
    let driver = JSONValue.members([
      "name": .string(name), "version": .string(version), "rules": .array(rules),
    ])
    return .members([
      "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
      "version": "2.1.0",
      "runs": .array([
        .object(
          [JSONValue.Member("tool", .members(["driver": driver]))] + more + [
            JSONValue.Member("results", .array(results))
          ])
      ]),
    ])
  }

  package static func message(_ text: String) -> JSONValue { .members(["text": .string(text)]) }

  /// A place in a file.
  ///
  /// - Parameters:
  ///   - line: Counted from 1; nil for the file as a whole.
  ///   - root: Where paths below it are to be relative to it.
  package static func physicalLocation(
    _ file: String, line: Int?, root: SourceRoot? = nil
  ) -> JSONValue {
    let relative = root?.relative(file)
    return .members([
      "artifactLocation": .members([
        "uri": .string(uri(relative ?? file)),
        "uriBaseId": relative == nil ? nil : .string(sourceRoot),
      ]),
      "region": line.map { .members(["startLine": .integer($0)]) },
    ])
  }

  /// A path as a reference of RFC 3986.
  private static func uri(_ path: String) -> String {
    (path.hasPrefix("/") ? "file://" : "") + escapedPath(path)
  }

  /// A path with the characters by number that mean something in a reference.
  static func escapedPath(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF")
    var text = ""
    for byte in path.utf8 {
      let character = Character(Unicode.Scalar(byte))
      if character.isASCII, character.isLetter || character.isNumber || "/-._~".contains(character)
      {
        text.append(character)
      } else {
        text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      }
    }
    return text
  }
}
