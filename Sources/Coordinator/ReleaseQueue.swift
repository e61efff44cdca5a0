// Owns the way in which what was put by for a cancelled ticket gets back to the shelves: the notes that the store keeps,
// and the stock that is asked under the ticket's name. It knows no queue. Invariant: a note goes only after the stock
// has answered, and asking twice gives back once, so a crash anywhere leaves nothing out and does nothing twice.
// A stock that does not answer is asked again; nobody waits for it. What it refuses holds up nothing behind it: the notes
// are walked through to their end, and those that were refused are asked for again with a longer pause.

import BankModel
import Posix
import QueueCore
import StockClient
import Time

package final class ReleaseQueue {
  /// Called when the stock has given back, or knows that it holds nothing.
  package var onReleased: ((TicketOfDay) -> Void)?
  /// Called when the stock refuses, which it has no reason to: for the log.
  package var onTrouble: ((TicketOfDay, String) -> Void)?

  private let stock: StockClient
  private let books: BooksName
  private let patience: TimeSpan
  private var asked: Set<TicketOfDay> = []
  /// There may be notes that no walk has come by.
  private var isDue = true
  /// Where the present walk through the notes has come to; nil while there is none.
  private var walk: Walk?
  private var retryAt: MonotonicTime?
  /// What the stock has refused, with its words.
  private(set) var refused: [TicketOfDay: String] = [:]
  private var refusedAt: MonotonicTime?

  private struct Walk {
    /// The last note that it has come by.
    var place: TicketOfDay?
    /// Whether it asks for what was refused before, too.
    var isThorough: Bool
  }

  /// Tickets that are asked for at a time.
  static let limit = 64
  /// Refused tickets that are remembered as such; of the others it is found out again with each walk.
  static let remembered = 4_096
  /// The pause after the stock did not answer, and after it has refused.
  private static let pause = TimeSpan.seconds(1)
  static let longPause = TimeSpan.seconds(30)

  package init(_ stock: StockClient, _ books: BooksName = .none, patience: TimeSpan = .seconds(10)) {
    self.stock = stock
    self.books = books
    self.patience = patience
  }

  package func look() { isDue = true }

  /// The disk is full: what is given back cannot be noted. It looks again after a pause, because a note that the store
  /// has forgotten would be asked for at once, again and again.
  package func putOff() {
    isDue = false
    if !Kernel.makes("putsOffForGood") { tryLater() }
  }

  package var nextDeadline: MonotonicTime? { .earlier(retryAt, refusedAt) }

  /// Asks for what is noted in the store and was not asked for yet. Only what is on disk is asked for: a cancellation
  /// that is lost with a crash must have given nothing back.
  package func advance(_ store: any QueueReading, now: MonotonicTime) throws(StoreError) {
    if let due = retryAt, due <= now {
      retryAt = nil
      isDue = true
    }
    let isThorough = refusedAt.map { $0 <= now } ?? false
    guard isDue || isThorough || walk != nil, !store.hasStagedChanges || Kernel.makes("givesBackTooEarly")
    else { return }
    if walk == nil || isThorough {
      (isDue, refusedAt) = (false, isThorough ? nil : refusedAt)
      walk = Walk(place: nil, isThorough: isThorough)
    }
    try goOn(store)
  }

  /// Goes on with the walk as far as the stock may be asked at once.
  private func goOn(_ store: any QueueReading) throws(StoreError) {
    while asked.count < Self.limit, let walk {
      let page = try store.unreleased(after: walk.place, limit: Self.limit)
      for ticket in page where asked.count < Self.limit {
        // Whoever was asked may have answered at once that there is no use in going on.
        guard self.walk != nil else { return }
        self.walk?.place = ticket
        guard walk.isThorough || refused[ticket] == nil else { continue }
        if Kernel.makes("neverGivesBack") {
          released(ticket)
          continue
        }
        guard asked.insert(ticket).inserted else { continue }
        let issued = try store.momentOfIssue(ofUnreleased: ticket)
        let order = issued.map { books.order(day: ticket.day, ticket: ticket.ticket, issuedAt: $0) }
        ask(for: ticket, as: order ?? OrderID(day: ticket.day, ticket: ticket.ticket))
      }
      if page.count < Self.limit, self.walk?.place == page.last ?? walk.place { self.walk = nil }
    }
  }

  private func ask(for ticket: TicketOfDay, as order: OrderID) {
    stock.ask(.giveBack, as: order, until: SystemClock.monotonic() + patience) { [weak self] result in
      guard let self else { return }
      if !Kernel.makes("asksForEachTicketOnce") { self.asked.remove(ticket) }
      switch result {
      case .success(.done): self.released(ticket)
      // It was given back by somebody else before.
      case .success(.failure(let failure)) where failure.code == .givenBack: self.released(ticket)
      case .success(.failure(let failure)) where failure.code == .diskFull:
        if Kernel.makes("takesAFullStockForGivenBack") { self.released(ticket) } else { self.tryLater() }
      case .success(.failure(let failure)): self.refused(ticket, "\(failure.code.name) \(failure.detail)")
      case .success(let other): self.refused(ticket, "an answer that does not belong here: \(other)")
      case .failure where Kernel.makes("takesSilenceForGivenBack"): self.released(ticket)
      case .failure: self.tryLater()
      }
    }
  }

  /// What cannot be given back, of many the first.
  func problems(limit: Int = 100) -> [Remark] {
    let tickets = refused.keys.sorted { ($0.day, $0.ticket) < ($1.day, $1.ticket) }
    let told = tickets.prefix(limit).map { Remark(.notReturned, $0.ticket, $0.day, refused[$0] ?? "") }
    let untold = tickets.count - told.count
    return untold > 0 ? told + [Remark(.moreNotReturned, untold)] : told
  }

  private func released(_ ticket: TicketOfDay) {
    refused[ticket] = nil
    onReleased?(ticket)
  }

  private func refused(_ ticket: TicketOfDay, _ words: String) {
    if refusedAt == nil { refusedAt = SystemClock.monotonic() + Self.longPause }
    guard refused[ticket] == nil else { return }
    if refused.count < Self.remembered { refused[ticket] = words }
    onTrouble?(ticket, words)
  }

  /// There is no use in going on: it begins anew after a pause.
  private func tryLater() {
    walk = nil
    retryAt = retryAt ?? SystemClock.monotonic() + Self.pause
  }
}
