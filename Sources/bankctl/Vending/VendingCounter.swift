// Owns a command's questions to the vending machine, on the customers' side or on the manager's: each is bounded, and a
// machine that is not there is waited for. It must not know what a command makes of an answer.
// Invariant: the bank is open when the machine is asked, so that nobody waits for a machine that nobody starts; a refusal
// never comes out as an answer.
// Failure: CommandError, `vending_unavailable` with exit code 75 where no answer came in time.
import Arguments
import BankModel
import ControlClient
import Posix
import VendingClient
import Wire

/// The way to the vending machine of an open bank.
final class VendingCounter {
  /// The two sockets of the machine.
  enum Side {
    case customers
    case manager
  }

  let loop: EventLoop
  let client: VendingClient
  private let session: Session
  private let deadline: MonotonicInstant

  /// How long a coordinator keeps a screen from hearing keys.
  private static let glance = ControlConnection.Patience(hello: .milliseconds(100))

  /// Goes to the machine of the bank that is open.
  ///
  /// - Parameter loop: That of a screen on which the other side of the machine shows already.
  init(_ session: Session, _ side: Side, on loop: EventLoop? = nil) throws(CommandError) {
    if loop == nil {
      do throws(CommandError) { _ = try Desk.open(session) } catch {
        // Whoever may use the machine alone cannot ask whether the bank is open, and need not.
        guard side == .customers, case .control(.notPermitted) = error else { throw error }
      }
    } else {
      // A bank that does not answer, or is not there just now, is waited for on the screen like the machine.
      do throws(ControlError) { _ = try session.home.connect(patience: Self.glance) } catch {
        if case .notPermitted = error { throw .control(error) }
      }
    }
    self.session = session
    deadline = SystemClock.monotonic() + session.stockPatience
    if let loop {
      self.loop = loop
    } else {
      do throws(SystemError) { self.loop = try EventLoop() } catch { throw .system(error) }
    }
    let home = session.home.path
    let socket =
      side == .customers
      ? VendingClient.customersSocket(inHome: home) : VendingClient.managersSocket(inHome: home)
    client = VendingClient(socket: socket, loop: self.loop)
  }

  /// The machine as it is.
  func picture(_ command: VendingCommand = .look) throws(CommandError) -> VendingPicture {
    guard case .picture(let picture) = try ask(command) else { throw Self.unexpected }
    return picture
  }

  /// Changes the money.
  func change(_ command: VendingCommand) throws(CommandError) -> MoneyChange {
    guard case .done(let change) = try ask(command) else { throw Self.unexpected }
    return change
  }

  /// Changes what is in the machine.
  func restock(_ command: VendingCommand) throws(CommandError) -> [StockChange] {
    guard case .stocked(let changes) = try ask(command) else { throw Self.unexpected }
    return changes
  }

  /// Purchases behind a place in the ledger.
  func purchases(after sequence: Int64) throws(CommandError) -> [MoneyChange] {
    let page = PurchasePage(after: sequence, limit: 500)
    guard case .history(let purchases) = try ask(.history(page)) else { throw Self.unexpected }
    return purchases
  }

  private func ask(_ command: VendingCommand) throws(CommandError) -> VendingResult {
    let result: VendingResult
    switch try client.answer(to: command, by: deadline, changes: command.changesSomething, session) {
    case .success(let answer): result = answer
    case .failure(let error): throw session.words.refusal(ofMachine: error, trouble: trouble)
    }
    if case .failure(let failure) = result { throw .complaint(session.words.complaint(about: failure)) }
    return result
  }

  /// Why the machine does not work, as the coordinator knows it.
  var trouble: String? {
    guard let report = try? Desk.picture(session) else { return nil }
    return report.workers.first { $0.role == .vending }.flatMap { session.words.trouble(of: $0) }
  }

  private static var unexpected: CommandError {
    .control(.unexpected(detail: "another answer of the machine"))
  }
}

extension Session {
  /// The product of this name: the one in commands, in Korean or in English.
  ///
  /// - Throws: A complaint with the exit code for what does not exist, and a suggestion.
  func product(named name: String, in picture: VendingPicture) throws(CommandError) -> ProductReport {
    let wanted = Self.plain(name)
    if let product = picture.products.first(where: { Self.plain($0.id.name) == wanted }) { return product }
    let called = picture.products.filter { [$0.name, $0.english].map(Self.plain).contains(wanted) }
    if called.count == 1 { return called[0] }
    let near = ShopNames.suggestions(for: name, among: picture.products.map { ($0.id, $0.name) })
    let message = words.noSuchProduct(name, near, picture.products.map(\.id.name))
    throw .complaint(Complaint(code: "no_such_product", exit: .notFound, message: message))
  }

  private static func plain(_ name: String) -> String { name.filter { !$0.isWhitespace }.lowercased() }
}
