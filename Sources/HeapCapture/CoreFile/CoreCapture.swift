// CoreCapture: a snapshot of a program that left a core file.

internal import Glibc

/// Captures a program from its core file.
///
/// - Parameters:
///   - path: the core file.
///   - executable: where the program's executable is; nil: where it was when the program ran.
/// - Throws: ``CaptureError``.
/// - Complexity: that of `captureSnapshot(memory:inventory:threads:)`.
package func captureCoreFile(
  _ path: String, executable: String? = nil
) throws(CaptureError) -> OutsideCapture {
  var local: String?
  if let executable {
    guard let absolute = realpath(executable, nil) else {
      throw .cannotOpen(path: executable, errno: errno)
    }
    local = String(cString: absolute)
    free(absolute)
  }
  let core = try CoreFile(path: path)
  return try captureFromOutside(
    memory: TargetMemory(CoreMemory(core, executable: local)), threads: core.threads,
    pid: core.pid, pidInside: core.pid, pauseNanoseconds: 0)
}
