// Snapshot of a whole bank for screens: the answer to `board`. Times are milliseconds, since 1970 for points in time;
// rates are thousandths of a customer per second. A frame may count changes that are not on disk yet.
// Invariant: the size of a frame is bounded for any size of the bank. A frame is complete, except for the history,
// which the first frame of a subscription contains, so a client may skip later frames.

import BankModel
import Time

/// Snapshot of the bank for a screen.
public struct BoardFrame: Codable, Sendable, Equatable {
  /// Current business day.
  public var day: Int64
  /// State of the whole bank.
  public var state: BankState
  /// The coordinator that made the frame.
  public var coordinator: BoardCoordinator
  /// Time of the snapshot, in milliseconds since 1970.
  public var time: Int64
  private var businessMilliseconds: Int64
  /// True if a customer waits, is delayed or is served, so that the business time continues to run after ``time``.
  public var isBusinessTimeRunning: Bool
  /// Counters of the day.
  public var counts: BoardCounts
  /// Rates of issued tickets and of served customers.
  public var rates: BoardRates
  /// The services, at most ``servicesAtMost``.
  public var services: [BoardService]
  /// The first waiting customers by ticket number, over all lines, at most ``waitingAtMost``.
  public var waiting: [BoardWaiting]
  /// Customers at windows, in the order of the windows, at most ``servingAtMost``.
  public var serving: [BoardServing]
  /// The latest events, the oldest first, at most ``eventsAtMost``.
  public var events: [BoardEvent]
  /// Windows and outside workers, at most ``windowsAtMost``.
  public var windows: [BoardWindow]
  /// Numbers of rows omitted from some of the lists.
  public var hidden: BoardOmittedRows
  /// Served customers before the subscription; nil in later frames of a subscription.
  public var history: BoardHistory?
  /// The branches of a shared bank, including this one, at most ``branchesAtMost``; nil for a bank with a
  /// database in its home.
  public var branches: [BranchReport]?
  /// Counters of all branches together, whereas ``counts`` are those of this branch alone. Customers at the
  /// windows of other branches are counted as waiting. Nil if ``branches`` is nil.
  public var bank: BoardCounts?

  /// Business time of the day, to the millisecond.
  public var businessTime: TimeSpan {
    get { .milliseconds(businessMilliseconds) }
    set { businessMilliseconds = newValue.milliseconds }
  }

  /// Limit of ``services``.
  public static let servicesAtMost = 256
  /// Limit of ``waiting``.
  public static let waitingAtMost = 200
  /// Limit of ``serving``.
  public static let servingAtMost = 1_024
  /// Limit of ``events``.
  public static let eventsAtMost = 40
  /// Limit of ``windows``.
  public static let windowsAtMost = 1_024
  /// Limit of ``branches``.
  public static let branchesAtMost = 64

  /// A frame of these parts; omitted lists are empty.
  public init(
    day: Int64, state: BankState, coordinator: BoardCoordinator, time: Int64, businessTime: TimeSpan,
    isBusinessTimeRunning: Bool, counts: BoardCounts, rates: BoardRates = BoardRates(),
    services: [BoardService] = [], waiting: [BoardWaiting] = [], serving: [BoardServing] = [],
    events: [BoardEvent] = [], windows: [BoardWindow] = [], hidden: BoardOmittedRows = BoardOmittedRows(),
    history: BoardHistory? = nil, branches: [BranchReport]? = nil, bank: BoardCounts? = nil
  ) {
    (self.day, self.state, self.coordinator, self.time) = (day, state, coordinator, time)
    (businessMilliseconds, self.isBusinessTimeRunning) = (businessTime.milliseconds, isBusinessTimeRunning)
    (self.counts, self.rates, self.services, self.waiting) = (counts, rates, services, waiting)
    (self.serving, self.events, self.windows, self.hidden) = (serving, events, windows, hidden)
    (self.history, self.branches, self.bank) = (history, branches, bank)
  }

  /// Field number of each property of a snapshot for a screen, in messages.
  enum CodingKeys: Int, CodingKey {
    case day = 1, state, coordinator, time, businessMilliseconds, isBusinessTimeRunning, counts, rates,
      services,
      waiting, serving, events, windows, hidden, history, branches, bank
  }
}

/// The coordinator's process, and the time at which it opened the bank.
public struct BoardCoordinator: Codable, Sendable, Equatable {
  /// Process id.
  public var pid: Int32
  /// Number of starts of the coordinator on this home.
  public var generation: Int64
  /// Time of opening, in milliseconds since 1970.
  public var openedAt: Int64

  public init(pid: Int32, generation: Int64, openedAt: Int64) {
    (self.pid, self.generation, self.openedAt) = (pid, generation, openedAt)
  }
  /// Field number of each property of the coordinator in a snapshot, in messages.
  enum CodingKeys: Int, CodingKey { case pid = 1, generation, openedAt }
}

/// Counters of a business day: the issued tickets, and the customers in each state.
/// Invariant: `issued = waiting + delayed + serving + served + dead + cancelled`.
public struct BoardCounts: Codable, Sendable, Equatable {
  /// Issued tickets.
  public var issued: Int64
  /// Customers in line, delayed ones, and those at a window.
  public var waiting, delayed, serving: Int64
  /// Finished customers (served, or turned away because of a shortage), customers cancelled by an
  /// operator, and dead letters.
  public var served, cancelled, dead: Int64

  public init(
    issued: Int64 = 0, waiting: Int64 = 0, delayed: Int64 = 0, serving: Int64 = 0, served: Int64 = 0,
    cancelled: Int64 = 0, dead: Int64 = 0
  ) {
    (self.issued, self.waiting, self.delayed, self.serving) = (issued, waiting, delayed, serving)
    (self.served, self.cancelled, self.dead) = (served, cancelled, dead)
  }
  /// Field number of each property of a day's counters in a snapshot, in messages.
  enum CodingKeys: Int, CodingKey { case issued = 1, waiting, delayed, serving, served, cancelled, dead }
}

/// Rates in thousandths of a customer per second, over the last second, ten seconds and ten minutes, or since the
/// coordinator opened if that time is shorter.
public struct BoardRates: Codable, Sendable, Equatable {
  /// Finished customers, without cancelled ones.
  public var servedSecond, servedTenSeconds, servedTenMinutes: Int64
  /// Issued tickets.
  public var issuedSecond, issuedTenSeconds, issuedTenMinutes: Int64

  public init(
    servedSecond: Int64 = 0, servedTenSeconds: Int64 = 0, servedTenMinutes: Int64 = 0,
    issuedSecond: Int64 = 0,
    issuedTenSeconds: Int64 = 0, issuedTenMinutes: Int64 = 0
  ) {
    (self.servedSecond, self.servedTenSeconds) = (servedSecond, servedTenSeconds)
    (self.servedTenMinutes, self.issuedSecond) = (servedTenMinutes, issuedSecond)
    (self.issuedTenSeconds, self.issuedTenMinutes) = (issuedTenSeconds, issuedTenMinutes)
  }
  /// Field number of each property of the rates in a snapshot, in messages.
  enum CodingKeys: Int, CodingKey {
    case servedSecond = 1, servedTenSeconds, servedTenMinutes, issuedSecond, issuedTenSeconds,
      issuedTenMinutes
  }
}

/// Numbers of rows that a frame omits, because a list has its maximum length or a row is not known yet.
public struct BoardOmittedRows: Codable, Sendable, Equatable {
  /// Omitted rows of these lists.
  public var services, waiting, serving, windows: Int64

  public init(services: Int64 = 0, waiting: Int64 = 0, serving: Int64 = 0, windows: Int64 = 0) {
    (self.services, self.waiting, self.serving, self.windows) = (services, waiting, serving, windows)
  }
  /// Field number of each property of the numbers of omitted rows in a snapshot, in messages.
  enum CodingKeys: Int, CodingKey { case services = 1, waiting, serving, windows }
}

/// Served customers per interval, over the last ten minutes and the current interval.
public struct BoardHistory: Codable, Sendable, Equatable {
  /// Start of the current interval, in milliseconds since 1970.
  public var since: Int64
  /// One list for each service, in the order of the frame's services: the count of the oldest interval first,
  /// that of the current interval last. Intervals missing at the start of a list, and missing services, are
  /// zero.
  public var served: [[Int64]]

  /// Length of an interval in milliseconds.
  public static let part: Int64 = 6_000
  /// Maximum number of intervals of a service in ``served``: ten minutes, and the current interval.
  public static let intervalsAtMost = 101

  public init(since: Int64, served: [[Int64]] = []) { (self.since, self.served) = (since, served) }
  /// Field number of each property of the served customers per interval in a snapshot, in messages.
  enum CodingKeys: Int, CodingKey { case since = 1, served }
}
