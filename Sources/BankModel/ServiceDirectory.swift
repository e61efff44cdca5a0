// Owns which number of a service stands for which name. It is a value: whoever needs it is handed it, and the database keeps
// it.
// Invariant: a number is given once, and names are never taken out. So a number that was read anywhere has its name, also
// where nobody offers that service any more.

/// The names of all services that a bank has ever had, by their numbers.
public struct ServiceDirectory: Sendable, Equatable {
  /// The names, in the order of the numbers.
  public private(set) var names: [ServiceName]
  private var numbers: [ServiceName: Service] = [:]

  /// Services that a configuration may name.
  public static let configurable = 1_000

  /// What every branch comes with.
  public init() {
    names = []
    for name in ServiceName.branch { add(name) }
  }

  /// Names that were kept, in the order of their numbers; nil where they do not begin with those of every branch, or one
  /// stands there twice.
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

  /// Every service, in the order of the numbers.
  public var services: some RandomAccessCollection<Service> & Sendable {
    (1...UInt16(names.count)).lazy.map { Service(number: $0) }
  }

  /// How many there are.
  public var count: Int { names.count }
  /// Whether there is a number for one more.
  public var hasRoom: Bool { names.count < Int(UInt16.max) }

  /// The service of this name; nil where there never was one.
  public subscript(name: ServiceName) -> Service? { numbers[name] }

  /// What a service is called.
  public subscript(service: Service) -> ServiceName {
    precondition(service.index < names.count, "service \(service.number) was given no name")
    return names[service.index]
  }

  /// The service with a number that was read somewhere; nil where it was never given.
  public func service(numbered number: Int64) -> Service? {
    1...Int64(names.count) ~= number ? Service(number: UInt16(number)) : nil
  }

  /// Gives a name the next number, where it has none.
  @discardableResult public mutating func add(_ name: ServiceName) -> Service {
    if let known = numbers[name] { return known }
    precondition(hasRoom, "whoever adds a service has looked whether there is a number")
    let service = Service(index: names.count)
    names.append(name)
    numbers[name] = service
    return service
  }

  /// What a window is called: `deposit-2`; or the place of a worker that has come by itself: `mail-outside-1`.
  public func name(of window: Window) -> String {
    window.outsideNumber.map { self[window.service].outside($0) } ?? self[window.service].window(window.place)
  }

  /// The window of this name; nil where there can be none.
  public func window(named name: some StringProtocol) -> Window? {
    guard let dash = name.lastIndex(of: "-"), let service = ServiceName(name[..<dash]).flatMap({ self[$0] }),
      let place = Int32(name[name.index(after: dash)...]), place >= 1,
      Int64(place) <= Limits.windowsPerService
    else { return nil }
    return Window(service: service, place: place)
  }
}
