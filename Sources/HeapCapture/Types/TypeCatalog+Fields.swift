// TypeCatalog+Fields: how the places are declared that references lie in.

internal import CHeapCapture
package import GraphPrimitives
package import SnapshotFormat

extension TypeCatalog {
  /// Writes down how the places are declared by which instances of a type refer to something.
  ///
  /// - Parameter row: The type's row in the snapshot.
  /// - Complexity: O(*s*) for *s* steps of the type's layout.
  package func declareFields(
    of type: SwiftType, as row: TypeIndex, in builder: inout SnapshotBuilder
  ) {
    let isLibrarys = ToolchainModules.names.contains(type.module)
    for program in type.shape.programs {
      for step in compiler.programs[program].steps {
        switch step.kind {
        case .choice, .branch: continue
        default: break
        }
        // What a library's own class declares is known by the class.
        if step.declaration == .library, isLibrarys { continue }
        builder.declare(
          step.declaration, of: row, name: builder.string(labels.text(of: step.name)))
      }
    }
  }
}

extension SwiftType.Shape {
  /// The programs by which instances refer to something.
  fileprivate var programs: [Int] {
    switch self {
    case .fixed(let program, _), .managedBuffer(let program, _, _), .box(let program, _): [program]
    case .array(let element), .ring(let element, _), .set(let element): [element]
    case .dictionary(let key, let value): [key, value]
    case .string, .captures, .errorBox, .continuationCanary, .task, .taskSlab, .block, .words: []
    }
  }
}
