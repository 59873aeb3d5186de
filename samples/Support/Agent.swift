// The only lines of the samples that know of a memory-graph agent: its functions are looked up by name,
// and where there is no agent the program goes on without. Nothing is linked.
import Glibc

/// The agent's C functions, if one is loaded into this process.
package enum Agent {
  /// Ends a generation; takes a snapshot where a folder is set.
  package static func mark(_ name: String) {
    typealias Function = @convention(c) (UnsafePointer<CChar>) -> CInt
    _ = find("memory_graph_mark", as: Function.self)?(name)
  }

  /// Makes a native resource known, with what it costs.
  package static func registerResource(_ resource: UnsafeRawPointer, type: String, bytes: Int) {
    typealias Function = @convention(c) (UnsafeRawPointer, UnsafePointer<CChar>, Int) -> CInt
    _ = find("memory_graph_register_resource", as: Function.self)?(resource, type, bytes)
  }

  /// The resource is gone.
  package static func unregister(_ resource: UnsafeRawPointer) {
    typealias Function = @convention(c) (UnsafeRawPointer) -> CInt
    _ = find("memory_graph_unregister", as: Function.self)?(resource)
  }

  /// Says that one thing holds another where neither language can see it.
  package static func addStrongEdge(
    from holder: UnsafeRawPointer, to held: UnsafeRawPointer, label: String
  ) {
    typealias Function =
      @convention(c) (
        UnsafeRawPointer, UnsafeRawPointer, UnsafePointer<CChar>
      ) -> CInt
    _ = find("memory_graph_add_strong_edge", as: Function.self)?(holder, held, label)
  }

  private static func find<Function>(_ name: String, as type: Function.Type) -> Function? {
    dlsym(nil, name).map { unsafeBitCast($0, to: type) }
  }
}
