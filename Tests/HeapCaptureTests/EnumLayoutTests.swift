// Tests of enums: which case is live, in every way in which the compiler lays enums out.

import Glibc
import GraphPrimitives
import SnapshotFormat
import Testing

@testable import HeapCapture

private final class Leaf: Sendable {}
private final class Other {}
private protocol Shape {}
private protocol Bound: AnyObject {}
extension Leaf: Bound {}
private struct Pair: Shape { var first: Leaf, second: Leaf }
private struct Wide { var first: Leaf, number: Int, second: Leaf, flag: Bool }

private final class Holder<Value> {
  var value: Value
  /// Stands behind the value, so that a wrong size of it shows.
  var after: Int
  init(_ value: Value) {
    self.value = value
    after = 7
  }
}

private enum Spare {
  case first(Leaf)
  case second(Other)
  case third([Int])
  case nothing, neither
}
private enum Mixed {
  case object(Leaf)
  case number(Int)
  case code(() -> Void)
  case text(String)
  case empty, blank
}
private enum Wider {
  case pair(Pair)
  case wide(Wide)
  case none, other
}
private enum Byte {
  case byte(UInt8)
  case object(Leaf)
}
private enum Flagged {
  case some(Leaf, flag: Bool)
  case a, b, c
}
private enum Either<Left, Right> {
  case left(Left)
  case right(Right)
  case neither
}
private enum Outer {
  case inner(Spare)
  case plain(Leaf)
  case nothing
}
private enum Anything {
  case shape(any Shape)
  case bound(any Bound)
  case object(Leaf)
  case none
}
private enum Single { case only(Leaf) }
private enum Void1 {
  case nothing(Void)
  case object(Leaf)
  case other(Other)
}
private indirect enum Tree {
  case leaf(Leaf)
  case node(Tree, Tree)
  case end
}
private enum Failure: Error {
  case failed(Leaf)
  case unknown
}
private enum Weakish {
  case held(Weak)
  case free
}
private struct Weak { weak var leaf: Leaf? }
private struct Compound { var choice: Spare?, leaf: Leaf?, wide: Wide? }

@Suite struct EnumLayoutTests {
  /// An object whose `value` is an enum, and the labels of the strong references to the leaf in it.
  private struct Case {
    var name: String
    var object: AnyObject
    var labels: [String]

    init<Value>(_ name: String, _ value: Value, _ labels: String...) {
      self.name = name
      object = Holder(value)
      self.labels = labels
    }
  }

  private static func cases(_ leaf: Leaf) -> [Case] {
    let pair = Pair(first: leaf, second: leaf)
    let wide = Wide(first: leaf, number: -1, second: leaf, flag: true)
    return [
      Case("some", Optional(leaf), "value"), Case("none", Leaf?.none),
      Case("some some", Leaf??.some(.some(leaf)), "value"), Case("some none", Leaf??.some(.none)),
      Case("none of two", Leaf??.none),
      Case("tuple", Optional((leaf, leaf)), "value.0", "value.1"),
      Case("no tuple", (Leaf, Leaf)?.none),
      Case("struct", Optional(wide), "value.first", "value.second"), Case("no struct", Wide?.none),
      Case("number first", Optional((1, leaf)), "value.1"),
      Case("no number first", (Int, Leaf)?.none),
      Case("closure", Optional({ _ = leaf }), "value"), Case("no closure", (() -> Void)?.none),
      Case("bound", Optional<any Bound>(leaf), "value"), Case("no bound", (any Bound)?.none),
      Case("any", Optional<Any>(leaf), "value"), Case("any number", Optional<Any>(8)),
      Case("no any", Any?.none), Case("no string", String?.none), Case("string", Optional("small")),
      Case("spare first", Spare.first(leaf), "value.first"),
      Case("spare second", Spare.second(Other())),
      Case("spare third", Spare.third([1])), Case("spare nothing", Spare.nothing),
      Case("spare neither", Spare.neither),
      Case("optional spare", Optional(Spare.first(leaf)), "value.first"),
      Case("no spare", Spare?.none), Case("optional nothing", Optional(Spare.nothing)),
      Case("mixed object", Mixed.object(leaf), "value.object"),
      Case(
        "mixed number", Mixed.number(Int(bitPattern: Unmanaged.passUnretained(leaf).toOpaque()))),
      Case("mixed code", Mixed.code({ _ = leaf }), "value.code"),
      Case("mixed text", Mixed.text("small")), Case("mixed empty", Mixed.empty),
      Case("mixed blank", Mixed.blank), Case("no mixed", Mixed?.none),
      Case("optional mixed", Optional(Mixed.code({ _ = leaf })), "value.code"),
      Case("wider pair", Wider.pair(pair), "value.pair.first", "value.pair.second"),
      Case("wider wide", Wider.wide(wide), "value.wide.first", "value.wide.second"),
      Case("wider none", Wider.none), Case("wider other", Wider.other),
      Case("no wider", Wider?.none),
      Case("byte", Byte.byte(255)), Case("byte object", Byte.object(leaf), "value.object"),
      Case("flagged", Flagged.some(leaf, flag: true), "value.some.0"), Case("flagged a", Flagged.a),
      Case("flagged c", Flagged.c), Case("optional flagged", Flagged?.some(.b)),
      Case("left", Either<Leaf, Int>.left(leaf), "value.left"),
      Case("right", Either<Leaf, Int>.right(5)), Case("neither", Either<Leaf, Int>.neither),
      Case("both objects", Either<Leaf, Leaf>.right(leaf), "value.right"),
      Case("neither object", Either<Leaf, Leaf>.neither),
      Case("no either", Either<Leaf, Leaf>?.none),
      Case("empty left", Either<Void, Leaf>.right(leaf), "value.right"),
      Case("empty left is live", Either<Void, Leaf>.left(())),
      Case("inner", Outer.inner(.first(leaf)), "value.inner.first"),
      Case("inner nothing", Outer.inner(.nothing)), Case("plain", Outer.plain(leaf), "value.plain"),
      Case("outer nothing", Outer.nothing), Case("no outer", Outer?.none),
      Case("shape in place", Anything.shape(pair), "value.shape.first", "value.shape.second"),
      Case("shape bound", Anything.bound(leaf), "value.bound"),
      Case("shape object", Anything.object(leaf), "value.object"),
      Case("shape none", Anything.none),
      Case("single", Single.only(leaf), "value"), Case("no single", Single?.none),
      Case("behind nothing", Void1.object(leaf), "value.object"),
      Case("nothing", Void1.nothing(())),
      Case("third", Void1.other(Other())), Case("end", Tree.end),
      Case("success", Result<Leaf, Failure>.success(leaf), "value.success"),
      Case("failure", Result<Leaf, Failure>.failure(.failed(leaf)), "value.failure.failed"),
      Case("unknown failure", Result<Leaf, Failure>.failure(.unknown)),
      Case("free", Weakish.free), Case("held", Weakish.held(Weak(leaf: leaf))),
      Case(
        "compound", Compound(choice: .first(leaf), leaf: leaf, wide: wide), "value.choice.first",
        "value.leaf", "value.wide.first", "value.wide.second"),
      Case("empty compound", Compound(choice: nil, leaf: nil, wide: nil)),
    ]
  }

  @Test("The live case's references are found, and no other's")
  func liveCases() throws {
    let leaf = Leaf()
    let cases = Self.cases(leaf)
    let target = try LayoutTarget()
    for one in cases {
      let found = target.references(of: one.object).filter {
        $0.target == address(of: leaf) && $0.strength == .strong
      }
      #expect(found.map(\.label) == one.labels, "\(one.name)")
      // A number behind the enum is where it should be.
      let after = target.words(of: one.object).filter { $0.label == "after" }
      #expect(after.count == 1, "\(one.name)")
    }
    #expect(target.catalog.diagnostics.isEmpty)
    withExtendedLifetime((cases, leaf)) {}
  }

  @Test("An indirect case leads to a box, which leads on")
  func indirect() throws {
    let leaf = Leaf()
    let object = Holder(Tree.node(.leaf(leaf), .end))
    let target = try LayoutTarget()
    let boxes = target.references(of: object)
    try #require(boxes.map(\.label) == ["value.node"])
    #expect(target.type(at: boxes[0].target)?.kind == .box)
    let inner = target.references(at: boxes[0].target)
    try #require(inner.map(\.label) == ["0.leaf"])
    #expect(target.references(at: inner[0].target) == [Found("value", leaf)])
    withExtendedLifetime((object, leaf)) {}
  }

  @Test("A count in a header is the number of strong references that are found")
  func counts() throws {
    // Nobody but the cases' objects holds the leaf.
    func make() -> ([AnyObject], UInt64) {
      let leaf = Leaf()
      return (Self.cases(leaf).map(\.object), address(of: leaf))
    }
    let (objects, leaf) = make()
    let target = try LayoutTarget()
    var holders = 0
    for object in objects {
      for reference in target.references(of: object) where reference.strength == .strong {
        holders += reference.target == leaf ? 1 : 0
      }
    }
    // The case "held" made a side table: its address, shifted right by three, is in the header.
    let header = try #require(target.memory.word(at: leaf + 8))
    #expect(header >> 62 == 3)
    let bits = try #require(target.memory.word(at: (header & 0x3fff_ffff_ffff_ffff) << 3 + 16))
    #expect(Int(bits >> 33 & 0x3fff_ffff) + 1 == holders)
    withExtendedLifetime(objects) {}
  }
}
