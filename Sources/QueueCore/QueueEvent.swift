// Input of the queue: events and requests. The sender has checked the syntax of an event. The queue checks whether
// the event matches its state.

import BankModel
import Time

/// Number by which the caller matches a reply to its request.
public typealias RequestNumber = UInt64

/// An event or a request for the queue.
public enum QueueEvent: Sendable {
  /// A request for tickets. A large request is sent in slices under one request number. The queue must have room for
  /// the `total` of the first slice. `heldBack` is the number of customers at the start of the request that are held
  /// back after this slice. They are sent last, in slices from the last to the first. Between the slices, other
  /// requests of one slice each may be sent, with up to ``QueueMachine/concurrentEnqueueLimit`` customers. The keys and
  /// payloads of the slice's customers are attached; nil for none. An accepted slice has the effect
  /// ``QueueEffect/acceptSlice(_:)``.
  case enqueue(
    RequestNumber, orders: [CustomerOrder], total: Int64, isLast: Bool, heldBack: Int64 = 0,
    attachments: SliceAttachments? = nil)

  /// The changes staged since the last seal are one transaction, which is in flight now.
  case sealed
  /// The oldest transaction in flight is on disk, or everything staged if none is in flight.
  case committed
  /// The disk is full. The store has dropped every transaction that is not on disk, in flight or open.
  case commitRefused
  /// The partly arrived request is dropped. The sender has replied to it.
  case enqueueAbandoned
  /// The store has become short of space, or has space again.
  case roomChanged(isLowOnSpace: Bool)
  /// The next page of a line, by number.
  case pageLoaded(Line, [Customer])
  /// With a shared database: the line may contain customers that no branch has claimed.
  case lineMayHaveCustomers(Line)
  /// A customer that this branch may own was cancelled in the shared database: by another branch, or by a request that
  /// this branch has forwarded. The receipt is written.
  case cancelledElsewhere(TicketNumber)
  /// The branch may assign customers until this moment, because until then no other branch may claim its customers.
  case leaseExtended(until: MonotonicTime)
  /// The changes to these customers in the transaction that is settled next had no effect, because the customers had
  /// been changed in the shared database before.
  case withoutEffect([TicketNumber])
  /// The branch owns no customers any more: other branches can claim them. Changes that were not reported as on disk no
  /// longer count.
  case claimsLost
  /// Number of waiting and delayed customers of the whole bank, by the index of the service. For a service that uses
  /// the stock, only the customers that need the stock of this branch.
  case openCountsChanged([Int64])
  /// The next page of delayed customers, by due time.
  case delayedLoaded([DelayedCustomer])
  /// The stored customer of a ticket that a request asked for; nil if there is none.
  case found(RequestNumber, ticket: TicketNumber, StoredCustomer?)
  /// Dead letters that a request asked for; empty if there are none left.
  case deadLoaded(RequestNumber, [Customer])

  /// A teller is ready for its first customer.
  case tellerReady(Window, Generation, pid: Int32)
  /// A side-by-side worker at a window is ready: a worker that serves up to `inFlight` customers at once.
  case workerReady(Window, Generation, pid: Int32, inFlight: Int)
  /// An outside worker has connected. It serves these services, and at most `inFlight` customers at once over all of
  /// them. Its generation identifies it.
  case workerConnected([Service], number: Int32, Generation, pid: Int32, inFlight: Int)
  /// An outside worker has disconnected.
  case workerDisconnected(Generation)
  /// A teller has answered a lease.
  case tellerAnswered(Window, Generation, Lease, TellerAnswer)
  /// A worker has made progress with a customer.
  case tellerProgressed(Window, Generation, Lease)
  /// The process of a teller has exited.
  case tellerLost(Window, Generation, ProcessEnd)

  /// Cancel a customer that waits, is delayed, is being served or is a dead letter.
  case cancel(RequestNumber, TicketNumber)
  /// Return a dead letter to its line.
  case requeue(RequestNumber, TicketNumber)
  /// Return all dead letters to their lines.
  case requeueDead(RequestNumber)
  /// Stop assigning customers of a service, or of all services if nil.
  case pause(RequestNumber, Service?)
  /// Resume assigning customers of a service, or of all services if nil.
  case resume(RequestNumber, Service?)
  /// Set the number of windows of a service.
  case scale(Service, windows: Int32)
  /// Replace the teller at a window when it is idle.
  case replace(Window)
  /// Empty the queue and start a new day.
  case reset(RequestNumber)
  /// Refuse new customers, serve those that can be served, then report the end of the drain.
  case drain
  /// Assign no more customers, finish the assigned customers, then report the end of the drain.
  case finish
  /// Assign no more customers, and return the assigned customers to their lines: the tellers are being killed.
  case returnAllClaims
  /// Shutdown is complete: close the day if it is finished.
  case endDay
  /// All received messages were handled, and only time has passed: expired leases end.
  case tick
}

extension QueueEvent {
  /// True if due customers are returned to their lines after this event. An answer of the store may arrive while the
  /// effects of an earlier event are performed, and a refused commit has just staged changes again.
  var returnsDueCustomers: Bool {
    switch self {
    case .pageLoaded, .delayedLoaded, .found, .deadLoaded, .commitRefused: false
    default: true
    }
  }

  /// The only service that may assign a customer because of this event; nil if several services may.
  var onlyService: Service? {
    if case .tellerAnswered(let window, _, _, _) = self, !window.isOutside { window.service } else { nil }
  }
}

/// A teller's answer to a lease.
public enum TellerAnswer: Sendable, Equatable {
  /// The work is done, without a result.
  case done
  /// The work is done, with a stored result.
  case worked(WorkResult)
  /// The stock was too low: nothing was taken, and the customer is finished.
  case outOfStock([Shortage])
  /// The work could not be done.
  case failed(WorkFailure)
  /// The customer is returned: after a recall, after ``QueueEffect/notifyNoMoreCustomers(_:)``, or by a side-by-side
  /// worker that declines the customer.
  case returned
}

extension Service {
  /// The reason, for an error message, why this list of shortages is impossible; nil if it is valid.
  func validationError(of missing: [Shortage]) -> String? {
    if !usesStock { return "for lack of stock, which service \(number) does not use" }
    if missing.isEmpty || missing.count > StockLimits.itemsPerOrder {
      return "for lack of \(missing.count) items"
    }
    if Set(missing.map(\.item)).count < missing.count { return "for lack of one item twice" }
    if let odd = missing.first(where: { !$0.isPossible }) {
      return "for lack of \(odd.needed) pieces with \(odd.available) present"
    }
    return nil
  }
}

extension Shortage {
  /// True if the item name is valid and less is available than needed.
  fileprivate var isPossible: Bool { item.isValid && 0 <= available && available < needed }
}
