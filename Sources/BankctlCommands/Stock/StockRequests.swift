// Requests of commands to the stock service, and the sentences about its refusals.
// Invariant: the bank was open when requests are prepared, so that a client does not wait for a service that will not
// be started.
import BankModel
import Posix
import StockClient
import Time
import Wire

/// Requests to the stock service.
typealias StockRequests = ServiceRequests<StockCommand>

extension StockCommand: PresentableCommand {
  static var role: WorkerRole { .stock }
  static var absence: ErrorCode { .stockUnavailable }

  /// Message for users if the stock does not answer, with the reason `why`. `isInDoubt`: a sent change may have been
  /// made.
  static func silence(_ why: String, isInDoubt: Bool, _ messages: MessageCatalog) -> String {
    messages.stockSilent(why, isInDoubt)
  }

  /// Error for a refusal of the stock; nil for any other answer.
  static func commandFailure(about answer: StockResult, _ messages: MessageCatalog) -> CommandFailure? {
    if case .failure(let failure) = answer { messages.commandFailure(about: failure) } else { nil }
  }
}

extension ServiceRequests where Command == StockCommand {
  /// Prepares requests to the stock service of the open bank.
  /// - Parameters:
  ///   - isSeenOpen: True if the coordinator has already answered. The check that the bank is open is then
  ///     omitted.
  ///   - loop: Loop of a screen that already shows the bank.
  convenience init(
    _ session: Session, isSeenOpen: Bool = false, on loop: EventLoop? = nil
  ) throws(CommandError) {
    if !isSeenOpen { _ = try CoordinatorClient.open(session) }
    let socket = StockClient.socket(inHome: session.home.path)
    try self.init(session, at: socket, within: session.stockTimeout, on: loop)
  }

  /// Requests the fruits and juices that the bank knows.
  func assortment() throws(CommandError) -> Assortment {
    guard case .assortment(let assortment) = try ask(.assortment) else { throw Self.unexpected }
    return assortment
  }

  /// Requests the amounts in the stock, without the drinks of the vending machine.
  func picture(of assortment: Assortment) throws(CommandError) -> StockSnapshot {
    guard case .snapshot(let picture) = try ask(.querySnapshot) else { throw Self.unexpected }
    return picture.withoutDrinks(of: assortment)
  }

  /// Requests a change of the stock. Returns the shortages if there are too few pieces; the stock is then unchanged.
  func change(_ command: StockCommand) throws(CommandError) -> [Shortage] {
    switch try ask(command) {
    case .done: return []
    case .short(let shortages): return shortages
    default: throw Self.unexpected
    }
  }
}

extension StockSnapshot {
  /// The stock without the drinks of the vending machine, whose lots have dates.
  package func withoutDrinks(of assortment: Assortment) -> StockSnapshot {
    let fruits = Set(assortment.fruits.map(\.id))
    var picture = self
    picture.items = items.filter { item in
      fruits.contains(item.item) || item.lots.contains { $0.dates == nil }
    }
    return picture
  }
}

extension Session {
  /// Time limit for answers of the stock: the value of `--timeout` or `--stall-timeout`, otherwise a default.
  var stockTimeout: TimeSpan {
    let option = ["timeout", "stall-timeout"].first(where: invocation.options.declares)
    return option.flatMap { invocation.duration($0) } ?? .seconds(10)
  }

  /// The fruit with this name; throws an error with similar names if there is none.
  func fruit(named name: String, in assortment: Assortment) throws(CommandError) -> Fruit {
    if let fruit = ItemNames.fruit(named: name, in: assortment) { return fruit }
    let near = ItemNames.suggestions(for: name, among: assortment.fruits.map { ($0.id, $0.korean) })
    let message = messages.noSuchFruit(name, near, assortment.fruits.map(\.id.name))
    throw .commandFailure(CommandFailure(stock: .unknownItem, message))
  }

  /// The juice with this name; throws an error with similar names if there is none.
  func juice(named name: String, in assortment: Assortment) throws(CommandError) -> Juice {
    if let juice = ItemNames.juice(named: name, in: assortment) { return juice }
    let near = ItemNames.suggestions(for: name, among: assortment.juices.map { ($0.id, $0.korean) })
    let message = messages.noSuchJuice(name, near, assortment.juices.map(\.id.name))
    throw .commandFailure(.noSuchJuice, message)
  }
}
