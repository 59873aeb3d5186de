// Loops: whether a task's work comes to an end by itself, as far as the source tells.

internal import SwiftSyntax

/// Loops that go on until somebody ends them.
enum EndlessLoop {
  /// The first endless loop among statements; loops in closures and functions within are not theirs.
  ///
  /// A loop is taken for endless if it waits for the elements of a sequence that doesn't throw, or repeats
  /// `while true` or until it is cancelled, and has no way out but cancellation and the loss of `self`.
  static func first(in statements: some SyntaxProtocol) -> StmtSyntax? {
    let finder = LoopFinder(viewMode: .sourceAccurate)
    finder.walk(statements)
    return finder.loop
  }
}

private final class LoopFinder: SyntaxVisitor {
  private(set) var loop: StmtSyntax?

  /// Parts of the names of sequences that end by themselves.
  private static let finite = [
    "prefix(", "group", "Group", ".lines", ".bytes", ".characters", "allValues", "chunks", "body",
    "Body",
    "response", "Response", "enumerat", "results", "Results", "parts", "rows", "fileHandle",
  ]

  override func visit(_ node: ForStmtSyntax) -> SyntaxVisitorContinueKind {
    guard loop == nil, node.awaitKeyword != nil, node.tryKeyword == nil else {
      return .visitChildren
    }
    let sequence = node.sequence.trimmedDescription
    if !Self.finite.contains(where: { sequence.contains($0) }), !ExitFinder.hasExit(node.body) {
      loop = StmtSyntax(node)
    }
    return .visitChildren
  }

  override func visit(_ node: WhileStmtSyntax) -> SyntaxVisitorContinueKind {
    guard loop == nil else { return .skipChildren }
    let condition = node.conditions.trimmedDescription
    let isEndless = ["true", "!Task.isCancelled", "Task.isCancelled == false"].contains(condition)
    if isEndless, node.body.trimmedDescription.contains("await"), !ExitFinder.hasExit(node.body) {
      loop = StmtSyntax(node)
    }
    return .visitChildren
  }

  override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}

/// Looks for ways out of a loop's body.
private final class ExitFinder: SyntaxVisitor {
  private var isFound = false

  static func hasExit(_ body: CodeBlockSyntax) -> Bool {
    let finder = ExitFinder(viewMode: .sourceAccurate)
    finder.walk(body)
    return finder.isFound
  }

  override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
    note(Syntax(node))
    return .skipChildren
  }
  override func visit(_ node: BreakStmtSyntax) -> SyntaxVisitorContinueKind {
    note(Syntax(node))
    return .skipChildren
  }
  override func visit(_ node: ThrowStmtSyntax) -> SyntaxVisitorContinueKind {
    note(Syntax(node))
    return .skipChildren
  }
  override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  private func note(_ exit: Syntax) {
    var node = exit
    while let parent = node.parent {
      let conditions =
        parent.as(GuardStmtSyntax.self)?.conditions.trimmedDescription
        ?? parent.as(IfExprSyntax.self)?.conditions.trimmedDescription
      if let conditions, conditions.contains("isCancelled") || conditions.contains("self") {
        return
      }
      if parent.is(ForStmtSyntax.self) || parent.is(WhileStmtSyntax.self) { break }
      node = parent
    }
    isFound = true
  }
}
