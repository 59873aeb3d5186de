// AdviceTextTests: what is advised for a field depends on how it is declared.

import GraphAnalysis
import GraphPrimitives
import SnapshotDSL
import SnapshotFormat
import Symbolication
import Testing

@testable import GraphReport

@Suite struct AdviceTextTests {
  /// A part that refers back to its whole by a field that is declared in some way.
  struct Case: Sendable, CustomTestStringConvertible {
    var declaration: FieldDeclaration
    var field: String
    /// What is said where the field is to be weak, and where it is to be cleared.
    var weak: String
    var clear: String
    /// Whether the field itself can be weak, together with others.
    var canBeWeak: Bool

    var testDescription: String { "\(declaration): \(field)" }
  }

  static let cases = [
    Case(
      declaration: .variable, field: "owner", weak: "make owner weak (weak var owner)",
      clear: "clear owner when the work ends", canBeWeak: true),
    Case(
      declaration: .constant, field: "owner",
      weak: "make owner weak (weak var owner, of an optional type, instead of let)",
      clear:
        "make owner a var and clear it when the work ends, or weak where it owns nothing: a let keeps what"
        + " it refers to", canBeWeak: true),
    Case(
      declaration: .structure, field: "links.owner",
      weak: "make owner weak (weak var owner in its struct)",
      clear: "clear links.owner when the work ends", canBeWeak: true),
    Case(
      declaration: .payload, field: "state.running",
      weak:
        "hold it weakly: give the case running a struct with a weak var, since a payload can't be weak itself",
      clear: "set state to another case when the work ends", canBeWeak: false),
    Case(
      declaration: .payload, field: "[3].running",
      weak:
        "hold it weakly: give the case running a struct with a weak var, since a payload can't be weak itself",
      clear: "set the list[_] to another case when the work ends", canBeWeak: false),
    Case(
      declaration: .tuple, field: "pair.owner",
      weak:
        "hold it weakly: make a struct with a weak var of the tuple, whose parts can't be weak themselves",
      clear: "clear pair.owner when the work ends", canBeWeak: false),
    Case(
      declaration: .existential, field: "owner",
      weak:
        "make owner weak, with a class or a protocol of classes (any AnyObject) as its type, or clear it when the"
        + " work ends: a struct, or a value of Any or of a protocol for structs, can't be weak",
      clear: "clear owner when the work ends",
      canBeWeak: false),
    Case(
      declaration: .locked, field: "owner",
      weak:
        "hold it weakly: let owner lock a struct with a weak var, since what a Mutex has can't be weak itself",
      clear: "set owner to nil within its lock when the work ends", canBeWeak: false),
    Case(
      declaration: .library, field: "owner",
      weak: "let owner go by the library's own call when the work ends",
      clear: "clear owner when the work ends", canBeWeak: false),
  ]

  /// The advice for the step from a part to its whole, as reports make it from a snapshot.
  private func advice(
    _ example: Case, _ advice: CutProposal.Advice, reason: CutProposal.Reason
  ) throws -> AdviceText {
    var heap = SnapshotDSL()
    let whole = heap.object("App.Whole")
    let part = heap.object("App.Part")
    heap.edge(whole, "part", to: part)
    heap.edge(part, example.field, to: whole)
    // The index is no part of the name.
    let name = example.field.hasPrefix("[3].") ? String(example.field.dropFirst(4)) : example.field
    heap.declare("App.Part", name, example.declaration)
    let snapshot = heap.snapshot()
    let names = Names(snapshot, symbols: NoSymbols())
    let node = heap.index(of: part)
    let edge = EdgeIndex(rawValue: snapshot.edges.firstEdge[node.position])
    let step = ReferenceStep(node: node, edges: [edge])
    let text = try #require(StepText.texts(of: [step], reachedBy: nil, names: names).first)
    return AdviceText(
      advice: advice, reason: reason, step: text, target: "App.Whole", isOfCycle: true,
      isHeldByNothing: false, isOwnMemory: false)
  }

  @Test("A field is to be made weak as its declaration allows", arguments: cases)
  func weak(_ example: Case) throws {
    let text = try advice(example, .makeWeak, reason: .backReference)
    #expect(text.text == example.weak + ": it refers back to what owns App.Part")
    #expect(text.canBeWeak == example.canBeWeak)
  }

  @Test("A field is to be cleared as its declaration allows", arguments: cases)
  func clear(_ example: Case) throws {
    #expect(try advice(example, .clearField, reason: .none).text == example.clear)
  }

  @Test(
    "Closures that are kept to be called later are to be bounded, those that hear of something removed"
  )
  func lists() throws {
    for field in ["undoStack[3]", "history.redoActions[0]", "state.rollbacks[1]"] {
      let example = Case(
        declaration: .variable, field: field, weak: "", clear: "", canBeWeak: false)
      let text = try advice(example, .removeHandler, reason: .none).text
      #expect(
        text.hasPrefix("bound \(field.dropLast(3)), or clear it when the work ends"), "\(text)")
      #expect(text.contains("capture the values that it needs instead of self"))
    }
    for field in ["handlers[3]", "onUnderflow[0]", "observers[1]"] {
      let example = Case(
        declaration: .variable, field: field, weak: "", clear: "", canBeWeak: false)
      #expect(
        try advice(example, .removeHandler, reason: .none).text
          .hasPrefix("remove the handler from \(field.dropLast(3)) when the work ends"))
    }
  }

  @Test("Every way to declare a field has its words")
  func complete() {
    #expect(Set(Self.cases.map(\.declaration)) == Set(FieldDeclaration.allCases))
  }
}
