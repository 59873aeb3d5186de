// A dependency container caches a service whose property wrapper holds the container.

final class Resolver {
  var services: [String: Any] = [:]
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

final class RouteMap {
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

@propertyWrapper
struct Resolved<Service> {
  private var resolver: Resolver?
  private let make: () -> Service
  private var made: Service?

  init(from resolver: Resolver, _ make: @escaping () -> Service) {
    self.resolver = resolver
    self.make = make
  }

  mutating func forgetResolver() { resolver = nil }

  var wrappedValue: Service {
    mutating get {
      if let made { return made }
      let service = make()
      made = service
      return service
    }
  }
}

final class Postman {
  @Resolved var routes: RouteMap
  init(_ resolver: Resolver) {
    _routes = Resolved(from: resolver) { RouteMap() }
    Live.born(Self.self)
  }
  deinit { Live.died(Self.self) }
  func forgetResolver() { _routes.forgetResolver() }
}

extension LeakCase {
  static let propertyWrapper = LeakCase("property-wrapper") { variant in
    forEachRound {
      let resolver = Resolver()
      let postman = Postman(resolver)
      _ = postman.routes
      // Not every value of the dictionary is an object.
      resolver.services["limit"] = 42
      resolver.services["title"] = "a string that is too long for the small form"
      if variant != .opposite { resolver.services["postman"] = postman }
      if variant == .advised { postman.forgetResolver() }
    }
  }
}
