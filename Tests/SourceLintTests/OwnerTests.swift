// Tests of the rules strong-delegate and view-model-outside-holder.

import SourceLint
import Testing

@Suite struct OwnerTests {
  @Test(arguments: [
    ("var delegate: (any ListDelegate)?", ["2 strong-delegate"]),
    ("var delegate: ListDelegate?", ["2 strong-delegate"]),
    ("var listDelegate: AnyObject? { didSet {} }", ["2 strong-delegate"]),
    ("weak var delegate: (any ListDelegate)?", []),
    ("unowned var delegate: any ListDelegate", []),
    ("let delegate: any ListDelegate", []),
    ("var delegate: (any ListDelegate)? { nil }", []),
    ("var delegate: ValueDelegate?", []),
    ("var delegate: UnknownDelegate?", []),
    ("static var delegate: (any ListDelegate)?", []),
    ("var delegate: Recorder?", []),
    ("@Published var delegate: ListDelegate?", ["2 strong-delegate"]),
    ("@WeakReference var delegate: ListDelegate?", []),
    ("@IBOutlet var delegate: ListDelegate!", []),
    ("var delegate: Optional<ListDelegate>", ["2 strong-delegate"]),
    ("var delegate: (any ListDelegate & Sendable)?", ["2 strong-delegate"]),
    ("var delegate: (any ValueDelegate & AnyObject)?", ["2 strong-delegate"]),
    ("var delegate: (any ValueDelegate & Sendable)?", []),
    ("var delegate: ScreenDelegate?", ["2 strong-delegate"]),
    ("var delegate: BaseDelegate?", ["2 strong-delegate"]),
    ("var delegate: ListedDelegate?", ["2 strong-delegate"]),
    ("var delegate: HashedDelegate?", []),
    ("weak var delegate: Optional<ListDelegate>", []),
  ])
  func delegates(property: String, expected: [String]) {
    let protocols =
      "protocol ListDelegate: AnyObject {}; protocol ValueDelegate {}; class Recorder: ListDelegate {};"
      + "protocol ScreenDelegate where Self: UIViewController {}; protocol BaseDelegate where Self: Recorder {};"
      + "protocol ListedDelegate where Self: ListDelegate {}; protocol HashedDelegate where Self: Hashable {}"
    #expect(found("\(protocols)\nclass List { \(property) }") == expected)
  }

  @Test func aDelegateThatIsMadeForItIsOwned() {
    func list(_ body: String) -> [String] {
      found(
        """
        protocol ListDelegate: AnyObject {}
        class List { var delegate: ListDelegate? }
        class Recorder: ListDelegate {}; class Other {}; class Late: Recorder {}
        class Screen { let list = List(); func f(_ given: List) { \(body) } }
        """)
    }
    #expect(list("list.delegate = Recorder()") == [])
    #expect(list("given.delegate = Late()") == [])
    #expect(list("list.delegate = Other()") == ["2 strong-delegate"])
    #expect(list("list.other = Recorder()") == ["2 strong-delegate"])
    let both =
      "list.delegate = Recorder() } }; extension Late { func g(_ list: List) { list.delegate = self"
    #expect(list(both) == ["2 strong-delegate"])
    #expect(list("let made = Recorder(); list.delegate = made") == ["2 strong-delegate"])
  }

  @Test func referencesBackToAnOwner() {
    func job(_ reporter: String) -> [String] {
      found(
        """
        class Spooler { \(reporter) }
        class Job {
          let spooler = Spooler()
          init() { spooler.reporter = self }
        }
        """)
    }
    #expect(job("var reporter: Any?") == ["4 strong-delegate"])
    #expect(job("weak var reporter: AnyObject?") == [])
  }

  private static let kit = """
    class ViewModel { func clear() {} }
    class Feed: ViewModel {}
    class FeedViewModel: ViewModel {}
    class ViewModelHolder<Model: ViewModel> { let model: Model; init(_ model: Model) { self.model = model } }
    class Bus { var h: [() -> Void] = []; func add(_ each: @escaping () -> Void) { h.append(each) } }

    """

  @Test(arguments: [
    ("class Screen { let model: FeedViewModel; init() {} }", ["6 view-model-outside-holder"]),
    ("class Screen { let model: Feed; init() {} }", ["6 view-model-outside-holder"]),
    ("class Screen { let model = FeedViewModel() }", ["6 view-model-outside-holder"]),
    ("func f() { let model = FeedViewModel() }", ["6 view-model-outside-holder"]),
    ("class Screen { let holder: ViewModelHolder<FeedViewModel>; init() {} }", []),
    ("class Screen { weak var model: FeedViewModel? }", []),
    ("struct Screen { let model: FeedViewModel }", []),
    ("class ListViewModel: ViewModel { let row = FeedViewModel() }", []),
    ("func f() { let model = FeedViewModel(); show(model) }", []),
    (
      "class Screen { let holder: ViewModelHolder<Feed>; func f(_ bus: Bus) { bus.add { [holder] in _ = holder } } }",
      ["6 view-model-outside-holder"]
    ),
    (
      "class Screen { let holder: ViewModelHolder<Feed>; func f(_ bus: Bus) { bus.add { [weak holder] in _ = holder } } }",
      []
    ),
  ])
  func viewModels(source: String, expected: [String]) {
    #expect(found(Self.kit + source) == expected)
  }

  @Test func withoutAHolderNobodyCanUseIt() {
    #expect(found("class FeedViewModel {}\nclass Screen { let model = FeedViewModel() }") == [])
  }

  @Test func namesCanBeChosen() {
    var options = LintOptions()
    options.viewModels = ["*Store"]
    options.holders = ["Owner"]
    let text = "class Owner<S> {}\nclass ItemStore {}\nclass Screen { let store = ItemStore() }"
    #expect(found(text, options: options) == ["3 view-model-outside-holder"])
    #expect(found(text) == [])
  }
}
