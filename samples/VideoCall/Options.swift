// The command line: how many calls, which of the four mistakes are in, and whether a call is torn down.
import Foundation

/// The ways in which a screen is kept from dying; each is a mistake of its own.
struct Leaks: OptionSet, CustomStringConvertible {
  let rawValue: Int

  /// The client's closure captures the screen that owns the client.
  static let closure = Leaks(rawValue: 1)
  /// Delegates, tracks and renderers hold each other and the screen.
  static let renderers = Leaks(rawValue: 2)
  /// The notification center and the run loop hold the screen.
  static let observers = Leaks(rawValue: 4)
  /// The native connection holds the screen until somebody closes it.
  static let handle = Leaks(rawValue: 8)

  static let all: Leaks = [.closure, .renderers, .observers, .handle]

  static let byName: KeyValuePairs = [
    "closure": Leaks.closure, "renderers": .renderers, "observers": .observers, "handle": .handle,
  ]

  var description: String {
    let names = Leaks.byName.filter { contains($0.value) }.map(\.key)
    return names.isEmpty ? "none" : names.joined(separator: ",")
  }
}

/// What the program was asked to do.
struct Options {
  var calls = 5
  var leaks = Leaks.all
  var tearsDown = false

  init(arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--calls":
        guard let text = rest.popFirst(), let count = Int(text), count > 0 else {
          throw UsageError(what: "--calls needs a number above 0")
        }
        calls = count
      case "--leak":
        guard let names = rest.popFirst() else { throw UsageError(what: "--leak needs a list") }
        leaks = try Self.leaks(named: names)
      case "--teardown":
        tearsDown = true
      default:
        throw UsageError(what: "unknown argument \(argument)")
      }
    }
  }

  private static func leaks(named list: String) throws(UsageError) -> Leaks {
    switch list {
    case "all": return .all
    case "none": return []
    default: break
    }
    var leaks: Leaks = []
    for name in list.split(separator: ",") {
      guard let leak = Leaks.byName.first(where: { $0.key == name }) else {
        throw UsageError(what: "there is no leak called \(name)")
      }
      leaks.insert(leak.value)
    }
    return leaks
  }
}

struct UsageError: Error {
  var what: String
}

func exitWithUsage(_ error: UsageError) -> Never {
  let usage =
    "usage: VideoCall [--calls N] [--leak closure,renderers,observers,handle|all|none] [--teardown]"
  FileHandle.standardError.write(Data("VideoCall: \(error.what)\n\(usage)\n".utf8))
  exit(2)
}
