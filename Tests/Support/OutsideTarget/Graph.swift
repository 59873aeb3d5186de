// Objects of the usual shapes: some held, some leaked, some weakly known.
import Glibc

final class Node {
  let name: String
  var next: Node?
  var children: [Node] = []
  var byName: [String: Node] = [:]
  weak var parent: Node?
  var onChange: (() -> Void)?
  init(_ name: String) { self.name = name }
}

enum Shape {
  case leaf(Node)
  case pair(Node, Node)
  indirect case nested(Shape)
}

final class Registry {
  nonisolated(unsafe) static let shared = Registry()
  var nodes: [Node] = []
  var shapes: [Shape] = []
}

func buildGraph() {
  fill()
  clearStack(depth: 64)
  var handle = pthread_t()
  let status = pthread_create(
    &handle, nil,
    { _ in
      waitWith(Node("held by the stack of a thread"))
      return nil
    }, nil)
  precondition(status == 0)
  while nodeOnStack == 0 { usleep(1_000) }
  standStill()
}

/// The complement of the address of the node that a thread's stack holds; 0 before it is there.
nonisolated(unsafe) private var nodeOnStack: UInt = 0

@inline(never)
private func waitWith(_ node: Node) {
  withExtendedLifetime(node) {
    nodeOnStack = ~UInt(bitPattern: Unmanaged.passUnretained(node).toOpaque())
    while pause() != 0 {}
  }
}

@inline(never)
private func fill() {
  for index in 0..<50 {
    let node = Node("a name that is too long to be stored inside the string itself \(index)")
    node.children = (0..<3).map { Node("child \($0)") }
    for child in node.children { child.parent = node }
    node.byName = ["first": node.children[0], "second": node.children[1]]
    Registry.shared.nodes.append(node)
    let child = node.children[2]
    node.onChange = { print(child.name, index) }
  }
  for index in 0..<10 {
    Registry.shared.shapes.append(.leaf(Node("leaf \(index)")))
    Registry.shared.shapes.append(.nested(.pair(Node("left"), Node("right"))))
  }
  // Cycles that nothing holds.
  for index in 0..<7 {
    let first = Node("leaked \(index)")
    let second = Node("leaked too")
    first.next = second
    second.next = first
    first.onChange = { print(first.name) }
  }
}

/// Overwrites what earlier calls left on the stack.
@inline(never)
func clearStack(depth: Int) {
  withUnsafeTemporaryAllocation(byteCount: 1_024, alignment: 16) { slot in
    slot.initializeMemory(as: UInt8.self, repeating: 0)
    if depth > 0 { clearStack(depth: depth - 1) }
  }
}

nonisolated(unsafe) private var ticks = 0

func tick() {
  let registry = Registry.shared
  registry.nodes.append(Node("ticking"))
  var handle = pthread_t()
  let status = pthread_create(
    &handle, nil,
    { _ in
      while true {
        ticks &+= 1
        free(malloc(ticks % 4_000))
      }
    }, nil)
  precondition(status == 0)
  // A signal that the program handles must still arrive.
  signal(SIGUSR1) { _ in write(1, "signal\n", 7) }
  standStill()
  print("ticks go on: \(ticks > 0)")
}

func goOnWithoutMain() {
  fill()
  clearStack(depth: 64)
  var handle = pthread_t()
  let status = pthread_create(
    &handle, nil,
    { _ in
      let node = Node("held by the stack of the thread that is left")
      while !mainHasEnded() { usleep(1_000) }
      withExtendedLifetime(node) { standStill() }
      exit(0)
    }, nil)
  precondition(status == 0)
  pthread_exit(nil)
}

private func mainHasEnded() -> Bool {
  let file = open("/proc/self/stat", O_RDONLY)
  defer { close(file) }
  var bytes = [UInt8](repeating: 0, count: 64)
  let count = read(file, &bytes, bytes.count)
  return String(decoding: bytes[..<max(count, 0)], as: UTF8.self).contains(") Z ")
}
