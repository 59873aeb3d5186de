// MirrorCheck: whether types can be read on this machine.

/// Why the toolchain's remote mirror can't be loaded; nil where it can.
package func remoteMirrorProblem() -> String? {
  do {
    _ = try RemoteMirror.load()
    return nil
  } catch {
    return "\(error)"
  }
}
