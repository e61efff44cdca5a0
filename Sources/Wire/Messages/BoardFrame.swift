// Owns the picture of a whole bank that screens live on: what `board` answers, at most twenty times a second. It knows no
// socket. Invariant: a frame is bounded whatever the bank holds, and tells how much of each list it has left out; so each
// frame stands for itself, and whoever misses one has missed nothing. Times are milliseconds, since 1970 where they name a
// moment; rates are thousandths of a customer a second. The numbers may run ahead of the disk, as those of a status.

import BankModel
import Time

/// The bank as a screen shows it.
public struct BoardFrame: Codable, Sendable, Equatable {
  /// The present business day.
  public var day: Int64
  /// The branch as a whole.
  public var state: BankState
  /// The process that tells it.
  public var coordinator: BoardCoordinator
  /// When this was so, in milliseconds since 1970.
  public var time: Int64
  private var businessMilliseconds: Int64
  /// Whether somebody waits or is served now, so that the business time goes on by itself from ``time`` on.
  public var businessTimeRuns: Bool
  /// The numbers of the day.
  public var counts: BoardCounts
  /// How fast customers come and are served.
  public var rates: BoardRates
  /// Every service, at most ``servicesAtMost``.
  public var services: [BoardService]
  /// The first in the order of their numbers, over all lines, at most ``waitingAtMost``.
  public var waiting: [BoardWaiting]
  /// Who is at a window, in the order of the windows, at most ``servingAtMost``.
  public var serving: [BoardServing]
  /// What happened last, the oldest first, at most ``eventsAtMost``.
  public var events: [BoardEvent]
  /// Every window and every worker that has come by itself, at most ``windowsAtMost``.
  public var windows: [BoardWindow]
  /// How many are not in the lists.
  public var hidden: BoardHidden
  /// What was served before somebody looked: in the first frame of whoever begins to look, and in no other.
  public var history: BoardHistory?
  /// The branches of a shared bank, this one among them, at most ``branchesAtMost``; nil where the bank has its books in its
  /// home.
  public var branches: [BranchReport]?
  /// The numbers of all branches together, of which ``counts`` are those of this branch alone; nil as ``branches``.
  public var bank: BoardCounts?

  /// How long somebody waited or was served today, to the millisecond.
  public var businessTime: TimeSpan {
    get { .milliseconds(businessMilliseconds) }
    set { businessMilliseconds = newValue.milliseconds }
  }

  /// What ``services`` holds at most.
  public static let servicesAtMost = 256
  /// What ``waiting`` holds at most.
  public static let waitingAtMost = 200
  /// What ``serving`` holds at most.
  public static let servingAtMost = 1_024
  /// What ``events`` holds at most.
  public static let eventsAtMost = 40
  /// What ``windows`` holds at most.
  public static let windowsAtMost = 1_024
  /// What ``branches`` holds at most.
  public static let branchesAtMost = 64

  /// A frame of these parts; what is left out is empty.
  public init(
    day: Int64, state: BankState, coordinator: BoardCoordinator, time: Int64, businessTime: TimeSpan,
    businessTimeRuns: Bool, counts: BoardCounts, rates: BoardRates = BoardRates(),
    services: [BoardService] = [], waiting: [BoardWaiting] = [], serving: [BoardServing] = [],
    events: [BoardEvent] = [], windows: [BoardWindow] = [], hidden: BoardHidden = BoardHidden(),
    history: BoardHistory? = nil, branches: [BranchReport]? = nil, bank: BoardCounts? = nil
  ) {
    (self.day, self.state, self.coordinator, self.time) = (day, state, coordinator, time)
    (businessMilliseconds, self.businessTimeRuns) = (businessTime.milliseconds, businessTimeRuns)
    (self.counts, self.rates, self.services, self.waiting) = (counts, rates, services, waiting)
    (self.serving, self.events, self.windows, self.hidden) = (serving, events, windows, hidden)
    (self.history, self.branches, self.bank) = (history, branches, bank)
  }

  enum CodingKeys: Int, CodingKey {
    case day = 1, state, coordinator, time, businessMilliseconds, businessTimeRuns, counts, rates, services,
      waiting, serving, events, windows, hidden, history, branches, bank
  }
}

/// The coordinator's process.
public struct BoardCoordinator: Codable, Sendable, Equatable {
  /// The process.
  public var pid: Int32
  /// Starts of the coordinator on this home: another one means that it was replaced.
  public var generation: Int64
  /// When it opened, in milliseconds since 1970.
  public var openedAt: Int64

  public init(pid: Int32, generation: Int64, openedAt: Int64) {
    (self.pid, self.generation, self.openedAt) = (pid, generation, openedAt)
  }
  enum CodingKeys: Int, CodingKey { case pid = 1, generation, openedAt }
}

/// The numbers of a day: always `issued = waiting + delayed + serving + served + dead + cancelled`.
public struct BoardCounts: Codable, Sendable, Equatable {
  /// Tickets issued.
  public var issued: Int64
  /// Customers in line, those who wait for a moment, and those at a window.
  public var waiting, delayed, serving: Int64
  /// Customers who were attended to, those whom an operator has taken out, and dead letters.
  public var served, cancelled, dead: Int64

  public init(
    issued: Int64 = 0, waiting: Int64 = 0, delayed: Int64 = 0, serving: Int64 = 0, served: Int64 = 0,
    cancelled: Int64 = 0, dead: Int64 = 0
  ) {
    (self.issued, self.waiting, self.delayed, self.serving) = (issued, waiting, delayed, serving)
    (self.served, self.cancelled, self.dead) = (served, cancelled, dead)
  }
  enum CodingKeys: Int, CodingKey { case issued = 1, waiting, delayed, serving, served, cancelled, dead }
}

/// How fast customers were served and came, in thousandths a second, over the last second, ten seconds and ten minutes, or
/// since the coordinator opened where that is less. All are zero in the last frame of a bank in which nothing happens.
public struct BoardRates: Codable, Sendable, Equatable {
  /// Customers who were attended to.
  public var servedSecond, servedTenSeconds, servedTenMinutes: Int64
  /// Tickets issued.
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
  enum CodingKeys: Int, CodingKey {
    case servedSecond = 1, servedTenSeconds, servedTenMinutes, issuedSecond, issuedTenSeconds,
      issuedTenMinutes
  }
}

/// How many are not in the lists of a frame, because the lists are full.
public struct BoardHidden: Codable, Sendable, Equatable {
  /// Of each list.
  public var services, waiting, serving, windows: Int64

  public init(services: Int64 = 0, waiting: Int64 = 0, serving: Int64 = 0, windows: Int64 = 0) {
    (self.services, self.waiting, self.serving, self.windows) = (services, waiting, serving, windows)
  }
  enum CodingKeys: Int, CodingKey { case services = 1, waiting, serving, windows }
}

/// How many customers were served in parts of six seconds, over the ten minutes before and in the part that runs.
public struct BoardHistory: Codable, Sendable, Equatable {
  /// When the part that runs has begun, in milliseconds since 1970.
  public var since: Int64
  /// Of each service of the frame, in their order, the oldest part first and the one that runs last. What is missing in
  /// front is zero, as is a service that is missing.
  public var served: [[Int64]]

  /// What a part lasts, in milliseconds.
  public static let part: Int64 = 6_000
  /// What ``served`` holds of a service at most: ten minutes, and the part that runs.
  public static let partsAtMost = 101

  public init(since: Int64, served: [[Int64]] = []) { (self.since, self.served) = (since, served) }
  enum CodingKeys: Int, CodingKey { case since = 1, served }
}
