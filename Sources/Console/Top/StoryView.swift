// Owns what the dashboard asks again and again while it shows it: one customer's story, and the dead letters.
// Invariant: each is asked for once at a time and not more often than twice a second, and only where something has happened.
import Time
import Wire

/// When something is to be asked again.
struct Refresh: Sendable, Equatable {
  private var isAsked = false
  private var isStale = true
  private var earliest: MonotonicTime?

  private static let pause = TimeSpan.milliseconds(500)

  /// When to ask; nil for not before the next news.
  var due: MonotonicTime? { isStale && !isAsked ? earliest ?? MonotonicTime(nanoseconds: 0) : nil }
  mutating func noteChange() { isStale = true }
  mutating func noteAnswer() { isAsked = false }
  /// What was asked may never be answered.
  mutating func forget() { (isAsked, isStale) = (false, true) }

  /// Whether to ask now; the answer is then waited for.
  mutating func ask(at now: MonotonicTime) -> Bool {
    guard let due, due <= now else { return false }
    (isAsked, isStale, earliest) = (true, false, now + Self.pause)
    return true
  }
}

struct StoryView: Sendable, Equatable {
  let ticket, day: Int64
  /// Nil before it has come.
  var report: TicketReport? { didSet { refresh.noteAnswer() } }
  private var refresh = Refresh()

  init(ticket: Int64, day: Int64) { (self.ticket, self.day) = (ticket, day) }

  var due: MonotonicTime? { refresh.due }
  mutating func forget() { refresh.forget() }
  /// Behind a receipt nothing follows.
  mutating func noteChange() { if report?.receipt == nil { refresh.noteChange() } }

  mutating func question(at now: MonotonicTime) -> ControlCommand? {
    refresh.ask(at: now) ? .ticket(number: ticket, day: day) : nil
  }
}

struct DeadLetterList: Sendable, Equatable {
  /// The first, in the order of their numbers.
  private(set) var shown: [TicketReport] = []
  private var incoming: [TicketReport] = []
  private var refresh = Refresh()

  static let atMost: Int64 = 500

  var due: MonotonicTime? { refresh.due }
  mutating func noteChange() { refresh.noteChange() }

  mutating func forget() {
    incoming = []
    refresh.forget()
  }

  mutating func question(at now: MonotonicTime) -> ControlCommand? {
    refresh.ask(at: now) ? .tickets(TicketQuery(state: .dead, limit: Self.atMost)) : nil
  }

  mutating func hear(_ page: [TicketReport], more: Bool) {
    incoming += page.prefix(max(0, Int(Self.atMost) - incoming.count))
    guard !more else { return }
    (shown, incoming) = (incoming, [])
    refresh.noteAnswer()
  }
}
