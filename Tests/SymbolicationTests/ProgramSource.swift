// ProgramSource: the program that the tests look names up in. Comments at line ends are markers.

enum ProgramSource {
  static let text = #"""
    import Glibc

    @inline(never) func sink(_ value: Int) { if value == .min { print(value) } }

    final class SampleTap {
      var onBuffer: ((Int) -> Void)?
      private var peak = 0
      func start() { onBuffer = record }  // final method
      private func record(_ level: Int) { sink(level); peak = max(peak, level) }
    }

    class Base {
      var onEvent: ((Int) -> Void)?
      var seen = 0
      func handle(_ event: Int) { seen += event; sink(seen) }
      @inline(never) func arm() { onEvent = handle }  // virtual method
    }

    final class Derived: Base, @unchecked Sendable {
      override func handle(_ event: Int) { seen -= event; sink(seen) }
    }

    protocol Sink { func accept(_ event: Int) }

    final class Owner: Sink {
      var callback: ((Int) -> Void)?
      var later: (@Sendable () async -> Void)?
      var names: [String] = []
      var emptied: ((Void) -> Void)?
      func accept(_ event: Int) { names.append("\(event)") }
      @inline(never) func refer(to sink: any Sink) { callback = sink.accept }  // existential method
      @inline(never) func arm(_ tap: SampleTap, _ count: Int) {
        let label = "tap \(count)"
        callback = { [weak tap] level in  // several captures
          self.names.append(label)
          tap?.onBuffer?(level)
        }
      }
      @inline(never) func armOne() {
        callback = { level in  // single capture
          self.names.append("one \(level)")
        }
      }
      @inline(never) func armUnused(_ tap: SampleTap) {
        callback = { _ in  // unused parameter
          self.names.append("x")
          tap.start()
        }
      }
      @inline(never) func armLater(_ base: Base) {
        later = { @Sendable [unowned self] in  // asynchronous
          await Task.yield()
          self.callback?(1)
          base.arm()
        }
      }
      @inline(never) func armLocal(_ tap: SampleTap) {
        func forward(_ level: Int) { tap.onBuffer?(level); names.append("l") }  // local function
        callback = forward
      }
      @inline(never) func armGeneric<Value>(_ value: Value, _ use: @escaping (Value) -> Int) {
        callback = { level in  // generic captures
          sink(use(value) + level)
        }
      }
      @inline(never) func armRoomless<Value>(_ tap: SampleTap, _ value: Value) {
        let token = Token()
        let kind = Int.self
        let phantom = Phantom<Int>()
        callback = { level in  // captures without room
          spend(token, kind, phantom)
          tap.onBuffer?(level)
          self.names.append("t")
        }
      }
      @inline(never) func armPhantom<Value>(_ tap: SampleTap, _ value: Value) {
        let phantom = Phantom<Value>()
        callback = { level in  // perhaps without room
          self.names.append("t")
          spend(Token(), Int.self, phantom)
          tap.onBuffer?(level)
        }
      }
      @inline(never) func armLine(_ tap: SampleTap) { emptied = { _ in tap.start(); self.names.append("e") } }  // one line
      @inline(never) func armFree() { callback = sink }
    }

    extension Base: @unchecked Sendable {}
    extension Owner: @unchecked Sendable {}

    @MainActor final class Screen {
      var count = 1
      @inline(never) func load(_ base: Base, _ number: Int, _ isLate: Bool) {
        Task {
          if isLate { base.arm() }
          self.count += number
          await Task.yield()
          sink(self.count)
        }
      }
    }

    struct Token {}
    struct Phantom<Value> {}
    @inline(never) func spend<Value>(_ token: Token, _ kind: Any.Type, _ phantom: Phantom<Value>) {
      if kind == Token.self { print(token, phantom) }
    }

    enum Hub {
      nonisolated(unsafe) static var owners: [Owner] = []
      nonisolated(unsafe) private static var hidden: [SampleTap] = []
      static func hide(_ tap: SampleTap) { hidden.append(tap) }
    }

    nonisolated(unsafe) var before: [String: SampleTap] = [:]

    @inline(__always) func innermost(_ value: Int) {
      sink(value + 1)  // innermost
    }
    @inline(__always) func middle(_ value: Int) {
      sink(value)
      innermost(value * 2)  // middle
    }
    @inline(never) func outer(_ value: Int) {
      middle(value &+ 3)  // outer
      sink(value - 1)
    }

    struct Box<Element> {
      var element: Element
      @inline(never) func map<Other>(_ transform: (Element) -> Other) -> Box<Other> {
        Box<Other>(element: transform(element))
      }
    }

    /// The first mapping is the program's own.
    let loadAddress: UInt = {
      guard let maps = fopen("/proc/self/maps", "r") else { return 0 }
      defer { fclose(maps) }
      var start: UInt = 0
      withUnsafeMutablePointer(to: &start) { start in
        withVaList([start]) { _ = vfscanf(maps, "%lx", $0) }
      }
      return start
    }()

    func show(_ name: String, _ object: AnyObject, offset: Int) {
      let function = Unmanaged.passUnretained(object).toOpaque()
        .load(fromByteOffset: offset, as: UInt.self)
      print(name, String(function - loadAddress, radix: 16))
    }

    @main struct Main {
      static func main() {
        let tap = SampleTap()
        tap.start()
        show("final", tap, offset: 16)
        let base = Base()
        base.arm()
        show("virtual", base, offset: 16)
        let owner = Owner()
        owner.refer(to: owner)
        show("existential", owner, offset: 16)
        owner.arm(tap, 3)
        show("several", owner, offset: 16)
        owner.armOne()
        show("single", owner, offset: 16)
        owner.armUnused(tap)
        show("unused", owner, offset: 16)
        owner.armLocal(tap)
        show("local", owner, offset: 16)
        owner.armGeneric(tap) { tap in tap.onBuffer == nil ? 1 : 2 }
        show("generic", owner, offset: 16)
        owner.armRoomless(tap, 1)
        show("roomless", owner, offset: 16)
        owner.armPhantom(tap, "1")
        show("phantom", owner, offset: 16)
        owner.armLine(tap)
        show("line", owner, offset: 56)
        owner.armFree()
        show("free", owner, offset: 16)
        owner.armLater(base)
        show("later", owner, offset: 32)
        Hub.owners.append(owner)
        Hub.hide(tap)
        before["tap"] = tap
        Screen().load(base, Int(CommandLine.argc), CommandLine.argc > 1)
        outer(CommandLine.argc == 1 ? 4 : 5)
        Derived().handle(Box(element: 3).map { $0 + 1 }.element)
      }
    }
    """#
}
