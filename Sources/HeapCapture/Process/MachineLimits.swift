// MachineLimits: what of this machine keeps captures from being made.

internal import CHeapCapture
internal import Glibc

/// What capture can't do on this machine, each as a sentence; nil where it can.
package enum MachineLimits {
  /// Why types can't be read.
  package static func typesProblem() -> String? {
    do {
      _ = try RemoteMirror.load()
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// Why the kernel lets this process read nobody's memory: a filter of system calls forbids it even for the
  /// process's own.
  package static func readingProblem() -> String? {
    let word: [UInt64] = [0x6d67_7261_7068]
    var copy: [UInt64] = [0]
    let count = word.withUnsafeBytes { source in
      copy.withUnsafeMutableBytes { target in
        mg_read_process(
          getpid(), UInt64(UInt(bitPattern: source.baseAddress)), target.baseAddress, source.count)
      }
    }
    return count == 8 && copy == word ? nil : String(cString: strerror(errno))
  }
}
