// Submission of enqueue requests to a database shared by several branches. One transaction issues all tickets of a
// request. So the coordinator gathers the whole request first, and the database compares the idempotency keys of the
// request with those of earlier requests.
// Invariant: no part of a request is submitted before the whole request was gathered, so a request withdrawn or
// refused earlier leaves no data.

import BankModel
import Posix
import QueueCore
import Time
import Wire

extension EnqueueHandler {
  /// Limit of customers per request in a shared database: one transaction issues all their tickets.
  static let sharedAtMost: Int64 = 1_000_000
  /// Limit of customers with keys of their own: other requests wait while these keys are stored.
  static let sharedKeysAtMost = 100_000

  /// Collects the customers of waiting requests until a deadline, and sends each complete request to the shared
  /// database, which issues its tickets.
  func submit(to shared: SharedStoreSession, until: MonotonicTime) {
    while hasWork, let order = line.advance() {
      guard order.taken > 0 || mayAdmit(order, shared) else { continue }
      guard gather(order, until: until), let customers = gathered else {
        if SystemClock.monotonic() >= until { return }
        continue
      }
      gathered = nil
      guard customers.keyed.count <= Self.sharedKeysAtMost else {
        let messageDetail = MessageDetail(.customersRange, Self.sharedKeysAtMost, customers.keyed.count)
        requests.fail(order.request, Failure(.badRequest, messageDetail: messageDetail))
        continue
      }
      guard !customers.orders.isEmpty else {
        // Every entry of the list repeats a key.
        requests.fail(order.request, Failure(.badRequest, messageDetail: MessageDetail(.listEmpty)))
        continue
      }
      shared.store.enqueueCustomers(customers, for: order.request)
      if SystemClock.monotonic() >= until { return }
    }
  }

  /// Returns true if the request may be admitted. If not, the request is answered with a failure.
  private func mayAdmit(_ order: EnqueueQueue.Order, _ shared: SharedStoreSession) -> Bool {
    let failure: Failure
    if queue.machine.stage != .open || shared.isDraining {
      failure = Failure(.draining)
    } else if order.total > Self.sharedAtMost {
      failure = Failure(
        .badRequest, messageDetail: MessageDetail(.customersRange, Self.sharedAtMost, order.total))
    } else {
      return true
    }
    line.end(order)
    requests.fail(order.request, failure)
    return false
  }

  /// Collects further customers of a request in memory. Returns true when all are collected; false if the deadline has
  /// passed, or the request was refused.
  private func gather(_ given: EnqueueQueue.Order, until: MonotonicTime) -> Bool {
    var order = given
    var customers =
      gathered ?? EnqueueRequest(issuedAt: order.requestedAt, key: order.key, digest: order.digest)
    gathered = nil
    while order.taken < order.total {
      var attachments = SliceAttachments()
      do throws(SliceError) {
        // Ticket numbers are positions in this slice, from 1.
        let slice = try nextSlice(of: &order, with: &attachments, after: nil, issued: 0)
        order.known += try customers.add(slice, attachments)
      } catch {
        line.end(given)
        refuse(given, error)
        return false
      }
      guard order.taken < order.total, SystemClock.monotonic() >= until else { continue }
      (line.current, gathered) = (order, customers)
      return false
    }
    line.end(order)
    requests.setKnown(order.known, order.alreadyIssuedTickets, for: order.request)
    gathered = customers
    return true
  }

  /// Answers the client of an enqueue request, as the database has decided.
  func finish(_ request: RequestNumber, _ answer: SharedStoreReply) {
    guard let entry = requests.close(request) else { return }
    let result: ControlAnswer
    switch answer {
    case .issued(let tickets, let known): result = .enqueued(report(of: tickets, known: known, entry.purpose))
    case .keyConflict(let key): result = .failure(.conflict(key))
    case .failed(let error): result = .failure(Failure(store: error))
    case .queue: preconditionFailure("the router sends the responses of the queue")
    }
    if case .issued(let tickets?, _) = answer { subscriptions.noteIssued(tickets, at: context.now.wall) }
    server.answer(entry.requester, result, from: .commit)
  }

  /// Answer to an enqueue request whose tickets the database has issued or had issued before.
  private func report(
    of tickets: IssuedTickets?, known: [IssuedTickets], _ purpose: RequestTable.Purpose
  ) -> EnqueuedReport {
    var (alreadyIssuedBefore, spans) = (0 as Int64, AlreadyIssuedTickets())
    if case .enqueue(let count, let tickets) = purpose { (alreadyIssuedBefore, spans) = (count, tickets) }
    let found = known.reduce(0) { $0 + $1.last - $1.first + 1 }
    guard let tickets else {
      // The whole request is a repetition.
      guard known.count == 1, alreadyIssuedBefore == 0, let first = known.first else {
        for tickets in known { spans.add(tickets) }
        return EnqueuedReport(
          day: known.first?.day ?? shared?.numbers.day ?? 0, first: 0, last: 0, count: 0,
          known: alreadyIssuedBefore + found, alreadyIssuedTickets: spans.report)
      }
      return EnqueuedReport(
        day: first.day, first: first.first, last: first.last, count: found, known: found)
    }
    for tickets in known { spans.add(tickets) }
    return EnqueuedReport(
      day: tickets.day, first: tickets.first, last: tickets.last, count: tickets.last - tickets.first + 1,
      known: alreadyIssuedBefore + found, alreadyIssuedTickets: spans.report)
  }
}

extension EnqueueRequest {
  /// Adds a slice of customers. Returns the number of entries left out: they repeat the key of an entry in an earlier
  /// slice and get its ticket.
  ///
  /// - Parameter attachments: Keys and payloads of the slice. Their ticket numbers are positions in the slice, from 1.
  /// - Throws: The failure `key_conflict` if a repeated entry differs from the earlier one.
  fileprivate mutating func add(
    _ slice: [CustomerOrder], _ attachments: SliceAttachments
  ) throws(SliceError) -> Int64 {
    var repeated: Set<Int> = []
    for entry in attachments.keys {
      guard let before = places[Array(entry.key.utf8)] else { continue }
      guard entry.isRepeated(by: keyed[before].digest) else { throw .request(.conflict(entry.key)) }
      repeated.insert(Int(entry.ticket - 1))
    }
    var newPlaces: [Int?] = []
    for (place, order) in slice.enumerated() {
      newPlaces.append(repeated.contains(place) ? nil : orders.count)
      if !repeated.contains(place) { orders.append(order) }
    }
    for entry in attachments.keys {
      guard let place = newPlaces[Int(entry.ticket - 1)] else { continue }
      places[Array(entry.key.utf8)] = keyed.count
      keyed.append((place, entry.key, entry.digest))
    }
    for entry in attachments.payloads {
      // A payload in a list belongs to one customer. A payload shared by all customers belongs to a request
      // without keys per customer.
      let new = entry.tickets.compactMap { newPlaces[Int($0 - 1)] }
      if let first = new.first, let last = new.last { payloads.append((entry.payload, first..<last + 1)) }
    }
    return Int64(repeated.count)
  }
}
