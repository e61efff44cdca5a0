// Owns `stock watch`: the present stock, and then a line each time something changes, in the order of the changes.
// Invariant: no change is left out and none is told twice, also where the service is replaced; a change that cannot be
// told any more, because too many came meanwhile, shows as a new picture.
// Failure: CommandError, exit code 75 where the service never came. A reader that leaves, and a bank that closes, end it
// without an error.
import BankModel
import Posix
import StockClient

final class StockWatchCommand {
  private let session: Session
  private let counter: StockRequests
  private let assortment: Assortment
  private var failure: CommandError?
  private var hasSeenPicture = false

  /// How often it is looked whether a bank whose stock is gone is still open.
  private static let look = Duration.seconds(1)

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
      do throws(StockClientError) {
        try counter.client.turn(until: isThere ? nil : SystemClock.monotonic() + Self.look)
      } catch {
        throw session.words.refusal(error, trouble: counter.trouble)
      }
      try session.output.flush()
      if !isThere, !counter.client.isConnected, session.isBankClosed { return }
      guard !hasSeenPicture, SystemClock.monotonic() >= patience else { continue }
      let error = StockClientError.tryLater(detail: Remark(.showsNothing), isInDoubt: false)
      throw session.words.refusal(error, trouble: counter.trouble)
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
    if session.asJSON { return try session.output.line(.picture(picture)) }
    let menu = MenuPicture(
      assortment: assortment, picture: picture.withoutDrinks(of: assortment), words: session.words,
      palette: session.output.palette)
    try session.line(menu.shelvesInOneLine)
  }

  private func tell(_ change: StockChange) throws(CommandError) {
    if session.asJSON { return try session.output.line(.change(change)) }
    let name = assortment.name(of: change.item, in: session.words.language)
    let time = session.output.palette.paint(Timestamp.utc(milliseconds: change.at.milliseconds), .quiet)
    try session.line("\(time)  \(session.words.changed(change, name))")
  }
}
