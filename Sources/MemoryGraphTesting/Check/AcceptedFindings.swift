// AcceptedFindings: what a check finds and does not fail for.

internal import Commands
internal import Glibc
internal import GraphAnalysis
internal import GraphReport
internal import HeapGraph

/// Types that the test ignores, and files of known findings: the test's own, and that of the whole run.
struct AcceptedFindings: Sendable {
  /// The environment variable that names a file of known findings for all checks of a process, or several with colons between.
  static let variable = "MEMORY_GRAPH_KNOWN"

  /// What counts of some findings, and what the files say of the others.
  struct Judgement {
    var open: [Finding]

    /// Known findings of which the time is over: they count again.
    var expired: [KnownRow] = []
  }

  private let _patterns: [String]
  private let _known: [KnownFindings]

  /// - Parameters:
  ///   - ignored: names of types, with `*` and `?`.
  ///   - known: the path of a file of known findings, from the folder in which the tests run or from that of the
  ///     test's file.
  ///   - source: the path of the test's file.
  /// - Throws: ``CheckProblem`` where a file can't be read.
  init(ignoring ignored: [String], known: String?, source: String) throws(CheckProblem) {
    _patterns = ignored
    var paths = (getenv(Self.variable).map { String(cString: $0) } ?? "").split(separator: ":")
      .map(String.init)
    if var path = known {
      if !path.hasPrefix("/"), access(path, F_OK) != 0, let slash = source.lastIndex(of: "/") {
        path = source[...slash] + path
      }
      paths.insert(path, at: 0)
    }
    var files: [KnownFindings] = []
    for path in paths {
      do {
        files.append(try KnownFindings(contentsOf: path))
      } catch {
        throw CheckProblem("the known findings can't be read: \(error.sentence)")
      }
    }
    _known = files
  }

  /// Tells apart what counts.
  func judge(_ findings: [Finding], in examination: Examination) throws -> Judgement {
    let graph = examination.graph
    let patterns = _patterns.map { TypePattern($0) }
    var judged = Judgement(
      open: findings.filter { finding in
        let nodes = finding.members.prefix(1) + finding.cycle.map(\.node)
        return !nodes.contains { node in
          let (name, module) = (graph.typeName(of: node), graph.module(of: node))
          return patterns.contains { $0.matches(name, module: module) }
        }
      })
    if _known.isEmpty { return judged }
    let today = Day(
      secondsSince1970: getenv("SOURCE_DATE_EPOCH").flatMap { Int(String(cString: $0)) }
        ?? time(nil))
    for file in _known {
      let told = file.judge(judged.open, today: today, names: examination.names)
      judged.open = told.open
      judged.expired += told.rows.filter { $0.state == .expired }
    }
    // What one file accepts counts nowhere.
    let open = Set(judged.open.map(\.fingerprint))
    judged.expired.removeAll { !open.contains($0.fingerprint) }
    return judged
  }
}
