// Views of the dashboard that need polling: the events of one customer, and the dead letters.
// Invariant: a view has at most one request in flight, and repeats it after changes and a pause.
import Time
import Wire

/// Decides when the request for a view of the dashboard is sent again, after the bank may have changed.
struct RefreshSchedule: Sendable, Equatable {
  private var isAsked = false
  private var isStale = true
  private var earliest: MonotonicTime?

  private static let pause = TimeSpan.milliseconds(500)

  /// Time of the next request; nil while one is in flight, or if nothing has changed since.
  var due: MonotonicTime? { isStale && !isAsked ? earliest ?? MonotonicTime(nanoseconds: 0) : nil }
  /// Marks the view as outdated, because the bank may have changed.
  mutating func noteChange() { isStale = true }
  /// Records that the request was answered.
  mutating func noteAnswer() { isAsked = false }
  /// Marks the view as outdated after a lost connection, because a request on that connection is not answered.
  mutating func forget() { (isAsked, isStale) = (false, true) }

  /// Returns true if the request is due, and records it as sent.
  mutating func ask(at now: MonotonicTime) -> Bool {
    guard let due, due <= now else { return false }
    (isAsked, isStale, earliest) = (true, false, now + Self.pause)
    return true
  }
}

/// The events of one customer, as the dashboard shows them.
struct TicketTimelineView: Sendable, Equatable {
  let ticket, day: Int64
  /// Nil before the first answer.
  var report: TicketReport? { didSet { refresh.noteAnswer() } }
  private var refresh = RefreshSchedule()

  init(ticket: Int64, day: Int64) { (self.ticket, self.day) = (ticket, day) }

  var due: MonotonicTime? { refresh.due }
  /// Marks the events as outdated after a lost connection.
  mutating func forget() { refresh.forget() }
  /// Marks the events as outdated, unless the customer has a receipt, after which nothing changes.
  mutating func noteChange() { if report?.receipt == nil { refresh.noteChange() } }

  /// Returns the request for the customer if it is due, and records it as sent.
  mutating func question(at now: MonotonicTime) -> ControlCommand? {
    refresh.ask(at: now) ? .ticket(number: ticket, day: day) : nil
  }
}

/// The first dead letters, as the dashboard shows them.
struct DeadLetterList: Sendable, Equatable {
  /// The first dead letters, by ticket number.
  private(set) var shown: [TicketReport] = []
  /// Received parts of an answer whose last part has not arrived.
  private var incoming: [TicketReport] = []
  private var refresh = RefreshSchedule()

  static let atMost: Int64 = 500

  var due: MonotonicTime? { refresh.due }
  /// Marks the list as outdated, because the bank may have changed.
  mutating func noteChange() { refresh.noteChange() }

  /// Drops a partial answer and marks the list as outdated after a lost connection.
  mutating func forget() {
    incoming = []
    refresh.forget()
  }

  /// Returns the request for the list if it is due, and records it as sent.
  mutating func question(at now: MonotonicTime) -> ControlCommand? {
    refresh.ask(at: now) ? .tickets(TicketQuery(state: .dead, limit: Self.atMost)) : nil
  }

  /// Adds a part of the answer; shows the list after the last part.
  mutating func handle(_ page: [TicketReport], more: Bool) {
    incoming += page.prefix(max(0, Int(Self.atMost) - incoming.count))
    guard !more else { return }
    (shown, incoming) = (incoming, [])
    refresh.noteAnswer()
  }
}
