// CaptureError: why a program could not be captured.

internal import Glibc

/// Why a program could not be captured.
public enum CaptureError: Error, Equatable, Sendable {
  /// The process's memory can't be read: it is gone, or this user may not trace it.
  case cannotRead(pid: Int32, errno: Int32)

  /// There is no process of that number, or it has ended.
  case noSuchProcess(pid: Int32)

  /// The process ended, or became another program, before all of it had been read.
  case endedMeanwhile(pid: Int32)

  /// This user may not stop and read the process; `because` says what forbids it and what to do.
  case notPermitted(pid: Int32, because: String)

  /// Another program traces the process already.
  case alreadyTraced(pid: Int32, by: Int32)

  /// A thread of the process did not stop.
  case didNotStop(pid: Int32, thread: Int32)

  /// The agent's tables are not where they were said to be, or are of another version.
  case badAgentState(String)

  /// The program has no Swift code.
  case notSwift(executable: String)

  /// The file that would tell whether the program has Swift code can't be read.
  case unreadableFile(gap: String)

  /// The remote mirror, a part of the Swift toolchain, can't be loaded.
  case noRemoteMirror(String)

  /// The heap is not glibc's, so that its blocks are only known to an agent; the allocator's name,
  /// empty where it has none that is known.
  case unknownAllocator(String)

  /// A core file can't be opened.
  case cannotOpen(path: String, errno: Int32)

  /// A file is no core file of a 64-bit x86 program.
  case notACoreFile(path: String, because: String)

  /// A core file contradicts itself at an offset.
  case damagedCoreFile(path: String, offset: UInt64, because: String)

  /// A core file lacks bytes of the program's memory from an offset on.
  case truncatedCoreFile(path: String, offset: UInt64, missing: UInt64)

  /// A file that the program had loaded is needed and is not here, or is another version.
  case missingFile(path: String, because: String)
}

extension CaptureError: CustomStringConvertible {
  /// A sentence without its subject: why, and what to do about it.
  public var description: String {
    switch self {
    case .cannotRead(let pid, let errno):
      "the memory of process \(pid) can't be read: \(String(cString: strerror(errno)))"
    case .noSuchProcess:
      "there is no such process"
    case .endedMeanwhile:
      "it ended, or became another program, while it was being read, so nobody knows what held what; no"
        + " snapshot was written. Attach to it earlier, or start it under `memgraph run`, which takes a"
        + " snapshot before it ends"
    case .notPermitted(_, let because):
      "it may not be traced: \(because)"
    case .alreadyTraced(_, let tracer):
      "it is traced by process \(tracer) already; end that first (a debugger, strace)"
    case .didNotStop(_, let thread):
      "its thread \(thread) did not stop; it waits inside the kernel, try again later"
    case .badAgentState(let why):
      "the agent's tables can't be read: \(why)"
    case .notSwift(let executable):
      (executable.isEmpty ? "the program" : executable) + " has no Swift code"
    case .unreadableFile(let gap):
      "no type is known: " + gap
    case .noRemoteMirror(let why):
      "libswiftRemoteMirror.so can't be loaded: \(why); a Swift toolchain has it in usr/lib/swift/linux"
    case .unknownAllocator(let name):
      (name.isEmpty
        ? "no heap of glibc's allocator (2.27 or later) was found in the program"
        : "the program's heap is \(name), only glibc's can be walked from outside")
        + "; run the program under `memgraph run`"
        + (name.isEmpty ? "" : " with glibc's allocator")
    case .cannotOpen(let path, let errno):
      "\(path): \(String(cString: strerror(errno)))"
    case .notACoreFile(let path, let because):
      "\(path) is no core file: \(because)"
    case .damagedCoreFile(let path, let offset, let because):
      "\(path) is damaged at byte \(offset): \(because)"
    case .truncatedCoreFile(let path, let offset, let missing):
      "\(path) is cut short: \(missing) bytes of memory are missing from byte \(offset) on;"
        + " what they hold would look leaked. Raise `ulimit -c` or free space, and dump again"
    case .missingFile(let path, let because):
      "\(path) is needed: \(because)"
    }
  }
}
