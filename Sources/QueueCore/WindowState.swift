// Owns what the queue knows of one window and of the teller behind it, or of the place of a worker that has come by itself.
// It knows no process and no socket.
// Invariant: a customer stands here exactly while the state is `serving`, under the lease that the state names. Only then
// others may have been handed out ahead: a teller serves them in the order in which they came, a worker side by side.

import BankModel
import Time

struct WindowState: Sendable {
  enum State: Sendable, Equatable {
    /// There is no teller, or it has not said that it is ready.
    case vacant
    /// Ready, with free hands.
    case idle
    /// Serving a customer.
    case serving(Lease)
    /// Everyone in hand was taken back; the teller's answers about these are still to come.
    case recalling([Lease])
    /// The teller is being ended or was told to go, and whatever it says is not heard.
    case doomed
  }

  let window: Window
  var state: State = .vacant
  var generation: Generation = 0
  var pid: Int32 = 0
  /// The window is to be closed as soon as the teller's hands are free.
  var isClosing = false
  /// The teller is to be replaced as soon as its hands are free.
  var isReplaced = false
  /// The teller was told that nobody comes after those in its hands, and may give back whom it cannot begin to serve.
  var mayReturn = false

  /// Whether those in hand are worked at side by side: each has a lease that has begun, and they are answered for in any
  /// order. A teller serves them in their turn.
  var isSideBySide = false
  /// Customers who may be in hand at once, beside what the service's rules say.
  var capacity = Limits.customersInHand

  /// The customer at this window. Meaningful while serving.
  var customer: Customer?
  /// Customers who were handed out ahead; see ``ServicePolicy/prefetch``.
  var ahead = RingBuffer<HandedOut>()
  /// Leases that were taken back while the teller goes on with others; its answers about these are still to come.
  var recalled: [Lease] = []
  var startedAt = Moment(monotonic: MonotonicTime(nanoseconds: 0), wall: WallTime(milliseconds: 0))
  var deadline = MonotonicTime(nanoseconds: .max)
  /// Whether whoever is here is being ended, and may be at work until it is gone.
  var isBeingEnded = false

  /// The last lease that was reported as done and is not on disk yet.
  var unacknowledged: Lease?
  var served: Int64 = 0

  init(window: Window) { self.window = window }

  /// A customer in a teller's hands whose turn has not come.
  struct HandedOut: Sendable {
    var customer: Customer
    var at: Moment
    /// When its lease runs out that has begun; never, where its turn has not come.
    var deadline = MonotonicTime(nanoseconds: .max)
  }

  /// Customers in the teller's hands, of whom the first is being served.
  var inHand: Int { isServing ? 1 + ahead.count : 0 }

  /// Customers whom the teller may still hold.
  var held: Int { inHand + recalled.count }

  /// Whether this customer is in the teller's hands.
  func holds(_ ticket: TicketNumber) -> Bool {
    isServing && (customer?.ticket == ticket || ahead.contains { $0.customer.ticket == ticket })
  }

  /// Whether whoever is here has been in somebody's hands who died, and is served alone: who is to blame shows then.
  var servesASuspect: Bool { isSideBySide && isServing && customer?.isSuspect == true }

  /// How many are held where one more may come; nil where nobody may, and where no fewer are held than so many.
  ///
  /// - Parameter isCounted: Whether attempts are counted. Of those whose turn comes by itself nobody knows who has begun, and so
  ///   a teller has one in hand.
  func room(below limit: Int, isCounted: Bool) -> Int? {
    guard isServing, !isClosing, !isReplaced, !isCounted || isSideBySide, !window.isOutside, !servesASuspect
    else { return nil }
    let held = held
    return held < limit && held < capacity ? held : nil
  }

  /// When the first lease in hand runs out.
  var nextLeaseEnd: MonotonicTime {
    isSideBySide ? ahead.reduce(deadline) { min($0, $1.deadline) } : deadline
  }

  /// Of customers who are worked at side by side the one of this lease is looked at as the first; nothing where it is not
  /// there.
  mutating func bringForward(_ lease: Lease) {
    guard case .serving(let first) = state, first != lease, let customer,
      let index = ahead.firstIndex(where: { self.lease(of: $0.customer) == lease })
    else { return }
    let wanted = ahead[index]
    ahead[index] = HandedOut(customer: customer, at: startedAt, deadline: deadline)
    (self.customer, startedAt, deadline, state) = (
      wanted.customer, wanted.at, wanted.deadline, .serving(lease)
    )
  }

  /// It is the turn of a customer in hand, whose lease begins.
  mutating func begin(_ next: consuming HandedOut, until end: MonotonicTime) -> Lease {
    let lease = lease(of: next.customer)
    state = .serving(lease)
    startedAt = next.at
    customer = next.customer
    deadline = end
    return lease
  }

  /// Somebody who was served leaves, and nothing is on disk yet.
  mutating func noteServed(_ lease: Lease) {
    unacknowledged = lease
    served += 1
  }

  /// Who has the customer here, and since when, for a receipt.
  var desk: Desk { Desk(window: window, generation: generation, pid: pid, startedAt: startedAt.wall) }

  struct Desk {
    let window: Window
    let generation: Generation
    let pid: Int32
    let startedAt: WallTime
  }

  var isServing: Bool { if case .serving = state { true } else { false } }

  /// The lease under which the customer at this window is served.
  func lease(of customer: Customer) -> Lease {
    Lease(ticket: customer.ticket, attempt: customer.attempts + 1, generation: generation)
  }
}

extension Customer {
  /// Whether the customer was in the hands of somebody who died.
  var isSuspect: Bool { crashes > 0 }
}
