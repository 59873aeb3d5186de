// ReferenceSink: what hears of the references that a type's layout finds in an instance.

package import GraphPrimitives
package import SnapshotFormat

/// Hears of each reference in an object, as its type's layout finds them.
package protocol ReferenceSink {
  /// A typed reference.
  ///
  /// - Parameters:
  ///   - address: where the word lies.
  ///   - target: the object or, for `weak`, the object behind the side table; tag and spare bits are
  ///     gone. Never zero.
  ///   - label: the path of fields, the index, the closure's function.
  ///   - strength: whether the reference holds a strong count.
  mutating func reference(
    at address: UInt64, to target: UInt64, label: LabelIndex, strength: EdgeStrength)

  /// A weak reference to an object that is gone: it keeps the side table that it was counted in.
  mutating func sideTable(ofDestroyedAt table: UInt64)

  /// A continuation: it owns a task's run until the task is resumed, and its copies own nothing. It
  /// holds the task only where the task's count has a reference left to explain.
  mutating func continuation(at address: UInt64, to task: UInt64, label: LabelIndex)

  /// Words of which no type is known: they may be references or not.
  ///
  /// - Parameters:
  ///   - range: where they lie, within the object.
  ///   - label: the field they belong to, where that is known.
  mutating func untypedWords(in range: Range<UInt64>, label: LabelIndex)
}
