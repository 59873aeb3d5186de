// What all cases share: rounds with a mark after each, and the program's own count of what is alive.
import Glibc
import Synchronization

/// The program's own account of what is alive, by type.
enum Live {
  private static let countByType = Mutex<[String: Int]>([:])

  static func born(_ type: Any.Type) {
    let name = String(reflecting: type)
    countByType.withLock { $0[name, default: 0] += 1 }
  }

  static func died(_ type: Any.Type) {
    let name = String(reflecting: type)
    countByType.withLock { $0[name, default: 0] -= 1 }
  }

  /// `live LeakCases.A=1 LeakCases.B=2`, in alphabetical order.
  static var summary: String {
    let counts = countByType.withLock { $0 }.sorted { $0.key < $1.key }
    return (["live"] + counts.map { "\($0.key)=\($0.value)" }).joined(separator: " ")
  }
}

enum Rounds {
  static let count = 3
  /// How often a round does what the case does: 9 times in all.
  static let timesEach = 3
}

/// Does something three times in each of three rounds, with a mark after each.
func forEachRound(_ body: () -> Void) {
  for round in 1...Rounds.count {
    for _ in 1...Rounds.timesEach { body() }
    mark(round: round)
  }
}

/// The same where each time has to be waited for, and for what it set going to come to rest.
func forEachSettledRound(_ body: () async -> Void) async {
  for round in 1...Rounds.count {
    for _ in 1...Rounds.timesEach { await body() }
    await settle()
    mark(round: round)
  }
}

/// Lets tasks that were started reach the place where they wait: until no other thread runs or wants to, twice
/// in a row.
func settle() async {
  var quietCount = 0
  for _ in 1...400 where quietCount < 2 {
    try? await Task.sleep(for: .milliseconds(25))
    quietCount = otherThreadsWait() ? quietCount + 1 : 0
  }
}

/// Whether every thread but the caller's waits for something.
private func otherThreadsWait() -> Bool {
  guard let folder = opendir("/proc/self/task") else { return true }
  defer { closedir(folder) }
  // `PID/task/TID`
  var link = [CChar](repeating: 0, count: 64)
  let length = readlink("/proc/thread-self", &link, link.count)
  let path = String(decoding: link[..<max(0, length)].map(UInt8.init(bitPattern:)), as: UTF8.self)
  let own = path.split(separator: "/").last.flatMap { Int32($0) }
  while let entry = readdir(folder) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    guard let thread = Int32(name), thread != own,
      let file = fopen("/proc/self/task/\(thread)/stat", "r")
    else { continue }
    defer { fclose(file) }
    var line = [UInt8](repeating: 0, count: 512)
    let count = fread(&line, 1, line.count, file)
    // The state stands behind the name, which is in parentheses.
    guard let end = line[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else {
      continue
    }
    if line[end + 2] == UInt8(ascii: "R") { return false }
  }
  return true
}

/// Says what is alive and asks the agent for a mark, if there is one.
@inline(never)
func mark(round: Int) {
  clearDeadStack(depth: 48)
  print(Live.summary)
  fflush(nil)
  typealias Function = @convention(c) (UnsafePointer<CChar>) -> CInt
  guard let symbol = dlsym(nil, "memory_graph_mark") else { return }
  _ = unsafeBitCast(symbol, to: Function.self)("round-\(round)")
}

/// Overwrites what earlier calls left below the stack pointer. An object that nobody but a lost retain
/// keeps alive can't be told from one that such a leftover word keeps.
@inline(never)
private func clearDeadStack(depth: Int) {
  withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { slot in
    slot.initializeMemory(as: UInt8.self, repeating: 0)
    if depth > 0 { clearDeadStack(depth: depth - 1) }
  }
}
