// A program to capture from outside that has what programs have beside plain objects: tasks, Foundation,
// dispatch queues, memory of C. It says `ready` when all of it stands still, and ends with its input.
import Foundation

final class Model: @unchecked Sendable {
  var next: Model?
  var timer: Timer?
  var observer: (any NSObjectProtocol)?
  let stream: AsyncStream<Int>
  let continuation: AsyncStream<Int>.Continuation

  init() { (stream, continuation) = AsyncStream<Int>.makeStream() }
}

final class Held: Sendable {
  let name: String
  init(_ name: String) { self.name = name }
}

actor Store {
  var values: [Int: Held] = [:]
  func put(_ index: Int) { values[index] = Held("stored \(index)") }
  func wait() async {
    await withCheckedContinuation { (waiting: CheckedContinuation<Void, Never>) in
      parked = waiting
    }
    values = [:]
  }
  var parked: CheckedContinuation<Void, Never>?
}

nonisolated(unsafe) var handle: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
nonisolated(unsafe) var models: [Model] = []
let store = Store()
let notifications = NotificationCenter()
let queue = DispatchQueue(label: "mixed")
let parking = DispatchSemaphore(value: 0)

func threadCount() -> Int {
  (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
}

/// Objects that C memory alone holds, and some that nothing does.
func fill() {
  let block = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: 3)
  for index in 0..<3 {
    block[index] = Unmanaged.passRetained(Held("held by C \(index)")).toOpaque()
  }
  handle = block
  for _ in 0..<5 {
    let model = Model()
    model.observer = notifications.addObserver(forName: .init("x"), object: nil, queue: nil) {
      _ in _ = model.next
    }
    model.timer = Timer(timeInterval: 1000, repeats: true) { _ in _ = model.next }
    models.append(model)
    let leaked = Model()
    leaked.next = Model()
    leaked.next?.next = leaked
  }
}

fill()
let tasks = (0..<4).map { index in
  Task.detached { [stream = models[index].stream] in
    await store.put(index)
    if index == 0 { await store.wait() }
    if index == 1 { try? await Task.sleep(for: .seconds(100_000)) }
    for await value in stream { await store.put(value) }
  }
}
// Continuations of finished work items stay with the thread that ran them, and it stays.
for index in 0..<20 { queue.async { models[index % 5].continuation.yield(index) } }
queue.async {
  parking.signal()
  DispatchSemaphore(value: 0).wait()
}
parking.wait()
// What nobody needs any more ends by itself after some seconds: the main thread, the parked one and the one
// that waits for timers are left, and the agent's where there is one.
let agentThreads = dlsym(nil, "memory_graph_mark") == nil ? 0 : 1
// Fewer for a moment only says that a task has not begun yet, so it has to stay so.
var calm = 0
while calm < 50 {
  usleep(10_000)
  calm = threadCount() == 3 + agentThreads ? calm + 1 : 0
}
fflush(nil)
_ = write(1, "ready\n", 6)
var byte: UInt8 = 0
while read(0, &byte, 1) > 0 {}
exit(0)
