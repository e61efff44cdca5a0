// Owns a command's questions to the stock service: each is bounded, and a service that is not there is waited for.
// It must not know what a command makes of an answer.
// Invariant: the bank is open when the stock is asked, so that nobody waits for a service that nobody starts; a
// refusal never comes out as an answer.
// Failure: CommandError, `stock_unavailable` with exit code 75 where no answer came in time.
import Arguments
import BankModel
import ControlClient
import Posix
import StockClient
import Wire

/// The way to the stock of an open bank.
final class StockCounter {
  /// How long the stock is waited for where nobody says how long.
  static let patience = Duration.seconds(10)

  let loop: EventLoop
  let client: StockClient
  private let session: Session
  private let deadline: MonotonicInstant

  /// Goes to the stock of the bank that is open.
  ///
  /// - Parameter patience: How long all questions together may take.
  init(_ session: Session, within patience: Duration? = nil) throws(CommandError) {
    _ = try Desk.open(session)
    self.session = session
    deadline = SystemClock.monotonic() + (patience ?? session.stockPatience)
    do throws(SystemError) { loop = try EventLoop() } catch { throw .system(error) }
    client = StockClient(socket: StockClient.socket(inHome: session.home.path), loop: loop)
  }

  /// What the branch keeps and makes.
  func assortment() throws(CommandError) -> Assortment {
    guard case .assortment(let assortment) = try ask(.assortment) else { throw Self.unexpected }
    return assortment
  }

  /// What lies on the shelves.
  func picture() throws(CommandError) -> StockPicture {
    guard case .picture(let picture) = try ask(.look) else { throw Self.unexpected }
    return picture.withoutDrinks(of: try assortment())
  }

  /// Asks for a change; what is missing for it is an answer.
  func change(_ command: StockCommand) throws(CommandError) -> [Shortage] {
    switch try ask(command) {
    case .done: return []
    case .short(let shortages): return shortages
    default: throw Self.unexpected
    }
  }

  /// Asks, and waits for the answer.
  private func ask(_ command: StockCommand) throws(CommandError) -> StockResult {
    let result: StockResult
    switch try client.answer(to: command, by: deadline, changes: command.changesStock, session) {
    case .success(let answer): result = answer
    case .failure(let error): throw session.words.refusal(error, trouble: trouble)
    }
    if case .failure(let failure) = result { throw .complaint(session.words.complaint(about: failure)) }
    return result
  }

  /// Why the service does not work, as the coordinator knows it.
  var trouble: String? { session.stockTrouble }

  private static var unexpected: CommandError { .control(.unexpected(detail: "another answer of the stock")) }
}

extension StockPicture {
  /// The stock without what stands in the vending machine: there every lot has dates, and fruit never has any.
  func withoutDrinks(of assortment: Assortment) -> StockPicture {
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
  var stockPatience: Duration { invocation.duration("timeout") ?? StockCounter.patience }

  /// Why the stock service does not work; nil where it does, or where nobody can tell.
  var stockTrouble: String? {
    guard let report = try? Desk.picture(self) else { return nil }
    return report.workers.first { $0.role == .stock }.flatMap { words.trouble(of: $0) }
  }

  /// The fruit of this name.
  ///
  /// - Throws: A complaint with the exit code for what does not exist, and a suggestion.
  func fruit(named name: String, in assortment: Assortment) throws(CommandError) -> Fruit {
    if let fruit = ShopNames.fruit(named: name, in: assortment) { return fruit }
    let near = ShopNames.suggestions(for: name, among: assortment.fruits.map { ($0.id, $0.korean) })
    let message = words.noSuchFruit(name, near, assortment.fruits.map(\.id.name))
    throw .complaint(Complaint(code: "no_such_fruit", exit: .notFound, message: message))
  }

  /// The juice of this name.
  ///
  /// - Throws: A complaint with the exit code for what does not exist, and a suggestion.
  func juice(named name: String, in assortment: Assortment) throws(CommandError) -> Juice {
    if let juice = ShopNames.juice(named: name, in: assortment) { return juice }
    let near = ShopNames.suggestions(for: name, among: assortment.juices.map { ($0.id, $0.korean) })
    let message = words.noSuchJuice(name, near, assortment.juices.map(\.id.name))
    throw .complaint(Complaint(code: "no_such_juice", exit: .notFound, message: message))
  }
}
