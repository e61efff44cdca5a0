// Requests of commands to the vending machine, on the customers' or the manager's side, and the sentences
// about its refusals.
// Invariant: a request is made only if the bank was open, so no client waits for a machine that will not be
// started. The exception is a user with permission only for the customers' socket.
import BankModel
import ControlClient
import Posix
import Time
import VendingClient
import Wire

typealias VendingRequests = ServiceRequests<VendingCommand>

enum MachineSocket { case customers, manager }

/// Time limit of one try to connect, during which a screen reads no keys.
private let connectTimeouts = ControlConnection.Timeouts(hello: .milliseconds(100))

extension VendingCommand: PresentableCommand {
  static var role: WorkerRole { .vending }
  static var absence: ErrorCode { .vendingUnavailable }

  static func silence(_ why: String, isInDoubt: Bool, _ messages: MessageCatalog) -> String {
    messages.machineSilent(why, isInDoubt)
  }

  static func commandFailure(about answer: VendingResult, _ messages: MessageCatalog) -> CommandFailure? {
    if case .failure(let failure) = answer { messages.commandFailure(about: failure) } else { nil }
  }
}

extension ServiceRequests where Command == VendingCommand {
  /// Connects to the machine of the open bank.
  /// - Parameter loop: Loop of a screen that already shows the bank, or the other side of the machine. Nil for a
  ///   command without a screen of its own, and for the first screen.
  convenience init(
    _ session: Session, _ side: MachineSocket, on loop: EventLoop? = nil
  ) throws(CommandError) {
    if loop == nil {
      do throws(CommandError) { _ = try CoordinatorClient.open(session) } catch {
        // A user with permission only for the machine cannot ask the coordinator whether the bank is open,
        // and need not.
        guard side == .customers, case .control(.notPermitted) = error else { throw error }
      }
    } else {
      // If the bank does not answer or is restarting, the screen waits for it, as for the machine.
      do throws(ControlError) { _ = try session.home.connect(timeouts: connectTimeouts) } catch {
        if case .notPermitted = error { throw .control(error) }
      }
    }
    let home = session.home.path
    let socket =
      side == .customers
      ? VendingClient.customersSocket(inHome: home) : VendingClient.managersSocket(inHome: home)
    try self.init(session, at: socket, within: session.stockTimeout, on: loop)
  }

  func picture(_ command: VendingCommand = .querySnapshot) throws(CommandError) -> VendingSnapshot {
    guard case .snapshot(let picture) = try ask(command) else { throw Self.unexpected }
    return picture
  }

  func change(_ command: VendingCommand) throws(CommandError) -> MoneyChange {
    guard case .done(let change) = try ask(command) else { throw Self.unexpected }
    return change
  }

  func restock(_ command: VendingCommand) throws(CommandError) -> [StockChange] {
    guard case .stocked(let changes) = try ask(command) else { throw Self.unexpected }
    return changes
  }

  func purchases(after sequence: Int64) throws(CommandError) -> [MoneyChange] {
    let page = PurchasePage(after: sequence, limit: 500)
    guard case .history(let purchases) = try ask(.history(page)) else { throw Self.unexpected }
    return purchases
  }
}

extension Session {
  /// The product with this name in commands, in Korean or in English.
  func product(named name: String, in picture: VendingSnapshot) throws(CommandError) -> ProductReport {
    let wanted = Self.plain(name)
    if let product = picture.products.first(where: { Self.plain($0.id.name) == wanted }) { return product }
    let called = picture.products.filter { [$0.name, $0.english].map(Self.plain).contains(wanted) }
    if called.count == 1 { return called[0] }
    let near = ItemNames.suggestions(for: name, among: picture.products.map { ($0.id, $0.name) })
    let message = messages.noSuchProduct(name, near, picture.products.map(\.id.name))
    throw .commandFailure(CommandFailure(vending: .unknownProduct, message))
  }

  private static func plain(_ name: String) -> String { name.filter { !$0.isWhitespace }.lowercased() }
}
