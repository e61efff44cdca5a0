// Requests of commands to the vending machine, on the customers' or the manager's side, and the sentences
// about its refusals.
// Invariant: a command without a screen first checks that the bank is open, if it is permitted to, so that it does
// not wait for a machine that will not be started.
import BankModel
import ControlClient
import Posix
import Time
import VendingClient
import Wire

/// Requests to the vending machine.
typealias VendingRequests = ServiceRequests<VendingCommand>

/// One of the two sockets of the vending machine, each with its own permissions: for customers or for the manager.
enum MachineSocket { case customers, manager }

/// Time limit of one try to connect, during which a screen reads no keys.
private let connectTimeouts = ControlConnection.Timeouts(hello: .milliseconds(100))

extension VendingCommand: PresentableCommand {
  static var role: WorkerRole { .vending }
  static var absence: ErrorCode { .vendingUnavailable }

  /// Message for users if the machine does not answer, with the reason `why`. `isInDoubt`: a sent change may have been
  /// made.
  static func silence(_ why: String, isInDoubt: Bool, _ messages: MessageCatalog) -> String {
    messages.machineSilent(why, isInDoubt)
  }

  /// Error for a refusal of the machine; nil for any other answer.
  static func commandFailure(about answer: VendingResult, _ messages: MessageCatalog) -> CommandFailure? {
    if case .failure(let failure) = answer { messages.commandFailure(about: failure) } else { nil }
  }
}

extension ServiceRequests where Command == VendingCommand {
  /// Prepares requests to the machine of the open bank.
  /// - Parameter loop: Loop of a screen that is already open; nil for a command that opens no screen or has not opened
  ///   one yet.
  convenience init(
    _ session: Session, _ side: MachineSocket, on loop: EventLoop? = nil
  ) throws(CommandError) {
    if loop == nil {
      do throws(CommandError) { _ = try CoordinatorClient.open(session) } catch {
        // A user with permission only for the machine cannot ask the coordinator whether the bank is open.
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

  /// Requests a snapshot of the machine.
  func picture(_ command: VendingCommand = .querySnapshot) throws(CommandError) -> VendingSnapshot {
    guard case .snapshot(let picture) = try ask(command) else { throw Self.unexpected }
    return picture
  }

  /// Requests a change of the balance: insertion, purchase or return.
  func change(_ command: VendingCommand) throws(CommandError) -> MoneyChange {
    guard case .done(let change) = try ask(command) else { throw Self.unexpected }
    return change
  }

  /// Requests a change of the drinks in the machine. Returns the changes of the stock.
  func restock(_ command: VendingCommand) throws(CommandError) -> [StockChange] {
    guard case .stocked(let changes) = try ask(command) else { throw Self.unexpected }
    return changes
  }

  /// Requests a page of purchases after a sequence number, the oldest first.
  func purchases(after sequence: Int64) throws(CommandError) -> [MoneyChange] {
    let page = PurchasePage(after: sequence, limit: 500)
    guard case .history(let purchases) = try ask(.history(page)) else { throw Self.unexpected }
    return purchases
  }
}

extension Session {
  /// The product with this name in commands, in Korean or in English; throws an error with similar names if there is
  /// none.
  func product(named name: String, in picture: VendingSnapshot) throws(CommandError) -> ProductReport {
    let wanted = Self.plain(name)
    if let product = picture.products.first(where: { Self.plain($0.id.name) == wanted }) { return product }
    let called = picture.products.filter { [$0.name, $0.english].map(Self.plain).contains(wanted) }
    if called.count == 1 { return called[0] }
    let near = ItemNames.suggestions(for: name, among: picture.products.map { ($0.id, $0.name) })
    let message = messages.noSuchProduct(name, near, picture.products.map(\.id.name))
    throw .commandFailure(CommandFailure(vending: .unknownProduct, message))
  }

  /// A name in one form, so that spaces and case make no difference.
  private static func plain(_ name: String) -> String { name.filter { !$0.isWhitespace }.lowercased() }
}
