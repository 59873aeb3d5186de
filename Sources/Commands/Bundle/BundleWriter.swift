// BundleWriter: the files of a bundle, the findings first, then what fits.

internal import GraphPrimitives
internal import GraphReport

/// Writes a bundle's files.
struct BundleWriter {
  private let _contents: BundleContents
  private let _call: Invocation

  /// What was written.
  struct Written {
    var envelope: ReportEnvelope

    /// The kinds of the findings that count.
    var openKinds: Set<String>

    /// Whether a leak check could not be made, so that its test's leaks are not known.
    var hasUnmadeCheck: Bool
  }

  init(_ contents: BundleContents, of call: Invocation) {
    _contents = contents
    _call = call
  }

  /// How many of a run's snapshots a page is made of: the last, and some before that show what grew.
  private static let pageSnapshotCount = 12

  /// The most bytes of `summary.md`: hosts take a comment of 65,536 characters.
  private static let summaryLimit = 60_000

  /// Writes all files.
  func write(
    to folder: inout BundleFolder, progress: some ProgressSink
  ) throws -> Written {
    let rows = _contents.rows
    let known = try _call.knownRows(of: rows.map(\.row))
    let hidden = Set(known.filter { $0.state == .known }.map(\.fingerprint))
    let open = rows.filter { !hidden.contains($0.row.fingerprint) }

    // The pages and snapshots of runs with findings first: those are what the bundle is opened for.
    let order = _contents.runs.indices.sorted { left, right in
      let (first, second) = (_contents.runs[left], _contents.runs[right])
      return first.findings.isEmpty == second.findings.isEmpty
        ? left < right : second.findings.isEmpty
    }
    var pages: [BundleIndex.Link] = []
    var pageByRun: [Int: String] = [:]
    for file in _contents.others {
      let name = "reports/" + file.name
      if try folder.add(file, as: name), name.hasSuffix(".html") {
        pages.append(BundleIndex.Link(file.name, path: name))
      }
    }
    for place in order {
      let run = _contents.runs[place]
      if let page = run.page {
        pageByRun[place] = "reports/" + page.name
        continue
      }
      progress.report(step: "writing the page of \(run.title)", done: 0, total: 0)
      let name = "reports/" + run.title + ".html"
      guard try write(page: name, of: run, to: &folder) else { continue }
      pageByRun[place] = name
      let program = run.executable.split(separator: "/").last.map(String.init) ?? ""
      pages.append(BundleIndex.Link("\(program): \(run.title)", path: name))
    }
    // The last snapshot of each run before the others.
    progress.report(step: "copying snapshots", done: 0, total: 0)
    for run in order.map({ _contents.runs[$0] }) {
      if let last = run.snapshots.last { _ = try folder.add(last, as: "snapshots/" + last.name) }
    }
    for run in order.map({ _contents.runs[$0] }) {
      for file in run.snapshots.dropLast() {
        _ = try folder.add(file, as: "snapshots/" + file.name)
      }
    }
    for file in _contents.elsewhere {
      folder.leaveOut(file.name, bytes: file.bytes, why: "a link to a file outside the folder")
    }
    for (file, _) in _contents.unreadable {
      _ = try folder.add(file, as: "unreadable/" + file.name)
    }

    let report = BundleReport(
      findings: open, failedChecks: _contents.failedChecks,
      runs: _contents.runs.indices.map { place in
        let run = _contents.runs[place]
        return BundleReport.Run(
          program: run.executable, title: run.title, snapshotCount: run.snapshots.count,
          objectCount: run.objectCount,
          findingCount: run.findings.count { !hidden.contains($0.fingerprint) },
          page: pageByRun[place])
      },
      leftOut: folder.leftOut,
      unreadable: _contents.unreadable.map { file, why in
        BundleReport.Gap(name: file.name, bytes: ByteCount(file.bytes), why: why)
      }, symbolGaps: _contents.symbolGaps)
    let whole: any Report =
      _call.arguments.has(.known)
      ? ReportWithKnown(report, rows: known, openCount: open.count) : report
    let envelope = ReportEnvelope(
      tool: _call.tool, version: toolVersion, verb: _call.verb.name, inputs: _contents.inputs,
      totals: _contents.totals, report: whole)
    try write(envelope, whole.document(limit: 20), pages: pages, to: &folder)
    return Written(
      envelope: envelope, openKinds: Set(open.map(\.row.kind)),
      hasUnmadeCheck: _contents.failedChecks.contains(where: \.isUnmade))
  }

  /// Writes the page of a run; where the whole graph is too large, of what is leaked and what holds it.
  private func write(
    page name: String, of run: BundleRun, to folder: inout BundleFolder
  ) throws -> Bool {
    let count = run.snapshots.count
    let step = max(1, (count + Self.pageSnapshotCount - 2) / (Self.pageSnapshotCount - 1))
    let shown = run.snapshots.indices.filter { ($0 % step == 0) || $0 == count - 1 }
    try BundleFolder.makeFolders(to: name, in: folder.place)
    for embedding in ["all", "leaks"] {
      var words = shown.map { run.snapshots[$0].path }
      words += ["--embed", embedding, "-o", folder.place + "/" + name, "--quiet"]
      for symbols in _call.arguments.texts(.symbols) { words += ["--symbols", symbols] }
      if _call.arguments.has(.noSymbols) { words.append("--no-symbols") }
      _ = try Verb.view.run(
        Invocation(
          tool: _call.tool, verb: .view,
          arguments: try Arguments(parsing: words, options: Verb.view.allOptions),
          console: _call.console))
      if folder.keep(name) { return true }
    }
    folder.leaveOut(name, bytes: 0, why: "the page of \(run.title) would be too large")
    return false
  }

  /// Writes the report in all formats, and the page that leads to the others.
  private func write(
    _ envelope: ReportEnvelope, _ document: Document, pages: [BundleIndex.Link],
    to folder: inout BundleFolder
  ) throws {
    let root = _call.sourceRoot
    var files: [BundleIndex.Link] = []
    func add(_ text: String, _ name: String, _ what: String) throws {
      try folder.add(text, as: name)
      files.append(BundleIndex.Link("\(name): \(what)", path: name))
    }
    var summary = ""
    for limit in [20, 10, 5, 3, 1, 0] {
      summary = envelope.render(.markdown, limit: limit)
      if summary.utf8.count <= Self.summaryLimit { break }
    }
    try add(summary, "summary.md", "for a comment")
    try add(envelope.render(.json, limit: nil), "report.json", "for scripts")
    try add(
      envelope.render(.exchange(.sarif, root), limit: nil), "report.sarif", "for code scanning")
    try add(envelope.render(.exchange(.junit, root), limit: nil), "junit.xml", "as tests")
    try add(
      envelope.render(.exchange(.gitlab, root), limit: nil), "code-quality.json",
      "for GitLab's code quality")
    try folder.add(
      BundleIndex.page(document, pages: pages, files: files), as: "index.html")
  }
}
