// Owns what commands ask the stock service for, and what people are told where it does not do it. It knows no socket, and
// not what a command makes of an answer.
// Invariant: the bank is open when the stock is asked, so that nobody waits for a service that nobody starts.
import BankModel
import Posix
import StockClient
import Time
import Wire

typealias StockRequests = ServiceRequests<StockCommand>

extension StockCommand: PresentableCommand {
  static var role: WorkerRole { .stock }
  static var absence: ErrorCode { .stockUnavailable }

  static func silence(_ why: String, isInDoubt: Bool, _ words: MessageCatalog) -> String {
    words.stockSilent(why, isInDoubt)
  }

  static func complaint(about answer: StockResult, _ words: MessageCatalog) -> Complaint? {
    if case .failure(let failure) = answer { words.complaint(about: failure) } else { nil }
  }
}

extension ServiceRequests where Command == StockCommand {
  /// Goes to the stock of the bank that is open.
  /// - Parameters:
  ///   - isSeenOpen: Whether the command talks with the bank already, so that nobody has to look whether it is open.
  ///   - loop: That of a screen on which the bank shows already.
  convenience init(
    _ session: Session, isSeenOpen: Bool = false, on loop: EventLoop? = nil
  ) throws(CommandError) {
    if !isSeenOpen { _ = try CoordinatorClient.open(session) }
    let socket = StockClient.socket(inHome: session.home.path)
    try self.init(session, at: socket, within: session.stockPatience, on: loop)
  }

  func assortment() throws(CommandError) -> Assortment {
    guard case .assortment(let assortment) = try ask(.assortment) else { throw Self.unexpected }
    return assortment
  }

  /// What lies on the shelves of a branch that keeps all this.
  func picture(of assortment: Assortment) throws(CommandError) -> StockPicture {
    guard case .picture(let picture) = try ask(.look) else { throw Self.unexpected }
    return picture.withoutDrinks(of: assortment)
  }

  /// Asks for a change; what is missing for it is an answer.
  func change(_ command: StockCommand) throws(CommandError) -> [Shortage] {
    switch try ask(command) {
    case .done: return []
    case .short(let shortages): return shortages
    default: throw Self.unexpected
    }
  }
}

extension StockPicture {
  /// The stock without what stands in the vending machine: there every lot has dates, and fruit never has any.
  package func withoutDrinks(of assortment: Assortment) -> StockPicture {
    let fruits = Set(assortment.fruits.map(\.id))
    var picture = self
    picture.items = items.filter { item in
      fruits.contains(item.item) || item.lots.contains { $0.dates == nil }
    }
    return picture
  }
}

extension Session {
  /// How long the stock, or the juice station, may stand still.
  var stockPatience: TimeSpan {
    (invocation.options.declares("timeout") ? invocation.duration("timeout") : nil) ?? .seconds(10)
  }

  func fruit(named name: String, in assortment: Assortment) throws(CommandError) -> Fruit {
    if let fruit = ShopNames.fruit(named: name, in: assortment) { return fruit }
    let near = ShopNames.suggestions(for: name, among: assortment.fruits.map { ($0.id, $0.korean) })
    let message = words.noSuchFruit(name, near, assortment.fruits.map(\.id.name))
    throw .complaint(Complaint(stock: .unknownItem, message))
  }

  func juice(named name: String, in assortment: Assortment) throws(CommandError) -> Juice {
    if let juice = ShopNames.juice(named: name, in: assortment) { return juice }
    let near = ShopNames.suggestions(for: name, among: assortment.juices.map { ($0.id, $0.korean) })
    let message = words.noSuchJuice(name, near, assortment.juices.map(\.id.name))
    throw .complaint(.noSuchJuice, message)
  }
}
