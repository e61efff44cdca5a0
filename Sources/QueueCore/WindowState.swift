// State of one window and its teller, or of one slot of an outside worker.
// Invariant: between two events, `customer` is set if the state is `serving`, under the lease of that state. Only then
// may `prefetched` contain further customers. A teller serves these customers in order, a side-by-side worker serves
// them concurrently.

import BankModel
import Time

struct WindowState: Sendable {
  /// What the teller at the window does now.
  enum State: Sendable, Equatable {
    /// No teller, or its ready message has not arrived.
    case vacant
    /// Ready, without a customer.
    case idle
    /// Serving a customer.
    case serving(Lease)
    /// All customers of the teller were recalled. The teller has not answered these leases yet.
    case recalling([Lease])
    /// The teller is being killed or was dismissed; its messages are ignored.
    case terminating
  }

  let window: Window
  var state: State = .vacant
  /// Generation of the last teller that was ready; 0 before the first one.
  var generation: Generation = 0
  var pid: Int32 = 0
  /// True if the window closes when its teller is idle.
  var isClosing = false
  /// True if the teller is replaced when it is idle.
  var isReplaced = false
  /// True if the teller may return customers that it cannot start, because the queue has notified it that no customer
  /// follows.
  var mayReturn = false

  /// True if customers are served concurrently: each has its own lease and deadline, and answers may come in any order.
  /// A teller serves one customer after the other.
  var isSideBySide = false
  /// Maximum number of customers that this worker accepts. The limit of the service also applies.
  var capacity = Limits.customersPerWorker

  /// The current customer of this window.
  var customer: Customer?
  /// Further customers: prefetched ones of a teller (see ``ServicePolicy/prefetch``), or those that a side-by-side
  /// worker serves beside the current one.
  var prefetched = RingBuffer<PrefetchedCustomer>()
  /// Recalled leases that the worker has not answered yet; without those of the state `recalling`.
  var recalled: [Lease] = []
  /// Moment at which the current customer was assigned.
  var startedAt = Moment(monotonic: MonotonicTime(nanoseconds: 0), wall: WallTime(milliseconds: 0))
  /// End of the current lease, or of the time to return recalled customers; the maximum for none.
  var deadline = MonotonicTime(nanoseconds: .max)
  /// True while the teller is being killed and may still be running; set only for services with
  /// ``ServicePolicy/awaitsProcessExit``.
  var isBeingEnded = false

  /// The last completed lease whose receipt is in the open transaction, and neither in flight nor on disk.
  var unacknowledged: Lease?
  /// Number of customers served at the window since it was opened.
  var served: Int64 = 0

  init(window: Window) { self.window = window }

  /// A customer that the worker holds besides the current one.
  struct PrefetchedCustomer: Sendable {
    var customer: Customer
    /// Moment of the assignment.
    var at: Moment
    /// End of the customer's lease; the maximum time while the lease is not running.
    var deadline = MonotonicTime(nanoseconds: .max)
  }

  /// Number of assigned customers, including the current one.
  var inFlight: Int { isServing ? 1 + prefetched.count : 0 }

  /// Number of customers that the teller may still hold, including recalled customers.
  var held: Int { inFlight + recalled.count }

  /// True if this customer is assigned to this window.
  func holds(_ ticket: TicketNumber) -> Bool {
    isServing && (customer?.ticket == ticket || prefetched.contains { $0.customer.ticket == ticket })
  }

  /// True if the current customer of this side-by-side worker has earlier crashes. It is then served alone, so that the
  /// next crash identifies the culprit.
  var servesSuspect: Bool { isSideBySide && isServing && customer?.isSuspect == true }

  /// Number of customers that a busy worker holds if it may get one more in advance; nil if it may not. The limit is
  /// exclusive.
  ///
  /// - Parameter isCounted: True if attempts are counted. A teller then gets no prefetched customers, because it
  ///   would start them without a message and the starts could not be counted.
  func room(below limit: Int, isCounted: Bool) -> Int? {
    guard isServing, !isClosing, !isReplaced, !isCounted || isSideBySide, !window.isOutside, !servesSuspect
    else { return nil }
    let held = held
    return held < limit && held < capacity ? held : nil
  }

  /// Earliest end of a lease at this window, or of the time to return recalled customers.
  var nextLeaseEnd: MonotonicTime {
    isSideBySide ? prefetched.reduce(deadline) { min($0, $1.deadline) } : deadline
  }

  /// Makes the side-by-side customer of this lease the current one. Does nothing if there is no such customer.
  mutating func bringForward(_ lease: Lease) {
    guard case .serving(let first) = state, first != lease, let customer,
      let index = prefetched.firstIndex(where: { self.lease(of: $0.customer) == lease })
    else { return }
    let wanted = prefetched[index]
    prefetched[index] = PrefetchedCustomer(customer: customer, at: startedAt, deadline: deadline)
    (self.customer, startedAt, deadline, state) = (
      wanted.customer, wanted.at, wanted.deadline, .serving(lease)
    )
  }

  /// Makes a customer the current one, and sets the end of its lease. Returns the lease.
  mutating func startAttempt(_ next: consuming PrefetchedCustomer, until end: MonotonicTime) -> Lease {
    let lease = lease(of: next.customer)
    state = .serving(lease)
    startedAt = next.at
    customer = next.customer
    deadline = end
    return lease
  }

  /// Counts a served customer whose receipt is not on disk yet.
  mutating func countServed(_ lease: Lease) {
    unacknowledged = lease
    served += 1
  }

  /// Worker and start of the current attempt, for its receipt.
  var servingAttempt: ServingAttempt {
    ServingAttempt(window: window, generation: generation, pid: pid, startedAt: startedAt.wall)
  }

  struct ServingAttempt {
    let window: Window
    let generation: Generation
    let pid: Int32
    let startedAt: WallTime
  }

  /// True if the window has a current customer.
  var isServing: Bool { if case .serving = state { true } else { false } }

  /// The lease of a customer at this window.
  func lease(of customer: Customer) -> Lease {
    Lease(ticket: customer.ticket, attempt: customer.attempts + 1, generation: generation)
  }
}

extension Customer {
  /// True if an attempt of the customer since its last requeue counted as a crash.
  var isSuspect: Bool { crashes > 0 }
}
