// The same two tests with XCTest.
import Call
import MemoryGraphTesting
import XCTest

final class CallCase: LeakCheckedTestCase {
  func testListeningStrongly() {
    let screen = CallScreen()
    screen.listenStrongly()
    screen.call()
  }

  func testListeningWeakly() async {
    let screen = CallScreen()
    screen.listenWeakly()
    await Task.yield()
    screen.call()
  }
}
