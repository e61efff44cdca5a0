// `stock watch`: the present stock, then one line for each change in order.
// Invariant: a change is printed once, also after a restart of the service, unless too many changes were missed. In
// that case a new snapshot replaces them. The command ends when the reader has closed standard output, or when the
// bank closes.
// Errors: `CommandError`; exit code 75 if the service did not answer.
import BankModel
import Posix
import StockClient
import Time

/// Implementation of `bankctl stock watch`.
final class StockWatchCommand {
  private let session: Session
  private let serviceRequests: StockRequests
  private let assortment: Assortment
  private var failure: CommandError?
  private var hasSeenSnapshot = false

  /// Interval of the checks whether the bank is still open while the stock is not connected.
  private static let checkInterval = TimeSpan.seconds(1)

  /// Prints the stock, and then the changes.
  static func run(_ session: Session) throws(CommandError) {
    let serviceRequests = try StockRequests(session)
    try StockWatchCommand(session, serviceRequests, try serviceRequests.assortment()).watch()
  }

  private init(_ session: Session, _ serviceRequests: StockRequests, _ assortment: Assortment) {
    self.session = session
    self.serviceRequests = serviceRequests
    self.assortment = assortment
  }

  private func watch() throws(CommandError) {
    let reader = OutputReaderMonitor(on: serviceRequests.loop)
    serviceRequests.client.follow { [unowned self] news in handle(news) }
    let firstDeadline = SystemClock.monotonic() + session.stockTimeout
    while failure == nil, !reader.isGone {
      let isThere = serviceRequests.client.isConnected
      try serviceRequests.runIteration(until: isThere ? nil : SystemClock.monotonic() + Self.checkInterval)
      try session.output.flush()
      if !isThere, !serviceRequests.client.isConnected, session.isBankClosed { return }
      guard !hasSeenSnapshot, SystemClock.monotonic() >= firstDeadline else { continue }
      let error = StockClientError.tryLater(detail: MessageDetail(.emptyReply), isInDoubt: false)
      throw serviceRequests.refusal(error)
    }
    if let failure { throw failure }
  }

  /// Prints an update; stores the error if that fails or the stock refuses the subscription.
  private func handle(_ news: StockUpdate) {
    do throws(CommandError) {
      switch news {
      case .snapshot(let picture): try printUpdate(picture)
      case .changes(let changes): for change in changes { try printUpdate(change) }
      case .refused(let refusal): throw .commandFailure(session.messages.commandFailure(about: refusal))
      }
    } catch {
      failure = error
    }
  }

  /// Prints the amounts of all fruits in one line.
  private func printUpdate(_ picture: StockSnapshot) throws(CommandError) {
    hasSeenSnapshot = true
    let menu = session.menu(assortment, picture.withoutDrinks(of: assortment))
    try session.line(.picture(picture), or: menu.shelvesInOneLine)
  }

  private func printUpdate(_ change: StockChange) throws(CommandError) {
    let name = assortment.name(of: change.item, in: session.messages.language)
    let time = session.output.palette.paint(Timestamp.utc(milliseconds: change.at.milliseconds), .quiet)
    try session.line(.change(change), or: "\(time)  \(session.messages.changed(change, name))")
  }
}
