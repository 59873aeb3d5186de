// AcceptedFindings: what a check finds and does not fail for.

internal import Commands
internal import Glibc
internal import GraphAnalysis
internal import GraphReport
internal import HeapGraph

/// Types that the test ignores, and a file of known findings.
struct AcceptedFindings: Sendable {
  private let _patterns: [String]
  private let _known: KnownFindings?

  /// - Parameters:
  ///   - ignored: names of types, with `*` and `?`.
  ///   - known: the path of a file of known findings, from the folder in which the tests run or from that of the
  ///     test's file.
  ///   - source: the path of the test's file.
  /// - Throws: ``CheckProblem`` where the file can't be read.
  init(ignoring ignored: [String], known: String?, source: String) throws(CheckProblem) {
    _patterns = ignored
    guard let known else {
      _known = nil
      return
    }
    var path = known
    if !known.hasPrefix("/"), access(known, F_OK) != 0, let slash = source.lastIndex(of: "/") {
      path = source[...slash] + known
    }
    do {
      _known = try KnownFindings(contentsOf: path)
    } catch {
      throw CheckProblem("the known findings can't be read: \(error.sentence)")
    }
  }

  /// The findings that count, and what the file says of the others.
  func judge(
    _ findings: [Finding], in examination: Examination
  ) throws -> (open: [Finding], hiddenCount: Int) {
    let graph = examination.graph
    let patterns = _patterns.map { TypePattern($0) }
    var open = findings.filter { finding in
      let nodes = finding.members.prefix(1) + finding.cycle.map(\.node)
      return !nodes.contains { node in
        let (name, module) = (graph.typeName(of: node), graph.module(of: node))
        return patterns.contains { $0.matches(name, module: module) }
      }
    }
    if let _known {
      let today = Day(
        secondsSince1970: getenv("SOURCE_DATE_EPOCH").flatMap { Int(String(cString: $0)) }
          ?? time(nil))
      open = _known.judge(open, today: today, names: examination.names).open
    }
    return (open, findings.count - open.count)
  }
}
