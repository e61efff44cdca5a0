// Owns which requests of clients the branch of a shared bank does not answer itself: what only the books know is asked of their
// reader, and what is not done with shared books is refused by its name.

import BankModel
import QueueCore
import Wire

extension RequestRouter {
  /// Whether somebody else answers a request, or it was refused.
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

  /// Has a request answered by the reader of the books.
  func read(_ command: ControlCommand, _ seat: Seat) {
    if let reader { reader.pass(command, seat) } else { server.answer(seat, .failure(Failure(.notOpen))) }
  }

  /// A follower sees the receipts of the day on which it came, and of all days after it.
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
