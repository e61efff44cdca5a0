// Open requests to the queue, and the client and purpose of each.
// Invariant: a number is assigned once. Its entry is removed with the answer or when the client disconnects. So each
// request is answered at most once.

import BankModel
import QueueCore
import Wire

final class RequestTable {
  /// What a request asks for, which determines the form of the answer.
  enum Purpose {
    /// Issue of tickets. Customers of a list whose keys are known keep their earlier tickets.
    case enqueue(known: Int64, AlreadyIssuedTickets)
    /// Any request that is answered with the status of the bank.
    case status
    /// Change of one ticket; `cancels` is true for a cancellation.
    case ticket(TicketNumber, BusinessDay, cancels: Bool)
    /// Reset: the answer is the status of the bank, with the number of cancelled customers.
    case reset
    case requeueDead
    /// Drain of all branches of the bank; no client waits for an answer.
    case drain
    /// One of several selected tickets.
    case selected(TicketNumber, ActiveSelection)
  }

  /// An open request: its client and its purpose.
  struct Entry {
    var requester: RequestHandle
    var purpose: Purpose
  }

  private let server: ControlServer
  private var entries: [RequestNumber: Entry] = [:]
  /// Number of the latest request.
  private var last: RequestNumber = 0

  init(_ server: ControlServer) { self.server = server }

  /// Adds a request, and returns the number under which the queue will answer it.
  func open(_ requester: RequestHandle, for purpose: Purpose) -> RequestNumber {
    last += 1
    requester.session.openRequests += 1
    entries[last] = Entry(requester: requester, purpose: purpose)
    return last
  }

  /// Removes the request and returns its entry, for the answer; nil if it was answered or its client has disconnected.
  func close(_ request: RequestNumber) -> Entry? {
    guard let entry = entries.removeValue(forKey: request) else { return nil }
    entry.requester.session.openRequests -= 1
    return entry
  }

  /// Records which customers of an enqueue request already have tickets, for the answer.
  func setKnown(_ known: Int64, _ tickets: AlreadyIssuedTickets, for request: RequestNumber) {
    guard known > 0 else { return }
    entries[request]?.purpose = .enqueue(known: known, tickets)
  }

  /// Entry of an open request; nil if it was answered, or if its client has disconnected.
  func entry(_ request: RequestNumber) -> Entry? { entries[request] }

  /// A client's open enqueue request; nil if it was answered or is a request of another kind. If two requests
  /// have the same number, the first one is returned.
  func enqueue(_ number: UInt32, of session: ControlSession) -> RequestNumber? {
    var first: RequestNumber?
    for (request, entry) in entries
    where entry.requester.session === session && entry.requester.number == number {
      if case .enqueue = entry.purpose { first = min(first ?? request, request) }
    }
    return first
  }

  /// Sends the failure to the client, if it is still connected and was not answered.
  func fail(_ request: RequestNumber, _ failure: Failure) {
    if let entry = close(request) { server.answer(entry.requester, .failure(failure)) }
  }

  /// Forgets a client that has disconnected. Its requests are executed, but not answered.
  func forget(_ session: ControlSession) {
    guard session.openRequests > 0 else { return }
    entries = entries.filter { $0.value.requester.session !== session }
  }
}
