// Owns everything that can happen to the queue. It knows nothing of where it happens.
// Events are past tense or requests; whoever reports them has already checked their form, not their truth.

import BankModel
import Time

/// A number by which whoever asked finds the answer again.
public typealias RequestNumber = UInt64

/// Something that happened to the queue.
public enum QueueEvent: Sendable {
  /// Customers ask for tickets. A large request comes in slices under one number; the first one says by `total` for
  /// how many there must be room, and by `heldBack` how many come before these by the order of the request and follow
  /// last, from the last slice of them to the first. Others who fit into one slice may come in between, as many as
  /// ``QueueMachine/roomBeside`` says.
  case enqueue(RequestNumber, orders: [CustomerOrder], total: Int64, isLast: Bool, heldBack: Int64 = 0)

  /// What was staged since the last seal is one transaction, and on its way to the disk; what is staged from here on is
  /// a part of the next one. A store that answers at once needs none.
  case sealed
  /// The oldest transaction on its way is on disk; where none is on its way, everything that was staged.
  case committed
  /// The disk is full: nothing of any transaction that is not on disk was kept, under way or not, and the store has
  /// forgotten it.
  case commitRefused
  /// The request that is half taken in is given up. Whoever reports this has answered it, and everything that was
  /// staged is on disk; what is there of the request is taken out by the store.
  case intakeAbandoned
  /// The store has hardly any room, or has room again.
  case roomChanged(isShort: Bool)
  /// The next page of a line, in order.
  case pageLoaded(Line, [Customer])
  /// Of books that several branches share: somebody may wait in a line whom no branch has claimed.
  case somebodyMayWait(Line)
  /// Another branch has taken a customer out who may be in this one's hands: the receipt is written.
  case takenOut(TicketNumber)
  /// The branch may hand out until this moment, because no other one takes its customers before.
  case leaseHolds(until: MonotonicTime)
  /// In the transaction that is settled next these were finished by somebody else before, and nothing was done of them.
  case withoutEffect([TicketNumber])
  /// The branch has nobody any more: whom it had in hand is given to others, and nothing that it has not heard of as being
  /// on disk will be.
  case branchLost
  /// So many are not finished in the whole bank and are no dead letters, by the index of the service.
  case remains([Int64])
  /// The next page of those who are delayed, in order.
  case delayedLoaded([DelayedCustomer])
  /// What the store knows of a ticket that a request asked for.
  case found(RequestNumber, ticket: TicketNumber, StoredCustomer?)
  /// Dead letters that a request asked for; none when there are no more.
  case deadLoaded(RequestNumber, [Customer])

  /// A teller is ready for its first customer.
  case tellerReady(Window, Generation, pid: Int32)
  /// A worker at a window is ready, which serves so many customers side by side.
  case workerReady(Window, Generation, pid: Int32, inHand: Int)
  /// A worker has come by itself that serves these services, and so many customers at once over all of them. It is told from
  /// others by its generation, which was never another worker's.
  case workerCame([Service], number: Int32, Generation, pid: Int32, inHand: Int)
  /// A worker that had come by itself has gone.
  case workerGone(Generation)
  /// A teller has answered a lease and asks for the next customer.
  case tellerAnswered(Window, Generation, Lease, TellerAnswer)
  /// A teller has made progress.
  case tellerProgressed(Window, Generation, Lease)
  /// A teller has ended, and so has its process.
  case tellerLost(Window, Generation, ProcessEnd)

  /// Take a waiting customer, a delayed one, one who is being served or a dead letter out.
  case cancel(RequestNumber, TicketNumber)
  /// Bring a dead letter back to its line.
  case requeue(RequestNumber, TicketNumber)
  /// Bring all dead letters back.
  case requeueDead(RequestNumber)
  /// Hand out no more customers of a service, or of any.
  case pause(RequestNumber, Service?)
  /// Hand out customers of a service again, or of all.
  case resume(RequestNumber, Service?)
  /// A service shall have so many windows.
  case scale(Service, windows: Int32)
  /// The teller at a window shall go as soon as its hands are free, and a successor come.
  case replace(Window)
  /// Empty the queue and begin a new day.
  case reset(RequestNumber)
  /// Take no new customers, serve those who wait, then report it.
  case drain
  /// Hand out nobody any more, finish those at a window, then report it.
  case finish
  /// Hand out nobody any more, and take those at a window back: their tellers are being killed.
  case vacate
  /// Everything has ended: close the day if it is finished.
  case endDay
  /// Everything that was said has been heard, and nothing but time has passed: leases that have run out are ended.
  case tick
}

extension QueueEvent {
  /// Whether those who are due are called with it. What the queue wanted read comes in the middle of what it wants done, and
  /// a full disk has staged again what was staged, and nothing else: they come with the next event.
  var callsWhoeverIsDue: Bool {
    switch self {
    case .pageLoaded, .delayedLoaded, .found, .deadLoaded, .commitRefused: false
    default: true
    }
  }

  /// The service in which alone somebody can be handed out because of it; nil where it may be another one. What a teller
  /// answers makes room at its own window, and brings nobody to another's.
  var onlyService: Service? {
    if case .tellerAnswered(let window, _, _, _) = self, !window.isOutside { window.service } else { nil }
  }
}

/// A teller's word about a lease.
public enum TellerAnswer: Sendable, Equatable {
  /// The work is done.
  case done
  /// The work is done, and has left something behind.
  case worked(WorkResult)
  /// Too little was in stock: nothing was taken, and the customer's business is at its end.
  case outOfStock([Shortage])
  /// The work could not be done.
  case failed(WorkFailure)
  /// The customer is given back, as was asked.
  case returned
}

extension Service {
  /// What cannot be true of a list of what was missing, for a sentence; nil where it can.
  ///
  /// The list comes from a worker and goes into the books, so everything that the books would refuse is refused here.
  func fault(of missing: [Shortage]) -> String? {
    if movesMoney { return "without stock, which service \(number) does not need" }
    if missing.isEmpty || missing.count > StockLimits.itemsPerOrder {
      return "for want of \(missing.count) items"
    }
    if Set(missing.map(\.item)).count < missing.count { return "for want of one item twice" }
    if let odd = missing.first(where: { !$0.isPossible }) {
      return "for want of \(odd.needed) of which there are \(odd.available)"
    }
    return nil
  }
}

extension Shortage {
  /// Whether the item has a name that an item can have, and there is less of it than is needed.
  fileprivate var isPossible: Bool { item.isValid && 0 <= available && available < needed }
}
