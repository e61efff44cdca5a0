// Mapping between numbers and names of services.
// Invariant: a number is assigned once, and names are never removed. So a stored number has a name even after the
// service was removed from the configuration.

/// Names of all services that a bank has ever had, by number.
public struct ServiceDirectory: Sendable, Equatable {
  /// The names, in the order of the numbers.
  public private(set) var names: [ServiceName]
  private var numbers: [ServiceName: Service] = [:]

  /// Maximum number of services in a configuration.
  public static let configurable = 1_000

  /// A directory of the services that every bank has.
  public init() {
    names = []
    for name in ServiceName.branch { add(name) }
  }

  /// Restores stored names, in the order of their numbers; nil if they do not start with the names of the services that
  /// every bank has, if a name occurs twice, or if there are too many names.
  public init?(names: [ServiceName]) {
    self.init()
    guard names.count >= self.names.count, Array(names.prefix(self.names.count)) == self.names else {
      return nil
    }
    for name in names.dropFirst(self.names.count) {
      guard numbers[name] == nil, hasRoom else { return nil }
      add(name)
    }
  }

  /// All services, in the order of their numbers.
  public var services: some RandomAccessCollection<Service> & Sendable {
    (1...UInt16(names.count)).lazy.map { Service(number: $0) }
  }

  /// Number of services.
  public var count: Int { names.count }
  /// True if a number is left for another service.
  public var hasRoom: Bool { names.count < Int(UInt16.max) }

  /// The service with this name; nil if it never existed.
  public subscript(name: ServiceName) -> Service? { numbers[name] }

  /// Name of a service; traps if its number was never assigned.
  public subscript(service: Service) -> ServiceName {
    precondition(service.index < names.count, "service \(service.number) was given no name")
    return names[service.index]
  }

  /// The service with a stored number; nil if the number was never assigned.
  public func service(numbered number: Int64) -> Service? {
    1...Int64(names.count) ~= number ? Service(number: UInt16(number)) : nil
  }

  /// Returns the service with this name. If the name has no number yet, the next number is assigned to it.
  @discardableResult public mutating func add(_ name: ServiceName) -> Service {
    if let known = numbers[name] { return known }
    precondition(hasRoom, "the caller has checked that a service number is free")
    let service = Service(index: names.count)
    names.append(name)
    numbers[name] = service
    return service
  }

  /// Name of a window: `deposit-2`, or `mail-outside-1` for the slot of an outside worker.
  public func name(of window: Window) -> String {
    window.outsideNumber.map { self[window.service].outside($0) } ?? self[window.service].window(window.place)
  }

  /// The window with this name; nil if its service is unknown or its number is invalid, and for the slot of an outside
  /// worker.
  public func window(named name: some StringProtocol) -> Window? {
    guard let dash = name.lastIndex(of: "-"), let service = ServiceName(name[..<dash]).flatMap({ self[$0] }),
      let place = Int32(name[name.index(after: dash)...]), place >= 1,
      Int64(place) <= Limits.windowsPerService
    else { return nil }
    let window = Window(service: service, place: place)
    return self.name(of: window) == name ? window : nil
  }
}
