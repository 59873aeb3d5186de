// RunFacts: where a run comes from: commit, host, test and time, as the caller or the build host says.

internal import Glibc

/// What a record says of a run beside what its snapshots say.
struct RunFacts {
  /// The commit that was run; nil where nobody says.
  var commit: String?

  /// The machine, or the build host's name for it.
  var host: String?

  /// The test or job; nil where nobody says.
  var test: String?

  /// When the run was, where the caller says so; else the snapshots' files tell.
  var time: UTCTime?

  /// Variables in which build hosts name the commit: GitHub, GitLab and Woodpecker, Buildkite, CircleCI, Travis, Bitbucket,
  /// Drone, Azure Pipelines, Jenkins.
  static let commitVariables = [
    "GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "CIRCLE_SHA1", "TRAVIS_COMMIT",
    "BITBUCKET_COMMIT", "DRONE_COMMIT_SHA", "BUILD_SOURCEVERSION", "GIT_COMMIT",
  ]

  /// Variables in which they name the machine.
  static let hostVariables = [
    "RUNNER_NAME", "CI_RUNNER_DESCRIPTION", "BUILDKITE_AGENT_NAME", "AGENT_NAME", "NODE_NAME",
  ]

  /// Variables in which they name the job.
  static let testVariables = [
    "GITHUB_JOB", "CI_JOB_NAME", "BUILDKITE_LABEL", "CIRCLE_JOB", "SYSTEM_JOBDISPLAYNAME",
    "JOB_NAME",
  ]

  /// What a call says: its options first, then the variables of build hosts, then git and the machine.
  ///
  /// - Throws: ``UsageError`` for an empty text, and for a time that is none.
  init(_ call: Invocation) throws(UsageError) {
    func told(_ option: Option, _ variables: [String]) throws(UsageError) -> String? {
      if let text = call.arguments.text(option) {
        guard !text.isEmpty else { throw UsageError("--" + option.name, "it is empty") }
        return text
      }
      return variables.lazy.compactMap { call.console.environment($0) }.first { !$0.isEmpty }
    }
    commit = try told(.commit, Self.commitVariables) ?? Self.commit(ofFolder: ".")
    host = try told(.host, Self.hostVariables) ?? Self.machine
    test = try told(.test, Self.testVariables)
    if let text = call.arguments.text(.time) {
      time = UTCTime(text)
      if time == nil {
        throw UsageError(
          "--time", "\"\(text)\" is no time",
          mend: "write it as 2027-03-31T14:05:00Z, or with +02:00 for Z")
      }
    } else if let text = call.console.environment("SOURCE_DATE_EPOCH") {
      time = Int(text).map { UTCTime(secondsSince1970: $0) }
    }
  }

  /// The commit that a folder's git clone is at; nil where it is none, or where there is no git.
  static func commit(ofFolder folder: String) -> String? {
    let output = Self.output(of: ["git", "-C", folder, "rev-parse", "--verify", "--quiet", "HEAD"])
    guard let line = output?.split(separator: "\n").first, line.utf8.count >= 40,
      line.allSatisfy(\.isHexDigit)
    else { return nil }
    return String(line)
  }

  /// This machine's name.
  private static var machine: String? {
    var name = [UInt8](repeating: 0, count: 256)
    let result = name.withUnsafeMutableBytes { bytes -> Int32 in
      guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return -1 }
      return gethostname(start, bytes.count - 1)
    }
    let text = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    return result == 0 && !text.isEmpty ? text : nil
  }

  /// What a program prints; nil where it can't be started or fails. Its errors are dropped.
  private static func output(of words: [String]) -> String? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var pid = pid_t()
    let started = withCStrings(words) { arguments in
      withCStrings(currentEnvironment()) { environment in
        posix_spawnp(&pid, words[0], &actions, nil, arguments, environment)
      }
    }
    close(ends[1])
    defer { close(ends[0]) }
    guard started == 0 else { return nil }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(ends[0], &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { break }
      bytes += piece[..<count]
    }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 {
      if errno != EINTR { return nil }
    }
    return status == 0 ? String(decoding: bytes, as: UTF8.self) : nil
  }
}

/// A second in UTC, not before 1970.
struct UTCTime: Equatable {
  let secondsSince1970: Int

  init(secondsSince1970: Int) { self.secondsSince1970 = max(0, secondsSince1970) }

  /// Reads `2027-03-31T14:05:00Z`, with a fraction of a second (which is dropped) or an offset such as `+02:00`, and a day
  /// alone, which stands for its start; nil for anything else.
  init?(_ text: String) {
    guard let day = Day(String(text.prefix(10))) else { return nil }
    var rest = Substring(text.dropFirst(10)).utf8
    var seconds = 0
    if !rest.isEmpty {
      guard Self._take(&rest, "T") || Self._take(&rest, " "),
        let hour = Self._number(&rest, below: 24), Self._take(&rest, ":"),
        let minute = Self._number(&rest, below: 60), Self._take(&rest, ":"),
        let second = Self._number(&rest, below: 60)
      else { return nil }
      seconds = (hour * 60 + minute) * 60 + second
      if Self._take(&rest, ".") {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest = rest[digits.endIndex...]
      }
      if !Self._take(&rest, "Z") {
        let isEast = Self._take(&rest, "+")
        guard isEast || Self._take(&rest, "-"), let hours = Self._number(&rest, below: 24)
        else { return nil }
        _ = Self._take(&rest, ":")
        guard let minutes = Self._number(&rest, below: 60) else { return nil }
        seconds += (hours * 60 + minutes) * (isEast ? -60 : 60)
      }
      guard rest.isEmpty else { return nil }
    }
    let whole = day.daysSince1970 * 86_400 + seconds
    guard whole >= 0 else { return nil }
    secondsSince1970 = whole
  }

  private static func _take(_ rest: inout Substring.UTF8View, _ sign: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: sign) else { return false }
    rest = rest.dropFirst()
    return true
  }

  /// The number that the next two digits are.
  private static func _number(_ rest: inout Substring.UTF8View, below limit: Int) -> Int? {
    let digits = rest.prefix(2)
    guard digits.count == 2,
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    rest = rest.dropFirst(2)
    let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    return number < limit ? number : nil
  }

  /// The day: `2027-03-31`.
  var day: String { Day(secondsSince1970: secondsSince1970).description }

  /// `2027-03-31T14:05:00Z`.
  var text: String {
    "\(day)T" + clock.map(Self.twoDigits).joined(separator: ":") + "Z"
  }

  /// The same without signs that file systems or shells don't like: `20270331T140500Z`.
  var compactText: String {
    day.filter { $0 != "-" } + "T" + clock.map(Self.twoDigits).joined() + "Z"
  }

  private var clock: [Int] {
    let second = secondsSince1970 % 86_400
    return [second / 3_600, second / 60 % 60, second % 60]
  }

  private static func twoDigits(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
}
