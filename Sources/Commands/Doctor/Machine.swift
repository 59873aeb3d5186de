// Machine: what the doctor sees of the machine it is on, as a value, so that a test can make one up.

internal import Glibc
internal import HeapCapture

/// What of a machine matters to the tool.
package struct Machine: Sendable {
  /// The folder that the tool lies in; with a slash at its end.
  package var folder = ""

  /// What is missing of the files that belong beside the tool.
  package var missingFiles: [String] = []

  /// Why types can't be read; nil where they can.
  package var mirrorProblem: String?

  /// The version of the C library.
  package var libcVersion = ""

  /// Yama's limit on who may trace whom; nil where the kernel has none.
  package var ptraceScope: Int?
  package var isPrivileged = false

  /// Why this process can't read memory through the kernel; nil where it can.
  package var readProblem: String?

  package var hasUnwinder = false

  /// Where the kernel writes cores, and the most that it writes of one; nil for no limit.
  package var corePattern = ""
  package var coreLimit: UInt64?

  /// The folders of debug files that there are.
  package var debugFolders: [String] = []
  package var hasUTF8 = true

  package init() {}

  /// This machine.
  package static func current(console: Console) -> Machine {
    var machine = Machine()
    machine.folder = ownFolder()
    machine.missingFiles = ["libMemoryGraphPreload.so", "memgraph-lint", "graphdiff"].filter {
      access(machine.folder + $0, R_OK) != 0
    }
    machine.mirrorProblem = MachineLimits.typesProblem()
    machine.libcVersion = libcVersion()
    machine.ptraceScope = text(of: "/proc/sys/kernel/yama/ptrace_scope").flatMap { Int($0) }
    machine.isPrivileged = hasTraceCapability()
    machine.readProblem = MachineLimits.readingProblem()
    // As the agent does it in the program: the library is loaded there when it is needed.
    if let library = dlopen("libunwind.so.8", RTLD_LAZY | RTLD_LOCAL) {
      machine.hasUnwinder = true
      dlclose(library)
    }
    machine.corePattern = text(of: "/proc/sys/kernel/core_pattern") ?? ""
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0,
      limit.rlim_cur != .max
    {
      machine.coreLimit = UInt64(limit.rlim_cur)
    }
    machine.debugFolders = ["/usr/lib/debug/.build-id"].filter { access($0, R_OK) == 0 }
    machine.hasUTF8 = console.isUTF8
    return machine
  }

  /// The version of glibc; empty for another C library.
  private static func libcVersion() -> String {
    typealias Version = @convention(c) () -> UnsafePointer<CChar>
    return dlsym(nil, "gnu_get_libc_version")
      .map { String(cString: unsafeBitCast($0, to: Version.self)()) } ?? ""
  }

  private static func text(of path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 4_096)
    guard fgets(&line, CInt(line.count), file) != nil else { return nil }
    let bytes = line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether this process may trace others of its user whatever Yama says.
  private static func hasTraceCapability() -> Bool {
    guard let file = fopen("/proc/self/status", "r") else { return false }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 4_096)
    while fgets(&line, CInt(line.count), file) != nil {
      let bytes = line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
      let text = String(decoding: bytes, as: UTF8.self)
      guard text.hasPrefix("CapEff:") else { continue }
      let mask = UInt64(text.dropFirst("CapEff:".count).filter { !$0.isWhitespace }, radix: 16) ?? 0
      return mask & (1 << 19) != 0  // CAP_SYS_PTRACE
    }
    return false
  }
}
