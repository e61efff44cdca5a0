// Owns what the queue knows of one window and of the teller behind it. It knows no process and no socket.
// Invariant: a customer stands here exactly while the state is `serving`, under the lease that the state names. Only then
// others may have been handed out ahead, who are served in the order in which they came.

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

  /// The customer at this window. Meaningful while serving.
  var customer: Customer?
  /// Customers who were handed out ahead; see ``ServicePolicy/prefetch``.
  var ahead: [HandedOut] = []
  /// Leases that were taken back while the teller goes on with others; its answers about these are still to come.
  var recalled: [Lease] = []
  var startedAt = Moment(monotonic: MonotonicTime(nanoseconds: 0), wall: WallTime(milliseconds: 0))
  var deadline = MonotonicTime(nanoseconds: .max)

  /// The last lease that was reported as done and is not on disk yet.
  var unacknowledged: Lease?
  var served: Int64 = 0

  init(window: Window) { self.window = window }

  /// A customer in a teller's hands whose turn has not come.
  struct HandedOut: Sendable {
    var customer: Customer
    var at: Moment
  }

  /// Customers in the teller's hands, of whom the first is being served.
  var inHand: Int { isServing ? 1 + ahead.count : 0 }

  /// Customers whom the teller may still hold.
  var held: Int { inHand + recalled.count }

  /// Whether this customer is in the teller's hands.
  func holds(_ ticket: TicketNumber) -> Bool {
    isServing && (customer?.ticket == ticket || ahead.contains { $0.customer.ticket == ticket })
  }

  var isServing: Bool { if case .serving = state { true } else { false } }

  /// The lease under which the customer at this window is served.
  func lease(of customer: Customer) -> Lease {
    Lease(ticket: customer.ticket, attempt: customer.attempts + 1, generation: generation)
  }
}
