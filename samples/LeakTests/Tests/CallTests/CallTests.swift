// The same two tests with Swift Testing: the first fails, and its message says which edge to cut.
import Call
import MemoryGraphTesting
import Testing

@Suite(.leakFree) struct CallTests {
  @Test func listeningStrongly() {
    let screen = CallScreen()
    screen.listenStrongly()
    screen.call()
  }

  @Test func listeningWeakly() {
    let screen = CallScreen()
    screen.listenWeakly()
    screen.call()
  }
}

/// Leaks the same beside them, unchecked: no business of theirs.
@Test(arguments: 1...20) func aNeighbour(_ number: Int) async {
  CallScreen().listenStrongly()
  await Task.yield()
  CallScreen().listenStrongly()
}
