// Owns the requests for tickets that wait to be taken in: one after the other, the large ones in slices, so that the
// windows are served in between, and the small ones beside them. It yields slices of customers.
// Invariant: of two large requests the second begins only after the last slice of the first, and no request overtakes
// another one of its client, or one whose key it has.

import BankModel
import QueueCore
import Time
import Wire

final class EnqueueIntake {
  enum Source {
    /// With what each of them carries.
    case drawn(SlicedDraw, ([UInt8], PayloadShare)?)
    case list(SlicedList)
  }

  struct Order {
    let request: RequestNumber
    var source: Source
    let key: String?
    /// By what the request is known again under its key.
    var digest: Int64?
    /// When all of it was here, by the calendar.
    let asked: WallTime
    let total: Int64
    /// Whether it is more than is taken in at once.
    let comesInSlices: Bool
    /// Customers taken so far, new or known.
    var taken: Int64 = 0
    var known: Int64 = 0
    var knownTickets = KnownTickets()
    var toldAt: MonotonicTime?

    /// - Parameter source: of a list, all of it.
    init(
      request: RequestNumber, source: Source, key: String?, digest: Int64?, asked: WallTime, total: Int64
    ) {
      (self.request, self.source, self.key, self.digest) = (request, source, key, digest)
      (self.asked, self.total) = (asked, total)
      comesInSlices =
        switch source {
        case .drawn(let draw, _): draw.hasSeveralSlices
        case .list(let sliced): sliced.list.hasSeveralParts
        }
    }

    /// Customers who come before those taken so far, and follow; see `QueueMachine`.
    var heldBack: Int64 {
      switch source {
      case .drawn(let draw, _): draw.heldBack
      case .list(let list): list.heldBack
      }
    }

    /// Where the next slice of this many customers stands.
    ///
    /// - Parameters:
    ///   - left: how many are held back from then on.
    ///   - arriving: where those stand who have come; nil before the first slice.
    ///   - issued: the highest number that is somebody's.
    func placement(
      of count: Int64, heldBack left: Int64, after arriving: ArrivingRequest?, issued: TicketNumber
    ) -> ArrivingRequest.Placement {
      let stand = arriving ?? ArrivingRequest(request, total: total, heldBack: heldBack, issued: issued)
      return stand.placement(of: count, heldBack: left, issued: issued)
    }

    /// The part of a list that has to be looked through before any is taken; nil where there is none.
    var uncounted: Int? { if case .list(let list) = source { list.uncounted } else { nil } }

    /// Forgets which keys were known: some were taken back.
    mutating func lookAnew() {
      guard case .list(var list) = source else { return }
      list.lookAnew()
      source = .list(list)
      known = 0
      knownTickets = KnownTickets()
    }

    /// The keys of a request that is not long.
    var keys: [String] {
      switch source {
      case .drawn: key.map { [$0] } ?? []
      case .list(let sliced): sliced.list.keysOfRest
      }
    }

    /// Whether this one, which is not long, must not overtake another one because of a key.
    func mayShareKey(with other: Order) -> Bool {
      if let key, let known = other.key { return key.utf8.elementsEqual(known.utf8) }
      switch (source, other.source) {
      case (.list(let sliced), .drawn): return other.key.map(sliced.reserves) ?? false
      case (_, .list(let sliced)): return keys.contains(where: sliced.reserves)
      case (.drawn, .drawn): return false
      }
    }
  }

  /// How many of those who wait are looked at, whether they may come in beside the first one.
  private static let sight = 64

  private var waiting: [Order] = []
  private var head = 0
  var current: Order?

  func append(_ order: Order) { waiting.append(order) }

  /// The next request becomes the current one; nil when there is none.
  func advance() -> Order? {
    guard current == nil, head < waiting.count else { return current }
    current = waiting[head]
    dropFirst()
    return current
  }

  /// Takes the next small request out of the line that need not wait for the large ones before it: for the one that is
  /// half taken in, or the first that waits. None that is not first may belong to the client of one before it.
  /// - Parameter client: whose a request is; nil where its client has gone.
  /// - Parameter mayCome: whether one that need not wait for another may come at all.
  func takeBeside(
    room: Int64, client: (RequestNumber) -> ObjectIdentifier?, mayCome: (Order) -> Bool
  ) -> Order? {
    var before = current.map { [$0] } ?? []
    for place in waiting.indices[head...].prefix(Self.sight) {
      let order = waiting[place]
      let mayPass = before.allSatisfy { earlier in
        let (one, other) = (client(order.request), client(earlier.request))
        return (one == nil || one != other) && !order.mayShareKey(with: earlier)
      }
      guard !order.comesInSlices, order.total <= room, mayPass, mayCome(order) else {
        before.append(order)
        continue
      }
      // Those that are passed are few, and those behind may be very many.
      for passed in (head..<place).reversed() { waiting[passed + 1] = waiting[passed] }
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

  var isLarge: Bool { current != nil || head < waiting.count && waiting[head].comesInSlices }
  var isEmpty: Bool { current == nil && head == waiting.count }
  /// Nothing more of this request is taken in.
  func end(_ order: Order) { if current?.request == order.request { current = nil } }

  /// Forgets the request that is half taken in: the queue has refused it. One of which nobody has come is not refused.
  func abandon() { if current?.taken == 0 { current?.lookAnew() } else { current = nil } }

  /// Takes a request out that nobody has begun to take in; false where it is none of those.
  func remove(_ request: RequestNumber) -> Bool {
    guard let place = waiting[head...].firstIndex(where: { $0.request == request }) else { return false }
    waiting.remove(at: place)
    return true
  }

  func abandonAll() -> [RequestNumber] {
    let requests = (current.map { [$0] } ?? []).map(\.request) + waiting[head...].map(\.request)
    current = nil
    waiting.removeAll()
    head = 0
    return requests
  }
}

/// The tickets of those customers of a list whose keys were known: so many of them that memory is bounded, as spans of
/// consecutive numbers. Invariant: every ticket that was added is in a span; there are at most `TicketSpan.limit` spans,
/// and beyond it the last one also holds tickets that were not added.
struct KnownTickets {
  private var spans: [TicketSpan] = []

  mutating func add(_ tickets: IssuedTickets) {
    let new = TicketSpan(day: tickets.day, first: tickets.first, last: tickets.last)
    // Mostly a list is repeated in its order, and the next customer has the next number.
    if let last = spans.last, let joined = last.joined(with: new) { return spans[spans.count - 1] = joined }
    spans.append(new)
    if spans.count > TicketSpan.limit { pack() }
  }

  /// The spans in the order of days and numbers; nil where there is none.
  var report: [TicketSpan]? {
    var packed = self
    packed.pack()
    return packed.spans.isEmpty ? nil : packed.spans
  }

  /// Sorts the spans and joins what belongs together; too many that do not are joined all the same, day by day.
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
      } else if packed.count < TicketSpan.limit / 2 || last.day != span.day {
        packed.append(span)
      } else {
        packed[packed.count - 1].last = max(last.last, span.last)
      }
    }
    // Of so many days the latest count: everybody of a day that is over has a receipt.
    spans = packed.suffix(TicketSpan.limit)
  }
}

extension TicketSpan {
  /// Both spans as one where no number lies between them; nil otherwise.
  fileprivate func joined(with other: TicketSpan) -> TicketSpan? {
    guard day == other.day, other.first <= last + 1, first <= other.last + 1 else { return nil }
    return TicketSpan(day: day, first: min(first, other.first), last: max(last, other.last))
  }
}

extension WallTime {
  /// The moment for which somebody orders; nil for at once.
  ///
  /// - Parameter asked: when all of the request was here.
  init?(dueAt: Int64?, delay: Int64?, asked: WallTime) {
    if let dueAt {
      self.init(milliseconds: dueAt)
    } else if let delay {
      self.init(milliseconds: asked.milliseconds + delay)
    } else {
      return nil
    }
  }
}
