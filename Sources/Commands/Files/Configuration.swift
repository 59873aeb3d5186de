// Configuration: what a project declares once, in .memgraph.json.

internal import GraphAnalysis

/// What a project declares about its own memory.
///
///     {"nonOwners": ["App.Cache.entries", "lastFew"]}
struct Configuration {
  /// References that own nothing: what holds an object by one is no explanation of its life.
  var nonOwners: [FieldPattern] = []

  /// The file that is read where no other is named.
  static let standardPath = ".memgraph.json"

  init() {}

  /// Reads a file.
  init(contentsOf path: String) throws(CommandError) {
    let file = try InputFile(path)
    for (_, value) in try file.members(
      of: file.document, "the configuration", known: ["nonOwners"])
    {
      guard let elements = value.elements else {
        throw file.error(
          value, "\"nonOwners\" is \(value.kind), not an array",
          mend: "write it as [\"App.Cache.entries\"]")
      }
      for element in elements {
        guard let text = element.string, !text.isEmpty else {
          throw file.error(
            element,
            "a non-owner is \(element.string == nil ? element.kind : "empty"), not a field",
            mend: "write it as \"App.Cache.entries\" or \"entries\"")
        }
        nonOwners.append(FieldPattern(text))
      }
    }
  }
}

extension Invocation {
  /// What the file says that `--config` names, or that lies in the working folder.
  func configuration() throws(CommandError) -> Configuration {
    if let path = arguments.text(.config) { return try Configuration(contentsOf: path) }
    return InputFile.exists(Configuration.standardPath)
      ? try Configuration(contentsOf: Configuration.standardPath) : Configuration()
  }
}
