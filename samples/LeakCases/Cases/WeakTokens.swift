// Control: tokens of a subscription know their board weakly, in boxes that generic code makes and no metadata describes.
import Synchronization

protocol Token {
  func cancel()
}

protocol Board: AnyObject {
  func disconnect(_ number: Int)
}

private struct WeakToken<Owner: Board>: Token {
  let number: Int
  weak var board: Owner?
  func cancel() { board?.disconnect(number) }
}

private struct StrongToken<Owner: Board>: Token {
  let number: Int
  let board: Owner
  func cancel() { board.disconnect(number) }
}

final class PatchBoard<Signal>: Board {
  private var lines: [Int: (Signal) -> Void] = [:]
  private var tokens: [any Token] = []

  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }

  /// Remembers its own token, which must not hold it.
  func connect(holds: Bool, _ line: @escaping (Signal) -> Void) {
    let number = lines.count
    lines[number] = line
    tokens.append(
      holds ? StrongToken(number: number, board: self) : WeakToken(number: number, board: self))
  }
  func disconnect(_ number: Int) { lines[number] = nil }
}

/// Keeps the boards, but for the mistake that this control stands beside.
private final class Exchange: @unchecked Sendable {
  static let shared = Exchange()
  var boards: [PatchBoard<Int>] = []
}

private nonisolated(unsafe) weak var newest: PatchBoard<Int>?

extension LeakCase {
  static let weakTokens = LeakCase("weak-tokens") { variant in
    forEachRound {
      let board = PatchBoard<Int>()
      board.connect(holds: variant == .opposite) { _ in }
      newest = board
      if variant == .asNamed { Exchange.shared.boards.append(board) }
    }
  }
}
