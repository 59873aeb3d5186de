// FieldDeclarationTests: a snapshot says how the places are declared that references lie in.

import Foundation
import GraphPrimitives
import SnapshotFormat
import Synchronization
import Testing

@testable import HeapCapture

private final class Leaf: @unchecked Sendable { var value = 5 }
private protocol Delegate: AnyObject {}
extension Leaf: Delegate {}
private protocol Shape {}
private struct Small: Shape { var leaf: Leaf }

private enum State {
  case idle
  case running(Leaf)
  case pair(Leaf, next: Leaf)
}

private class Ancestor {
  let inherited: Leaf
  init(_ leaf: Leaf) { inherited = leaf }
}

private final class Declared: Ancestor {
  var variable: Leaf
  let constant: Leaf
  var optional: Leaf?
  let optionalConstant: Leaf?
  // memgraph:allow strong-delegate: a strong one is what the test reads
  var delegate: (any Delegate)?
  var inStruct: Small
  let constantStruct: Small
  var state = State.idle
  let constantState: State
  var tuple: (Leaf, named: Leaf)
  var any: Any
  var shape: any Shape
  let anyConstant: Any
  let locked: Mutex<Leaf?>
  let lockedStruct: Mutex<Small>
  let lazy = AtomicLazyReference<Leaf>()
  var list: [Leaf]
  override init(_ leaf: Leaf) {
    variable = leaf
    constant = leaf
    optional = leaf
    optionalConstant = leaf
    delegate = leaf
    inStruct = Small(leaf: leaf)
    constantStruct = Small(leaf: leaf)
    constantState = .running(leaf)
    tuple = (leaf, leaf)
    any = leaf
    shape = Small(leaf: leaf)
    anyConstant = leaf
    locked = Mutex(leaf)
    lockedStruct = Mutex(Small(leaf: leaf))
    list = [leaf]
    super.init(leaf)
  }
}

private final class Job: Operation, @unchecked Sendable {
  var leaf: Leaf
  init(_ leaf: Leaf) {
    self.leaf = leaf
    super.init()
  }
}

@Suite struct FieldDeclarationTests {
  /// What a snapshot says of the fields of an object's type, by the names of their labels.
  private static func declarations(
    of object: AnyObject, in target: LayoutTarget
  ) throws -> [String: FieldDeclaration] {
    let type = try #require(target.type(of: object))
    var builder = SnapshotBuilder()
    let row = builder.type(type.name, module: type.module)
    target.catalog.declareFields(of: type, as: row, in: &builder)
    let snapshot = builder.finish()
    var found: [String: FieldDeclaration] = [:]
    for position in 0..<snapshot.fields.rowCount {
      let name = snapshot.strings[snapshot.fields.name[position]]
      found[name] = FieldDeclaration(rawValue: snapshot.fields.declaration[position])
    }
    return found
  }

  @Test("A let, a struct, a payload, a tuple, Any and a lock are told apart from a plain var")
  func kinds() throws {
    let object = Declared(Leaf())
    let target = try LayoutTarget()
    #expect(
      try Self.declarations(of: object, in: target) == [
        "inherited": .constant,
        "constant": .constant,
        "optionalConstant": .constant,
        "inStruct.leaf": .structure,
        "constantStruct.leaf": .structure,
        "state.running": .payload,
        "state.pair.0": .tuple,
        "state.pair.next": .tuple,
        "constantState.running": .payload,
        "constantState.pair.0": .tuple,
        "constantState.pair.next": .tuple,
        "tuple.0": .tuple,
        "tuple.named": .tuple,
        "any": .existential,
        "shape": .existential,
        "anyConstant": .existential,
        "locked": .locked,
        "lockedStruct.leaf": .structure,
        "lazy": .locked,
      ])
    // Every reference of the object that is not listed is a var.
    let listed = try Self.declarations(of: object, in: target)
    let rest = target.references(of: object).map(\.label).filter { listed[$0] == nil }
    #expect(Set(rest) == ["variable", "optional", "delegate", "list", "shape.leaf"])
    withExtendedLifetime(object) {}
  }

  @Test("What a superclass from Swift's libraries declares is the library's, the rest is not")
  func library() throws {
    let object = Job(Leaf())
    let target = try LayoutTarget()
    let declared = try Self.declarations(of: object, in: target)
    #expect(declared["leaf"] == nil)
    #expect(!declared.isEmpty && declared.values.allSatisfy { $0 == .library })
    withExtendedLifetime(object) {}
  }
}
