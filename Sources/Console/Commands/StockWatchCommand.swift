// `stock watch`: the present stock, then one line for each change in order.
// Invariant: every change is printed once, also after a restart of the service, unless too many changes were missed.
// In that case a new snapshot replaces them. The command ends when its reader exits or the bank closes.
// Errors: `CommandError`; exit code 75 if the service never answered.
import BankModel
import Posix
import StockClient
import Time

final class StockWatchCommand {
  private let session: Session
  private let counter: StockRequests
  private let assortment: Assortment
  private var failure: CommandError?
  private var hasSeenPicture = false

  /// Interval of the checks whether the bank is still open while the stock is not connected.
  private static let look = TimeSpan.seconds(1)

  static func run(_ session: Session) throws(CommandError) {
    let counter = try StockRequests(session)
    try StockWatchCommand(session, counter, try counter.assortment()).watch()
  }

  private init(_ session: Session, _ counter: StockRequests, _ assortment: Assortment) {
    self.session = session
    self.counter = counter
    self.assortment = assortment
  }

  private func watch() throws(CommandError) {
    let reader = ReaderWatch(on: counter.loop)
    counter.client.follow { [unowned self] news in hear(news) }
    let patience = SystemClock.monotonic() + session.stockPatience
    while failure == nil, !reader.isGone {
      let isThere = counter.client.isConnected
      try counter.turn(until: isThere ? nil : SystemClock.monotonic() + Self.look)
      try session.output.flush()
      if !isThere, !counter.client.isConnected, session.isBankClosed { return }
      guard !hasSeenPicture, SystemClock.monotonic() >= patience else { continue }
      let error = StockClientError.tryLater(detail: Remark(.showsNothing), isInDoubt: false)
      throw counter.refusal(error)
    }
    if let failure { throw failure }
  }

  private func hear(_ news: StockNews) {
    do throws(CommandError) {
      switch news {
      case .picture(let picture): try tell(picture)
      case .changes(let changes): for change in changes { try tell(change) }
      case .refused(let refusal): throw .complaint(session.words.complaint(about: refusal))
      }
    } catch {
      failure = error
    }
  }

  private func tell(_ picture: StockPicture) throws(CommandError) {
    hasSeenPicture = true
    let menu = session.menu(assortment, picture.withoutDrinks(of: assortment))
    try session.line(.picture(picture), or: menu.shelvesInOneLine)
  }

  private func tell(_ change: StockChange) throws(CommandError) {
    let name = assortment.name(of: change.item, in: session.words.language)
    let time = session.output.palette.paint(Timestamp.utc(milliseconds: change.at.milliseconds), .quiet)
    try session.line(.change(change), or: "\(time)  \(session.words.changed(change, name))")
  }
}
