// A branch as frames of the board show it, for the tests of the dashboard: two windows for deposits, one for
// loans, one juice station. Each test names its differences from it.
import BankModel
import Time
import Wire

@testable import BankctlCommands

enum TopFixture {
  static let begin = MonotonicTime(nanoseconds: 1_000_000_000_000)
  /// 2026-11-22T03:15:43.500Z
  static let wall: Int64 = 1_795_317_343_500

  static func later(_ milliseconds: Int64) -> MonotonicTime { begin + .milliseconds(milliseconds) }

  static let windows = [
    BoardWindow(
      window: "deposit-1", service: .deposit, pid: 4961, generation: 1, state: .serving, tickets: [1],
      since: wall - 1_400, served: 12, restarts: 0, memoryBytes: 7_800 * 1_024),
    BoardWindow(
      window: "deposit-2", service: .deposit, pid: 4962, generation: 3, state: .serving, tickets: [2, 5, 6],
      since: wall - 90, served: 1_250, restarts: 2, memoryBytes: 8_100 * 1_024),
    BoardWindow(
      window: "loan-1", service: .loan, pid: 4963, generation: 1, state: .idle, served: 3,
      memoryBytes: 8_000 * 1_024),
    BoardWindow(window: "juice-1", service: .juice, generation: 2, state: .backoff, restarts: 1),
  ]

  static let services = [
    BoardService(
      service: .deposit, windows: 2,
      waiting: [BoardGrade(priority: .vvip, count: 1), BoardGrade(priority: .regular, count: 4)],
      waitingTotal: 5,
      serving: 3, servedTenMinutes: 1_500),
    BoardService(service: .loan, paused: true, windows: 1, delayed: 1),
    BoardService(
      service: .juice, paused: true, pauseReason: "no blender", windows: 1,
      waiting: [BoardGrade(priority: nil, count: 2)], waitingTotal: 2, dead: 1),
  ]

  static let waiting = [
    BoardWaiting(ticket: 7, service: .deposit, priority: .vvip),
    BoardWaiting(ticket: 8, service: .juice, priority: .regular),
  ]

  static let events = [
    BoardEvent(sequence: 1, time: wall - 2_000, kind: .issued, ticket: 1, last: 10),
    BoardEvent(
      sequence: 2, time: wall - 1_400, kind: .started, ticket: 1, service: .deposit, window: "deposit-1",
      pid: 4961, attempt: 1),
    BoardEvent(
      sequence: 3, time: wall - 700, kind: .died, ticket: 2, service: .deposit, window: "deposit-2",
      pid: 4951,
      signal: 9),
  ]

  static func frame(served: Int64 = 1_265, after milliseconds: Int64 = 0) -> BoardFrame {
    BoardFrame(
      day: 3, state: .open, coordinator: BoardCoordinator(pid: 4958, generation: 2, openedAt: wall - 60_000),
      time: wall + milliseconds, businessTime: .milliseconds(62_781 + milliseconds),
      isBusinessTimeRunning: true,
      counts: BoardCounts(issued: 1_276, waiting: 7, delayed: 1, serving: 3, served: served, dead: 1),
      rates: BoardRates(servedSecond: 12_400, servedTenSeconds: 9_900, servedTenMinutes: 1_500),
      services: services, waiting: waiting,
      serving: [
        BoardServing(
          ticket: 1, service: .deposit, priority: .regular, window: "deposit-1", since: wall - 1_400,
          attempt: 1,
          progress: WorkProgress(percent: 40))
      ], events: events, windows: windows)
  }

  /// A dead letter with this reason.
  static func letter(_ ticket: Int64, _ messages: String) -> TicketReport {
    var attempt = AttemptReport(
      window: "juice-1", generation: 1, pid: 4_964, startedAt: wall, endedAt: wall + 5, end: .failed,
      signal: nil,
      code: 65)
    attempt.words = messages
    return TicketReport(
      day: 3, ticket: ticket, service: .juice, priority: .regular, amount: 0, account: 0, issuedAt: wall,
      state: .dead,
      attempts: [attempt])
  }

  static func model(
    _ language: Language = .english, isChaos: Bool = true, _ frame: BoardFrame? = frame()
  ) -> TopModel {
    var model = TopModel(MessageCatalog(language: language), isChaos: isChaos, home: "/bank")
    model.notice.isConnected = true
    if let frame { model.handle(frame, at: begin) }
    return model
  }
}

extension TopModel {
  func selected(at now: MonotonicTime) -> TopRow? { selected(in: lists(at: now)) }

  /// Presses keys one after the other; returns the request of the last one.
  @discardableResult
  mutating func press(_ keys: String, at now: MonotonicTime = TopFixture.begin) -> UserCommand? {
    var userCommand: UserCommand?
    for key in keys {
      userCommand = press(key == "\r" ? .enter : key == "\u{1B}" ? .escape : .character(key), at: now)
    }
    return userCommand
  }
}
