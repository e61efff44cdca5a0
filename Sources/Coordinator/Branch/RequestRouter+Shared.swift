// Owns which requests of clients the branch of a shared bank does not answer itself: what only the books know is asked of their
// reader, and what is not done with shared books is refused by its name.

import BankModel
import QueueCore
import Wire

extension RequestRouter {
  /// Whether somebody else answers a request, or it was refused.
  func isAnsweredElsewhere(_ command: ControlCommand, _ seat: Seat) -> Bool {
    switch command {
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

  private func refuseHere(_ asked: String, _ seat: Seat) {
    server.answer(seat, .failure(Failure(.notInSharedBank, subject: asked)))
  }
}
