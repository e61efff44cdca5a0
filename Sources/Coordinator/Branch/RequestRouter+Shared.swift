// Requests that a branch of a shared bank does not answer itself: those for the reader of the database, those that
// wait until tickets are finished, and those that a shared bank refuses.

import BankModel
import QueueCore
import Wire

extension RequestRouter {
  /// Returns true if the request was passed to the reader, was refused, or waits for tickets.
  func isAnsweredElsewhere(_ command: ControlCommand, _ seat: Seat) -> Bool {
    switch command {
    case .receipts(let query) where query.follow: follow(query, seat)
    case .tickets, .ticket, .receipts, .ledger, .account, .audit: read(command, seat)
    case .reset: refuseHere("reset", seat)
    case .awaitTickets(let day, let first, let last): waits?.add(day, first, last, seat)
    default: return false
    }
    return true
  }

  /// Passes a request to the reader of the database.
  func read(_ command: ControlCommand, _ seat: Seat) {
    if let reader { reader.pass(command, seat) } else { server.answer(seat, .failure(Failure(.notOpen))) }
  }

  /// Passes on the request of a follower. The present day is replaced by its number, so that the follower receives
  /// the receipts of this day and of all later days.
  private func follow(_ query: ReceiptQuery, _ seat: Seat) {
    guard server.mayView(seat, besides: reader?.followers(of: seat.session) ?? 0) else { return }
    var query = query
    if query.days == .present { query.days = .day(queue.machine.books.day) }
    read(.receipts(query), seat)
  }

  private func refuseHere(_ asked: String, _ seat: Seat) {
    server.answer(seat, .failure(Failure(.notInSharedBank, subject: asked)))
  }
}
