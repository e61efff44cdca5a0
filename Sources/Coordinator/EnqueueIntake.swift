// Owns the requests for tickets that wait to be taken in: one after the other, the large ones in slices, so that the
// windows are served in between. It knows no queue: it yields slices of customers.
// Invariant: the next request begins only after the last slice of the one before.

import BankModel
import QueueCore
import Wire

/// Requests for tickets, in the order of their arrival.
final class EnqueueIntake {
  /// Where the customers of a request come from.
  enum Source {
    case drawn(CustomerDraw)
    case list(ListSpool)
  }

  /// One request for tickets.
  struct Order {
    let request: RequestNumber
    var source: Source
    let key: String?
    /// By what the request is known again under its key.
    var digest: Int64?
    let total: Int64
    /// Customers taken so far, new or known.
    var taken: Int64 = 0
    /// Customers who were known already.
    var known: Int64 = 0
    /// Their tickets.
    var knownTickets = KnownTickets()
    /// The first ticket.
    var first: TicketNumber = 0
    /// When its progress was last told.
    var toldAt: MonotonicTime?

    /// Whether it is more than is taken in at once.
    var comesInSlices: Bool {
      switch source {
      case .drawn: total > EnqueueIntake.slice
      case .list(let list): list.hasSeveralParts
      }
    }
  }

  /// Customers in one slice.
  static let slice: Int64 = 2_048

  private var waiting: [Order] = []
  private var head = 0
  /// The request that is being taken in.
  var current: Order?

  /// Takes a request in line.
  func append(_ order: Order) { waiting.append(order) }

  /// The next request becomes the current one; nil when there is none.
  func advance() -> Order? {
    guard current == nil, head < waiting.count else { return current }
    current = waiting[head]
    head += 1
    if head > 1_024 || head == waiting.count {
      waiting.removeSubrange(..<head)
      head = 0
    }
    return current
  }

  /// Whether there is something to take in now.
  var isEmpty: Bool { current == nil && head == waiting.count }

  /// Forgets the request that is half taken in: the queue has refused it.
  func abandon() { current = nil }

  /// Takes a request out that nobody has begun to take in; false where it is none of those.
  func remove(_ request: RequestNumber) -> Bool {
    guard let place = waiting[head...].firstIndex(where: { $0.request == request }) else { return false }
    waiting.remove(at: place)
    return true
  }

  /// Forgets every request, and says which they were.
  func abandonAll() -> [RequestNumber] {
    let requests = (current.map { [$0] } ?? []).map(\.request) + waiting[head...].map(\.request)
    current = nil
    waiting.removeAll()
    head = 0
    return requests
  }
}
