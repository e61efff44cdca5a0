// Waiting line of enqueue requests. Requests are admitted one after the other: large ones in slices, so that customers
// are served in between, and small ones between these slices.
// Invariant: of two large requests the second starts only after the first has ended. No request overtakes an earlier
// request of the same connected client, or an earlier request with the same key.

import BankModel
import QueueCore
import Time
import Wire

final class EnqueueQueue {
  /// Customers of a request: generated ones, or those of a list.
  enum Source {
    /// Generator of the customers, with the payload that each of them carries.
    case drawn(CustomerSliceGenerator, ([UInt8], PayloadReservation)?)
    case list(SlicedList)
  }

  /// Enqueue request in the line, with its progress.
  struct Order {
    let request: RequestNumber
    var source: Source
    let key: String?
    /// Digest that recognizes a repetition of the request under its key.
    var digest: Int64?
    /// Wall-clock time at which the request was complete.
    let requestedAt: WallTime
    let total: Int64
    /// True if the request is larger than one slice.
    let isSliced: Bool
    /// Customers taken so far, new or known.
    var taken: Int64 = 0
    /// Number of customers whose keys were known, so that they are not added.
    var known: Int64 = 0
    /// Tickets of the customers whose keys were known.
    var alreadyIssuedTickets = AlreadyIssuedTickets()
    /// Time of the last progress report; nil before the first.
    var reportedAt: MonotonicTime?

    /// - Parameter source: A list must be complete.
    init(
      request: RequestNumber, source: Source, key: String?, digest: Int64?, requestedAt: WallTime,
      total: Int64
    ) {
      (self.request, self.source, self.key, self.digest) = (request, source, key, digest)
      (self.requestedAt, self.total) = (requestedAt, total)
      isSliced =
        switch source {
        case .drawn(let draw, _): draw.hasSeveralSlices
        case .list(let sliced): sliced.list.hasSeveralParts
        }
    }

    /// Customers that are numbered last although they are first in the request; see `InProgressEnqueue`.
    var heldBack: Int64 {
      switch source {
      case .drawn(let draw, _): draw.heldBack
      case .list(let list): list.heldBack
      }
    }

    /// Ticket numbers for the next slice of `count` customers, while `left` customers stay held back until later.
    ///
    /// - Parameters:
    ///   - left: Number of customers still held back after this slice.
    ///   - arriving: Numbers of the customers admitted so far; nil before the first slice.
    ///   - issued: The highest issued number.
    func placement(
      of count: Int64, heldBack left: Int64, after arriving: InProgressEnqueue?, issued: TicketNumber
    ) -> InProgressEnqueue.TicketPlacement {
      let stand = arriving ?? InProgressEnqueue(request, total: total, heldBack: heldBack, issued: issued)
      return stand.placement(of: count, heldBack: left, issued: issued)
    }

    /// Next part of a list whose keys must be looked up before the first customer is admitted; nil if there
    /// is none.
    var uncounted: Int? { if case .list(let list) = source { list.uncounted } else { nil } }

    /// Discards the results of key look-ups, because a rollback has removed some keys from the store.
    mutating func lookUpAgain() {
      guard case .list(var list) = source else { return }
      list.lookUpAgain()
      source = .list(list)
      known = 0
      alreadyIssuedTickets = AlreadyIssuedTickets()
    }

    /// Keys of a request that fits into one slice.
    var keys: [String] {
      switch source {
      case .drawn: key.map { [$0] } ?? []
      case .list(let sliced): sliced.list.unspooledKeys
      }
    }

    /// True if this small request must not overtake `other`, because both may have the same key.
    func mayShareKey(with other: Order) -> Bool {
      if let key, let known = other.key { return key.utf8.elementsEqual(known.utf8) }
      switch (source, other.source) {
      case (.list(let sliced), .drawn): return other.key.map(sliced.reserves) ?? false
      case (_, .list(let sliced)): return keys.contains(where: sliced.reserves)
      case (.drawn, .drawn): return false
      }
    }
  }

  /// Number of requests at the head of the line that are examined for admission beside a large one.
  private static let lookahead = 64

  /// Requests in order of arrival. Those before index `head` have left the line.
  private var waiting: [Order] = []
  private var head = 0
  /// Request whose customers are being admitted; nil if there is none.
  var current: Order?

  func append(_ order: Order) { waiting.append(order) }

  /// Makes the next request the current one if there is no current one, and returns the current request. Nil if
  /// no request waits.
  func advance() -> Order? {
    guard current == nil, head < waiting.count else { return current }
    current = waiting[head]
    dropFirst()
    return current
  }

  /// Removes and returns the next small request that may overtake all requests before it, including the current one.
  /// No connected client has sent both this request and one of those, and they share no key. Nil if no such request
  /// is near the head of the line.
  /// - Parameter room: Largest number of customers of the request.
  /// - Parameter client: Client of a request; nil if it has disconnected.
  /// - Parameter mayCome: False for a request that must not be admitted now for another reason.
  func dequeueConcurrent(
    room: Int64, client: (RequestNumber) -> ObjectIdentifier?, mayCome: (Order) -> Bool
  ) -> Order? {
    var before = current.map { [$0] } ?? []
    for index in waiting.indices[head...].prefix(Self.lookahead) {
      let order = waiting[index]
      let mayPass = before.allSatisfy { earlier in
        let (one, other) = (client(order.request), client(earlier.request))
        return (one == nil || one != other) && !order.mayShareKey(with: earlier)
      }
      guard !order.isSliced, order.total <= room, mayPass, mayCome(order) else {
        before.append(order)
        continue
      }
      // Shift the skipped requests: they are few, and the requests after this one may be very many.
      for passed in (head..<index).reversed() { waiting[passed + 1] = waiting[passed] }
      dropFirst()
      return order
    }
    return nil
  }

  private func dropFirst() {
    head += 1
    if head > 1_024 || head == waiting.count {
      waiting.removeSubrange(..<head)
      head = 0
    }
  }

  /// True if a request is being admitted, or the first waiting one is larger than a slice.
  var isLarge: Bool { current != nil || head < waiting.count && waiting[head].isSliced }
  var isEmpty: Bool { current == nil && head == waiting.count }
  /// Ends the request if it is the current one: none of its remaining customers is admitted.
  func end(_ order: Order) { if current?.request == order.request { current = nil } }

  /// Drops the current request after the queue has refused it. A request without admitted customers stays the
  /// current one, and its keys are looked up again.
  func abandon() { if current?.taken == 0 { current?.lookUpAgain() } else { current = nil } }

  /// Removes a waiting request that was not started. Returns false if the request is not waiting.
  func remove(_ request: RequestNumber) -> Bool {
    guard let index = waiting[head...].firstIndex(where: { $0.request == request }) else { return false }
    waiting.remove(at: index)
    return true
  }

  /// Empties the line. Returns the numbers of the requests that were in it.
  func abandonAll() -> [RequestNumber] {
    let requests = (current.map { [$0] } ?? []).map(\.request) + waiting[head...].map(\.request)
    current = nil
    waiting.removeAll()
    head = 0
    return requests
  }
}

/// Tickets of the customers of a list whose keys were known, as spans of consecutive numbers in bounded
/// memory.
/// Invariant: there are at most `TicketSpan.limit` spans. Every added ticket is in a span, unless the tickets are of
/// so many days that only the latest days fit. If there are many gaps, a span may also cover tickets that were not
/// added.
struct AlreadyIssuedTickets {
  private var spans: [TicketSpan] = []

  /// Adds tickets with consecutive numbers.
  mutating func add(_ tickets: IssuedTickets) {
    let new = TicketSpan(day: tickets.day, first: tickets.first, last: tickets.last)
    // A repeated list usually has the original order, so the next customer has the next number.
    if let last = spans.last, let joined = last.joined(with: new) { return spans[spans.count - 1] = joined }
    spans.append(new)
    if spans.count > TicketSpan.limit { pack() }
  }

  /// Spans ordered by day and number; nil if there is none.
  var report: [TicketSpan]? {
    var packed = self
    packed.pack()
    return packed.spans.isEmpty ? nil : packed.spans
  }

  /// Sorts the spans and joins adjacent ones. If too many remain, spans of one day are joined across gaps.
  private mutating func pack() {
    spans.sort { ($0.day, $0.first) < ($1.day, $1.first) }
    var packed: [TicketSpan] = []
    for span in spans {
      guard let last = packed.last else {
        packed.append(span)
        continue
      }
      if let joined = last.joined(with: span) {
        packed[packed.count - 1] = joined
      } else if packed.count < TicketSpan.exactLimit || last.day != span.day {
        packed.append(span)
      } else {
        packed[packed.count - 1].last = max(last.last, span.last)
      }
    }
    // Too many days: keep the latest ones.
    spans = packed.suffix(TicketSpan.limit)
  }
}

extension TicketSpan {
  /// Union of both spans; nil if a number lies between them or they are of different days.
  fileprivate func joined(with other: TicketSpan) -> TicketSpan? {
    guard day == other.day, other.first <= last + 1, first <= other.last + 1 else { return nil }
    return TicketSpan(day: day, first: min(first, other.first), last: max(last, other.last))
  }
}

extension WallTime {
  /// Due time of an order; nil if the customer is due at once.
  ///
  /// - Parameter requestedAt: The moment at which the request was complete.
  init?(dueAt: Int64?, delay: Int64?, requestedAt: WallTime) {
    if let dueAt {
      self.init(milliseconds: dueAt)
    } else if let delay {
      self.init(milliseconds: requestedAt.milliseconds + delay)
    } else {
      return nil
    }
  }
}
