// Requests that a branch of a shared bank does not answer itself: those for the reader of the database, those that
// wait until tickets are finished, and those that a shared bank refuses.

import BankModel
import QueueCore
import Wire

extension RequestRouter {
  /// Passes a request that needs the shared database to its reader, refuses it, or lets it wait for tickets. Returns
  /// false for any other request, which the router handles itself.
  func isAnsweredByReader(_ command: ControlCommand, _ requester: RequestHandle) -> Bool {
    switch command {
    case .receipts(let query) where query.follow: follow(query, requester)
    case .tickets, .ticket, .receipts, .ledger, .account, .audit: read(command, requester)
    case .reset: refuseHere("reset", requester)
    case .awaitTickets(let day, let first, let last): waits?.add(day, first, last, requester)
    default: return false
    }
    return true
  }

  func read(_ command: ControlCommand, _ requester: RequestHandle) {
    if let reader {
      reader.pass(command, requester)
    } else {
      server.answer(requester, .failure(Failure(.notOpen)))
    }
  }

  /// Passes on the request of a follower. The present day is replaced by its number, so that the follower receives
  /// the receipts of this day and of all later days.
  private func follow(_ query: ReceiptQuery, _ requester: RequestHandle) {
    guard server.maySubscribe(requester, besides: reader?.subscriptions(of: requester.session) ?? 0) else {
      return
    }
    var query = query
    if query.days == .present { query.days = .day(queue.machine.dayCounters.day) }
    read(.receipts(query), requester)
  }

  /// Refuses a request that a shared bank does not support.
  private func refuseHere(_ asked: String, _ requester: RequestHandle) {
    server.answer(requester, .failure(Failure(.unsupportedWithSharedStore, subject: asked)))
  }
}
