// Quiet: work of the library's own, which no check is to find among its objects.

internal import CMemoryGraphHooks

/// Does work of the library's own: what it makes belongs to no check, also not to one around this one, and has no
/// stack. It is recorded all the same, since what hangs on it is held.
///
/// For work that does not wait: it stays on its thread.
func quietly<Value, Failure>(_ work: () throws(Failure) -> Value) throws(Failure) -> Value {
  memory_graph_thread_quiet(true)
  defer { memory_graph_thread_quiet(false) }
  return try work()
}
