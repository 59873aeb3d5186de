// LayoutProgram: where the references of a value lie, as a flat list of steps.

internal import GraphPrimitives
internal import SnapshotFormat

/// Where the references in a value lie: steps that are run over each value of the type.
///
/// A step says what is at an offset. The steps of an enum's payload follow its own step, which knows
/// how many they are, so a program is one flat list that is run from front to back.
struct LayoutProgram {
  struct Step: BitwiseCopyable {
    enum Kind: UInt8 {
      /// A reference of the strength in `detail`.
      case reference

      /// A weak reference: the address of a side table.
      case weak

      /// A bridge object: a native object where the sign bit is clear.
      case bridge

      /// A continuation's task.
      case continuation

      /// Bytes of which nothing is known.
      case words

      /// A function and its context.
      case function

      /// An existential container of three words and a type.
      case existential

      /// An enum; `detail` is its decoder, `count` the number of steps that belong to its cases.
      case choice

      /// The steps of one case; `detail` is the case, `count` the number of its steps.
      case branch
    }

    var kind: Kind
    var detail: Int32
    var offset: UInt32

    /// The bytes at the offset that the step is about.
    var size: UInt32

    /// The number of steps that follow and belong to this one.
    var count: UInt32

    var name: LabelTable.Name

    /// The index that stands before the name: a capture's number.
    var index: UInt32

    /// How the place is declared in the source.
    var declaration: FieldDeclaration

    /// The label for a value that is not an element of anything.
    var label: LabelIndex
  }

  var steps: [Step] = []

  /// The bytes of a value, and from one value to the next.
  var size = 0
  var stride = 1
  var alignment = 1

  /// Whether nobody knows what such a value is, not even its size: what has some of them is words.
  var isUnknown = false
}
