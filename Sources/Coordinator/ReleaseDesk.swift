// Owns the way in which what was put by for a cancelled ticket gets back to the shelves: the notes that the store keeps,
// and the stock that is asked under the ticket's name. It knows no queue. Invariant: a note goes only after the stock
// has answered, and asking twice gives back once, so a crash anywhere leaves nothing out and does nothing twice.
// A stock that does not answer is asked again; nobody waits for it.

import BankModel
import Posix
import QueueCore
import StockClient
import Wire

/// Gives back what cancelled tickets hold of the stock.
final class ReleaseDesk {
  /// Called when the stock has given back, or knows that it holds nothing.
  var onReleased: ((TicketOfDay) -> Void)?
  /// Called when the stock refuses, which it has no reason to: for the log.
  var onTrouble: ((TicketOfDay, String) -> Void)?

  private let stock: StockClient
  private let books: BooksName
  /// Tickets of which the stock was asked and has not answered.
  private var asked: Set<TicketOfDay> = []
  private var isDue = true
  private var retryAt: MonotonicTime?

  /// Tickets that are asked for at a time.
  static let limit = 64
  /// How long the stock may take to answer.
  private static let patience = Duration.seconds(10)
  /// The pause after the stock did not answer.
  private static let pause = TimeSpan.seconds(1)

  init(_ stock: StockClient, _ books: BooksName = .none) {
    self.stock = stock
    self.books = books
  }

  /// There may be something new to give back.
  func look() { isDue = true }

  /// The disk is full: what is given back cannot be noted. It looks again after a pause, because a note that the store
  /// has forgotten would be asked for at once, again and again.
  func putOff() {
    isDue = false
    tryLater()
  }

  /// When it looks again by itself.
  var nextDeadline: MonotonicTime? { retryAt }

  /// Asks for what is noted in the store and was not asked for yet. Only what is on disk is asked for: a cancellation
  /// that is lost with a crash must have given nothing back.
  func advance(_ store: any QueueStore, now: MonotonicTime) throws(StoreError) {
    if let due = retryAt, due <= now {
      retryAt = nil
      isDue = true
    }
    guard isDue, !store.hasStagedChanges, asked.count < Self.limit else { return }
    isDue = false
    let tickets = try store.unreleased(limit: Self.limit)
    for ticket in tickets where asked.insert(ticket).inserted {
      // The note was written with the receipt, which says when the ticket was issued.
      let receipt = try store.receipt(day: ticket.day, ticket: ticket.ticket)
      ask(for: ticket, as: receipt.map(books.order) ?? OrderID(day: ticket.day, ticket: ticket.ticket))
    }
  }

  private func ask(for ticket: TicketOfDay, as order: OrderID) {
    stock.ask(.giveBack, as: order, until: SystemClock.monotonic() + Self.patience) { [weak self] result in
      guard let self else { return }
      self.asked.remove(ticket)
      switch result {
      case .success(.done): self.onReleased?(ticket)
      // It was given back by somebody else before.
      case .success(.failure(let failure)) where failure.code == .givenBack: self.onReleased?(ticket)
      case .success(.failure(let failure)):
        self.onTrouble?(ticket, "\(failure.code.rawValue) \(failure.detail)")
        self.tryLater()
      case .success(let other):
        self.onTrouble?(ticket, "an answer that does not belong here: \(other)")
        self.tryLater()
      case .failure: self.tryLater()
      }
      self.isDue = self.isDue || self.retryAt == nil
    }
  }

  private func tryLater() { retryAt = retryAt ?? SystemClock.moment().monotonic + Self.pause }
}
