// Samples of messages about the board and about several tickets at once, with every optional field filled in
// once and left out once.

import BankModel
import Time

@testable import Wire

extension ControlCommand {
  static let boardSamples = [
    Sample(
      "command-tickets-query",
      ControlCommand.tickets(TicketQuery(state: .waiting, service: .loan, after: 200, limit: 10_000))),
    Sample(
      "command-receipts-limit",
      ControlCommand.receipts(
        ReceiptQuery(days: .present, follow: false, after: 17, service: .loan, limit: 200))),
  ]
}

extension ControlAnswer {
  static let boardAnswers = [
    Sample("answer-board-others", ControlAnswer.board(.withOthers)),
    Sample("answer-board-first", ControlAnswer.board(.first)),
  ]
}

extension TicketSelection {
  static let sample = TicketSelection(
    spans: [TicketNumbers(3), TicketNumbers(first: 7, last: 12)], day: 3)
}

extension SelectionReport {
  static let full = SelectionReport(
    done: 2,
    refused: [
      RefusedTicket(ticket: 7, reason: .noSuchTicket),
      RefusedTicket(ticket: 9, reason: .wrongState, state: .done),
    ])
}

extension BoardFrame {
  static let bare = BoardFrame(
    day: 1, state: .closed, coordinator: BoardCoordinator(pid: 0, generation: 0, openedAt: 0), time: 0,
    businessTime: .zero, isBusinessTimeRunning: false, counts: BoardCounts())

  static let full = BoardFrame(
    day: 3, state: .open,
    coordinator: BoardCoordinator(pid: 4_242, generation: 2, openedAt: 1_700_000_000_000),
    time: 1_700_000_005_000, businessTime: .milliseconds(4_410), isBusinessTimeRunning: true,
    counts: BoardCounts(
      issued: 320, waiting: 300, delayed: 1, serving: 2, served: 14, cancelled: 2, dead: 1),
    rates: BoardRates(
      servedSecond: 3_000, servedTenSeconds: 1_400, servedTenMinutes: 23, issuedSecond: 0,
      issuedTenSeconds: 32_000, issuedTenMinutes: 533),
    services: [
      BoardService(
        service: .deposit, paused: true, pauseReason: "exit code 127", windows: 2,
        waiting: [BoardGrade(priority: .vip, count: 100), BoardGrade(priority: .regular, count: 200)],
        waitingTotal: 300, delayed: 1, serving: 1, dead: 1, servedTenMinutes: 17),
      BoardService(service: .loan),
    ],
    waiting: [
      BoardWaiting(ticket: 21, service: .deposit, priority: .regular),
      BoardWaiting(ticket: 22, service: .deposit, priority: .vip),
    ],
    serving: [
      BoardServing(
        ticket: 19, service: .deposit, priority: .vvip, window: "deposit-1", since: 1_700_000_004_500,
        attempt: 2, progress: WorkProgress(percent: 40, text: "반쯤")),
      BoardServing(
        ticket: 20, service: .loan, priority: Priority(7), window: "loan-1", since: 1_700_000_004_600,
        attempt: 1),
    ],
    events: BoardEvent.samples,
    windows: [
      BoardWindow(
        window: "deposit-1", service: .deposit, pid: 4_243, generation: 3, state: .serving, tickets: [19],
        since: 1_700_000_004_500, served: 9, restarts: 2, memoryBytes: 2_969_600,
        lastExit: ExitReport(code: nil, signal: 9)),
      BoardWindow(window: "loan-1", service: .loan, state: .stopped, restarts: 9, isFailed: true),
    ],
    hidden: BoardOmittedRows(services: 1, waiting: 298, serving: 2, windows: 3))

  static let withOthers: BoardFrame = {
    var frame = bare
    frame.services = [
      BoardService(
        service: .loan,
        waiting: [BoardGrade(priority: Priority(0), count: 1), BoardGrade(priority: nil, count: 9)],
        waitingTotal: 10)
    ]
    return frame
  }()

  static let first: BoardFrame = {
    var frame = bare
    frame.services = [BoardService(service: .deposit, served: 14), BoardService(service: .loan, served: 0)]
    frame.history = BoardHistory(since: 1_699_999_998_000, served: [[9, 0, 5], []])
    return frame
  }()
}

extension BoardEvent {
  /// One of each kind.
  static let samples: [BoardEvent] = Kind.allCases.map { kind in
    var event = BoardEvent(sequence: Int64(kind.rawValue), time: 1_700_000_001_000, kind: kind)
    switch kind {
    case .issued: (event.ticket, event.last, event.service) = (1, 10, .deposit)
    case .started, .served, .failed, .deferred, .recalled, .dead:
      (event.ticket, event.service, event.window, event.pid) = (4, .deposit, "deposit-1", 4_243)
      (event.attempt, event.day) = (2, 3)
      if kind == .failed { event.code = 7 }
    case .cancelled: (event.ticket, event.service) = (5, .loan)
    case .died: (event.window, event.pid, event.signal) = ("deposit-1", 4_243, 9)
    case .reset: break
    }
    return event
  }
}
