// EdgeText: an edge by itself in words, for readers that fold nothing.

package import GraphPrimitives

extension Names {
  /// What an edge is called by itself.
  ///
  /// - Parameter node: The node that it leaves.
  /// - Returns: the path of fields, empty where nothing is known of it; and for a closure value without a
  ///   context the function that it goes through, else an empty text.
  package func text(of edge: EdgeIndex, from node: NodeIndex) -> (field: String, via: String) {
    switch partOfTask(edge) {
    case .frame(let function):
      return (function.map { "frame of " + $0 } ?? "frame", "")
    case .taskLocal(let name):
      return (name.map { "task-local " + $0 } ?? "task-local", "")
    case nil:
      return (field(from: node, by: [edge]), via([edge])?.shown ?? "")
    }
  }
}
