// Owns which client is owed which answer by the queue.
// Invariant: a number is given once, and forgotten with the answer or with the client. So every request is answered at most
// once, whoever answers it: the queue, or the part in which it has failed before the queue heard of it.

import BankModel
import QueueCore
import Wire

final class RequestTable {
  enum Purpose {
    /// Tickets; some customers of a list may have been known already, and have these.
    case enqueue(known: Int64, KnownTickets)
    case status
    /// One ticket, which is taken out of the queue or not.
    case ticket(TicketNumber, BusinessDay, cancels: Bool)
    /// The state of the bank after a reset, and how many it has cancelled.
    case reset
    case requeueDead
    /// That the whole bank drains: nobody is owed an answer by it.
    case drain
    /// One of several tickets.
    case selected(TicketNumber, SelectionWork)
  }

  struct Entry {
    var seat: Seat
    var purpose: Purpose
  }

  private let server: ControlServer
  private var entries: [RequestNumber: Entry] = [:]
  private var last: RequestNumber = 0

  init(_ server: ControlServer) { self.server = server }

  func open(_ seat: Seat, for purpose: Purpose) -> RequestNumber {
    last += 1
    seat.session.openRequests += 1
    entries[last] = Entry(seat: seat, purpose: purpose)
    return last
  }

  /// Takes the request out, with the answer on its way; nil when the client has gone.
  func close(_ request: RequestNumber) -> Entry? {
    guard let entry = entries.removeValue(forKey: request) else { return nil }
    entry.seat.session.openRequests -= 1
    return entry
  }

  func setKnown(_ known: Int64, _ tickets: KnownTickets, for request: RequestNumber) {
    guard known > 0 else { return }
    entries[request]?.purpose = .enqueue(known: known, tickets)
  }

  func entry(_ request: RequestNumber) -> Entry? { entries[request] }

  /// A client's request for tickets that is still open; nil where it was answered, or was another one. Of two with one
  /// number it is the first.
  func enqueue(_ number: UInt32, of session: ControlSession) -> RequestNumber? {
    var first: RequestNumber?
    for (request, entry) in entries where entry.seat.session === session && entry.seat.number == number {
      if case .enqueue = entry.purpose { first = min(first ?? request, request) }
    }
    return first
  }

  /// A request has failed: its client is told so, if it is still there and was not answered.
  func fail(_ request: RequestNumber, _ failure: Failure) {
    if let entry = close(request) { server.answer(entry.seat, .failure(failure)) }
  }

  /// Forgets everything that a client was owed. What it asked for is done all the same.
  func forget(_ session: ControlSession) {
    guard session.openRequests > 0 else { return }
    entries = entries.filter { $0.value.seat.session !== session }
  }
}
