// Checks of the snapshots that clients subscribe to: each one by itself, against earlier ones, and against the disk. A
// snapshot is checked when it is written, which may be long after it was made if its reader is slow. It must contain
// the last commit only if it was made after that commit.
// Invariant: a valid snapshot lists a customer at most once, counts every customer that it does not list, and has its
// waiting tickets and its events in order.
import BankModel
import Time
import Wire

struct BoardChecker {
  /// One subscription: the connection of a client, and the number of its request.
  private struct View: Hashable {
    var connection: Int
    var request: UInt32
  }

  /// Time of the first snapshot of each subscription, and the number of later ones.
  private var views: [View: (first: MonotonicTime, pictures: Int64)] = [:]
  /// Generation of the coordinator that sent the snapshots. `seenEvents` contains the events in them, by their number.
  private var generation: Int64 = 0
  private var seenEvents: [Int64: BoardEvent] = [:]

  /// Checks a snapshot that is written. Returns a description of the fault, or nil if there is none.
  ///
  /// - Parameter wall: the coordinator's calendar.
  mutating func objection(
    to frame: BoardFrame, _ connection: Int, _ request: UInt32, by checker: InvariantChecker,
    at now: MonotonicTime,
    _ wall: WallTime
  ) -> String? {
    if generation != frame.coordinator.generation {
      (generation, seenEvents) = (frame.coordinator.generation, [:])
    }
    let view = View(connection: connection, request: request)
    // The first snapshot of a subscription may be an older one that is sent with the current time, and the calendar may
    // be set back. In both cases the snapshot is not compared with the disk.
    let isFresh =
      views[view] != nil && frame.time > checker.committedAt.milliseconds && frame.time <= wall.milliseconds
    // The last snapshot, which reports the closed bank, is sent without the minimum interval.
    return Self.objection(to: frame) ?? (frame.state == .closed ? nil : pace(of: view, at: now))
      ?? objection(to: frame.events)
      ?? Self.unknown(in: frame, to: checker)
      ?? (isFresh ? Self.objection(to: frame, onDisk: checker) : nil)
  }

  /// Returns a fault, or nil: a subscription may get one snapshot in each interval after the first, and a few more,
  /// because a snapshot may be written long after it was made, and the next one soon after it.
  private mutating func pace(of view: View, at now: MonotonicTime) -> String? {
    guard let (first, pictures) = views[view] else {
      views[view] = (now, 0)
      return nil
    }
    views[view] = (first, pictures + 1)
    guard now.since(first) < TimeSpan.milliseconds(50) * (pictures - 1) else { return nil }
    return "\(pictures + 2) snapshots arrived within \(now.since(first).milliseconds) ms"
  }

  // MARK: - One snapshot

  /// Compares the counts and the lists of one snapshot with each other. Returns the contradiction, or nil.
  private static func objection(to frame: BoardFrame) -> String? {
    let counts = frame.counts
    let sum =
      counts.waiting + counts.delayed + counts.serving + counts.served + counts.cancelled + counts.dead
    if counts.issued != sum {
      return "\(counts.issued) tickets were issued, but \(sum) are listed:  \(counts)"
    }
    let (waiting, serving) = (frame.waiting.map(\.ticket), frame.serving.map(\.ticket))
    if zip(waiting, waiting.dropFirst()).contains(where: { $0 >= $1 }) {
      return "the waiting customers are not in ticket order: \(waiting)"
    }
    let named = waiting + serving
    if Set(named).count != named.count {
      return "a customer is listed twice: waiting \(waiting), served \(serving)"
    }
    if let ticket = named.first(where: { $0 < 1 || $0 > counts.issued }) {
      return "ticket \(ticket) is listed, but \(counts.issued) were issued"
    }
    if Int64(waiting.count) + frame.hidden.waiting != max(counts.waiting, Int64(waiting.count))
      || Int64(serving.count) + frame.hidden.serving != counts.serving
    {
      return
        "\(waiting.count) and \(serving.count) are listed, \(frame.hidden) are not, but the counts are \(counts)"
    }
    let hands = frame.windows.flatMap(\.tickets)
    if Set(hands).count != hands.count { return "two windows hold the same customer: \(hands)" }
    return objection(to: frame.services, counts)
  }

  /// Compares the counts of the services with the counts of the bank. Returns the contradiction, or nil.
  private static func objection(to services: [BoardService], _ counts: BoardCounts) -> String? {
    for service in services where service.waiting.reduce(0, { $0 + $1.count }) != service.waitingTotal {
      return "\(service.waitingTotal) wait for \(service.service), but by grade \(service.waiting)"
    }
    let sums = (
      waiting: services.reduce(0) { $0 + $1.waitingTotal }, delayed: services.reduce(0) { $0 + $1.delayed },
      serving: services.reduce(0) { $0 + $1.serving }
    )
    guard sums != (counts.waiting, counts.delayed, counts.serving) else { return nil }
    return "the services add up to \(sums), but the counts are \(counts)"
  }

  // MARK: - Comparison with the disk

  /// Checks that every listed customer is on disk. Returns a text with those that are not, or nil.
  private static func unknown(in frame: BoardFrame, to checker: InvariantChecker) -> String? {
    let named = frame.waiting.map(\.ticket) + frame.serving.map(\.ticket)
    let unknown = named.filter { checker.onDisk[TicketID(day: frame.day, ticket: $0)] == nil }
    return unknown.isEmpty ? nil : "tickets \(unknown) of day \(frame.day) are listed but not on disk"
  }

  /// Checks that every customer on disk without a receipt is listed or counted as unlisted, and none with a receipt is
  /// listed. Returns the fault, or nil.
  private static func objection(to frame: BoardFrame, onDisk checker: InvariantChecker) -> String? {
    guard let dayCounters = checker.diskCounters, dayCounters.day == frame.day else { return nil }
    let counts = frame.counts
    if counts.issued < dayCounters.issued {
      return "\(counts.issued) tickets were issued, but on disk are \(dayCounters.issued)"
    }
    let listed = Set(frame.waiting.map(\.ticket) + frame.serving.map(\.ticket))
    /// The outcome in the stored receipt of a ticket; nil if it has none.
    func outcome(_ ticket: Int64) -> Outcome? { checker.outcomes[TicketID(day: frame.day, ticket: ticket)] }
    if let ticket = listed.first(where: { outcome($0) != nil }) {
      return "ticket \(ticket) is listed but has its receipt"
    }
    guard dayCounters.issued > 0 else { return nil }
    let unlisted = (1...dayCounters.issued).filter { outcome($0) == nil && !listed.contains($0) }
    let ended = dayCounters.issued - Int64((1...dayCounters.issued).count { outcome($0) == nil })
    // A served or cancelled customer is counted before the receipt is on disk. Customers that are
    // only in the store are not listed while the store cannot be queried.
    let isWhole =
      frame.waiting.count < BoardFrame.waitingAtMost && !checker.isLowOnSpace && checker.world.isStable
    let left = isWhole ? 0 : frame.hidden.waiting
    let beside =
      left + frame.hidden.serving + counts.delayed + counts.dead
      + max(0, counts.served + counts.cancelled - ended)
    guard Int64(unlisted.count) > beside else { return nil }
    return "tickets \(unlisted) have no receipt, but \(beside) are counted outside the lists: \(counts)"
  }

  // MARK: - Events

  /// Checks that events have no gaps, contradict no earlier snapshot, and finish no customer twice. Returns the fault,
  /// or nil.
  private mutating func objection(to events: [BoardEvent]) -> String? {
    let numbers = events.map(\.sequence)
    if zip(numbers, numbers.dropFirst()).contains(where: { $0 + 1 != $1 }) {
      return "events \(numbers) have gaps"
    }
    for event in events {
      if let before = seenEvents[event.sequence], before.kind != event.kind || before.ticket != event.ticket {
        return "event \(event.sequence) was \(before.kind) and is now \(event.kind)"
      }
      seenEvents[event.sequence] = event
    }
    let ofDay = eventsOfDay(until: events.last?.sequence ?? 0)
    let ended = ofDay.filter { $0.kind == .served || $0.kind == .cancelled }.compactMap(\.ticket)
    if Set(ended).count != ended.count { return "a customer is finished twice: \(ended)" }
    let issued = ofDay.filter { $0.kind == .issued }.compactMap { event in
      event.ticket.map { (first: $0, last: event.last ?? $0) }
    }
    guard zip(issued, issued.dropFirst()).contains(where: { $0.last >= $1.first }) else { return nil }
    return "tickets were issued out of order: \(issued)"
  }

  /// Returns the seen events of one day: from this event number back to the latest reset or the nearest missing number.
  /// Ticket numbers restart with each day.
  private func eventsOfDay(until last: Int64) -> [BoardEvent] {
    var events: [BoardEvent] = []
    while let event = seenEvents[last - Int64(events.count)], event.kind != .reset { events.append(event) }
    return events.reversed()
  }
}
