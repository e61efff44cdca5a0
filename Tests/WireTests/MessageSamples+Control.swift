// Samples of every command and every answer on the control socket, with every optional field filled in once
// and left out once.

import BankModel
import Time

@testable import Wire

extension ControlCommand {
  enum Case: String, CaseIterable {
    case status, watch, awaitOpen, enqueue, enqueueList, tickets, ticket, receipts, follow, awaitIdle,
      awaitTickets
    case pause, resume, scale, cancel, requeue, requeueDead, reset, reload, stop, audit, ledger, account
    case withdraw, board, killWorker = "endTeller", cancelAll, requeueAll, web, branches, move
  }

  var itsCase: Case {
    switch self {
    case .status: .status
    case .watch: .watch
    case .awaitOpen: .awaitOpen
    case .enqueue: .enqueue
    case .enqueueList: .enqueueList
    case .tickets: .tickets
    case .ticket: .ticket
    case .receipts: .receipts
    case .follow: .follow
    case .awaitIdle: .awaitIdle
    case .awaitTickets: .awaitTickets
    case .pause: .pause
    case .resume: .resume
    case .scale: .scale
    case .cancel: .cancel
    case .requeue: .requeue
    case .requeueDead: .requeueDead
    case .reset: .reset
    case .reload: .reload
    case .stop: .stop
    case .audit: .audit
    case .ledger: .ledger
    case .account: .account
    case .withdraw: .withdraw
    case .board: .board
    case .killWorker: .killWorker
    case .cancelAll: .cancelAll
    case .requeueAll: .requeueAll
    case .web: .web
    case .branches: .branches
    case .move: .move
    }
  }

  /// The command with all of its fields.
  static func full(_ which: Case) -> ControlCommand {
    switch which {
    case .status: .status
    case .watch: .watch
    case .awaitOpen: .awaitOpen
    case .enqueue:
      .enqueue(
        EnqueueParameters(
          count: 10_000_000, service: .loan, priority: .vip, amount: 50_000, account: 12, seed: .max,
          key: "열쇠-1"
        ))
    case .enqueueList:
      .enqueueList(
        EnqueueList(
          entries: [
            EnqueueEntry(service: .deposit, priority: .regular, amount: 1, account: 0, key: "k1"),
            EnqueueEntry(service: .loan, priority: .vvip, amount: 1_000_000_000_000, account: 5, key: nil),
          ], isLast: true))
    case .tickets: .tickets(TicketQuery(state: .delayed))
    case .ticket: .ticket(number: 42, day: 3)
    case .receipts: .receipts(ReceiptQuery(days: .day(3), follow: true, after: 17))
    case .follow: .follow
    case .awaitIdle: .awaitIdle
    case .awaitTickets: .awaitTickets(day: 3, first: 1, last: 1_000_000_000_000)
    case .pause: .pause(.loan)
    case .resume: .resume(.deposit)
    case .scale:
      .scale([ServiceWindows(service: .deposit, count: 256), ServiceWindows(service: .loan, count: 0)])
    case .cancel: .cancel(42)
    case .requeue: .requeue(42)
    case .requeueDead: .requeueDead
    case .reset: .reset(day: nil)
    case .withdraw: .withdraw(4_294_967_295)
    case .reload: .reload
    case .stop: .stop(StopParameters(now: true, timeoutMilliseconds: 1_500))
    case .audit: .audit
    case .ledger: .ledger
    case .account: .account(12)
    case .board: .board
    case .killWorker: .killWorker(window: "loan-1", generation: 2, pid: 4_245)
    case .cancelAll: .cancelAll(.sample)
    case .requeueAll: .requeueAll(.sample)
    case .web:
      .web(WebServerSettings(port: 8_701, isReadOnly: true, hasChaos: true, host: "bank.example.org"))
    case .branches: .branches
    case .move: .move(MoveParameters(address: "postgres://bank@db/bank", branch: "seoul"))
    }
  }

  /// The command without its optional fields; nil if it has none.
  static func bare(_ which: Case) -> ControlCommand? {
    switch which {
    case .enqueue:
      .enqueue(
        EnqueueParameters(
          count: 1, service: nil, priority: .regular, amount: nil, account: nil, seed: 0, key: nil)
      )
    case .enqueueList: .enqueueList(EnqueueList(entries: [], isLast: false))
    case .tickets: .tickets(TicketQuery())
    case .ticket: .ticket(number: 42, day: nil)
    case .receipts: .receipts(ReceiptQuery(days: .present, follow: false))
    case .pause: .pause(nil)
    case .resume: .resume(nil)
    case .scale: .scale([])
    case .stop: .stop(StopParameters(now: false, timeoutMilliseconds: nil))
    case .cancelAll: .cancelAll(TicketSelection(spans: []))
    case .requeueAll: .requeueAll(TicketSelection(spans: [TicketNumbers(7)]))
    case .web: .web(nil)
    case .move: .move(MoveParameters(address: "postgres://bank@db/bank"))
    case .board, .killWorker: nil
    case .status, .watch, .awaitOpen, .follow, .awaitIdle, .awaitTickets, .cancel, .requeue, .requeueDead,
      .reset,
      .reload, .withdraw, .audit, .ledger, .account, .branches:
      nil
    }
  }

  static let samples =
    Case.allCases.flatMap { which in
      [Sample("command-\(which.rawValue)", full(which))]
        + (bare(which).map { [Sample("command-\(which.rawValue)-bare", $0)] } ?? [])
    } + [
      Sample("command-receipts-all", .receipts(ReceiptQuery(days: .all, follow: false, after: 0))),
      Sample("command-cancel-day", .cancel(42, day: 3)),
      Sample("command-web-plain", .web(WebServerSettings())),
      Sample("command-requeue-day", .requeue(42, day: 3)),
      Sample(
        "command-enqueue-seed",
        .enqueue(
          EnqueueParameters(
            count: 1, service: nil, priority: .regular, amount: nil, account: nil, seed: 5, key: "k",
            hasExplicitSeed: true))),
      Sample(
        "command-enqueueList-drawn",
        .enqueueList(
          EnqueueList(
            entries: [
              EnqueueEntry(
                service: .deposit, priority: .vip, amount: 5, account: 6, key: "k",
                drawn: [.service, .account])
            ], isLast: true))),
      Sample("command-reset-day", .reset(day: 3)),
      Sample("command-stop-step", .stop(StopParameters(now: false, timeoutMilliseconds: 1_500, step: .kill))),
    ] + juiceSamples + boardSamples + sharedSamples
}

extension ControlAnswer {
  enum Case: String, CaseIterable {
    case failure, status, enqueued, tickets, ticket, receipts, event, ended, requeued, progress, stopped,
      audit, ledger, account, board, selection, branches, moved
  }

  var itsCase: Case {
    switch self {
    case .failure: .failure
    case .status: .status
    case .enqueued: .enqueued
    case .tickets: .tickets
    case .ticket: .ticket
    case .receipts: .receipts
    case .event: .event
    case .ended: .ended
    case .requeued: .requeued
    case .progress: .progress
    case .stopped: .stopped
    case .audit: .audit
    case .ledger: .ledger
    case .account: .account
    case .board: .board
    case .selection: .selection
    case .branches: .branches
    case .moved: .moved
    }
  }

  /// The answer with all of its fields.
  static func full(_ which: Case) -> ControlAnswer {
    switch which {
    case .failure: .failure(Failure(.wrongState, subject: "42 serving", detail: "at window deposit-1"))
    case .status: .status(.full)
    case .enqueued: .enqueued(EnqueuedReport(day: 3, first: 11, last: 20, count: 10, known: 2))
    case .tickets: .tickets([.full, .bare])
    case .ticket: .ticket(.full)
    case .receipts:
      .receipts([ReceiptReport(.full, ServiceDirectory()), ReceiptReport(.bare, ServiceDirectory())])
    case .event:
      .event(
        AttemptEvent(
          phase: .completed, at: 1_700_000_000_123, day: 3, ticket: 42, service: .loan, priority: .vip,
          window: "loan-1", attempt: 2))
    case .ended: .ended(AwaitedTicketsReport(dead: 2))
    case .requeued: .requeued(600)
    case .progress: .progress(ProgressReport(phase: .serving, done: 7, total: 10))
    case .stopped:
      .stopped(
        StoppedReport(
          day: 3, served: 10, businessMilliseconds: 4_410, waiting: 5, dead: 1, isDayClosed: false))
    case .audit:
      .audit(
        AuditReport(
          issued: 20, served: 10, cancelled: 2, waiting: 4, delayed: 1, dead: 1, lost: 1, duplicated: 1,
          ledgerDifference: -5_000, problems: ["ticket 3 stands nowhere", "원장이 맞지 않습니다"]))
    case .ledger:
      .ledger([
        LedgerRow(account: "cash", debit: 50_000, credit: 0, transfers: 1),
        LedgerRow(account: "customers", debit: 0, credit: 50_000, transfers: 1),
      ])
    case .account:
      .account(
        AccountReport(
          row: LedgerRow(account: "customer-12", debit: 0, credit: 50_000, transfers: 1),
          latest: [ReceiptReport(.full, ServiceDirectory())]))
    case .board: .board(.full)
    case .selection: .selection(.full)
    case .branches: .branches([.full, .bare, .lost])
    case .moved:
      .moved(
        MoveReport(
          place: "postgres://bank@db:5432/bank", day: 3,
          rows: [MovedRows(name: "receipts", before: 10, after: 10)],
          ledger: [LedgerRow(account: "cash", debit: 50_000, credit: 0, transfers: 1)], isRepeated: true,
          note: "/bank/here/moved"))
    }
  }

  /// The answer without its optional fields; nil if it has none.
  static func bare(_ which: Case) -> ControlAnswer? {
    switch which {
    case .failure: .failure(Failure(.draining))
    case .status: .status(.bare)
    case .enqueued: .enqueued(EnqueuedReport(day: 3, first: 0, last: 0, count: 0))
    case .tickets: .tickets([])
    case .ticket: .ticket(.bare)
    case .receipts: .receipts([])
    case .audit:
      .audit(
        AuditReport(
          issued: 0, served: 0, cancelled: 0, waiting: 0, delayed: 0, dead: 0, lost: 0, duplicated: 0,
          ledgerDifference: 0, problems: []))
    case .ledger: .ledger([])
    case .account:
      .account(
        AccountReport(row: LedgerRow(account: "customer-0", debit: 0, credit: 0, transfers: 0), latest: []))
    case .board: .board(.bare)
    case .selection: .selection(SelectionReport(done: 0))
    case .branches: .branches([])
    case .moved:
      .moved(
        MoveReport(
          place: "postgres:///bank", day: 1, rows: [], ledger: [], isRepeated: false, note: "/h/moved"))
    case .event, .ended, .requeued, .progress, .stopped: nil
    }
  }

  static let samples =
    Case.allCases.flatMap { which in
      [Sample("answer-\(which.rawValue)", full(which))]
        + (bare(which).map { [Sample("answer-\(which.rawValue)-bare", $0)] } ?? [])
    } + [
      Sample(
        "answer-enqueued-known",
        .enqueued(
          EnqueuedReport(
            day: 3, first: 0, last: 0, count: 0, known: 4,
            alreadyIssuedTickets: [
              TicketSpan(day: 2, first: 5, last: 7), TicketSpan(day: 3, first: 1, last: 1),
            ]))),
      Sample("answer-status-failed", .status(.failed)),
      Sample("answer-status-trouble", .status(.inTrouble)),
      Sample("answer-status-reset", .status(.afterReset)),
      Sample("answer-failure-withdrawn", .failure(Failure(.withdrawn))),
      Sample(
        "answer-failure-remark",
        .failure(Failure(.noSuchDay, subject: "9", messageDetail: MessageDetail(.presentDay, 3)))),
      Sample("answer-ticket-fatal", .ticket(.givenUp)),
      Sample("answer-ticket-served", .ticket(.toldOfService)),
      Sample("answer-audit-remarks", .audit(.withRemarks)),
      Sample("answer-progress-reset", .progress(ProgressReport(phase: .resetting, done: 7, total: 10))),
      Sample("answer-progress-requeue", .progress(ProgressReport(phase: .requeueing, done: 7, total: 0))),
      Sample(
        "answer-ledger-wide",
        .ledger([
          LedgerRow(account: "cash", debit: 10_000_000_000_000_000_000, credit: 0, transfers: 10_000_000),
          LedgerRow(
            account: "customers", debit: 1, credit: 10_000_000_000_000_000_000, transfers: 10_000_000),
        ])),
      Sample(
        "answer-audit-houses",
        .audit(
          AuditReport(
            issued: 1, served: 1, cancelled: 0, waiting: 0, delayed: 0, dead: 0, lost: 0, duplicated: 0,
            ledgerDifference: 0, problems: [], stockDifference: -2, moneyDifference: 500))),
      Sample(
        "answer-progress-drain",
        .progress(
          ProgressReport(
            phase: .finishing, done: 1, total: 3,
            drain: DrainReport(step: .finishServing, waiting: 4, serving: 2, leftMilliseconds: 900)))),
      Sample(
        "answer-stopped-steps",
        .stopped(
          StoppedReport(
            day: 3, served: 10, businessMilliseconds: 4_410, waiting: 5, dead: 1, isDayClosed: false,
            finished: 4, killed: 2,
            steps: [
              DrainStepReport(step: .stopAccepting, milliseconds: 0),
              DrainStepReport(step: .kill, milliseconds: 12),
            ]))),
      Sample(
        "answer-stopped-sent-away",
        .stopped(
          StoppedReport(
            day: 3, served: 10, businessMilliseconds: 4_410, waiting: 0, dead: 0, isDayClosed: true,
            finished: 4, killed: 0, steps: [], sentAway: 2))),
    ] + behindWindows + boardAnswers + sharedAnswers
}

extension StatusReport {
  static let full = StatusReport(
    state: .open, day: 3, pid: 4_242, generation: 2, since: 1_700_000_000_000, businessMilliseconds: 4_410,
    queue: QueueReport(
      issued: 20, waiting: 4, delayed: 1, serving: 2, served: 10, dead: 1, cancelled: 2,
      oldestWaitMilliseconds: 1_234),
    services: [
      ServiceReport(service: .deposit, windows: 2, waiting: 3, serving: 1, served: 7, paused: false),
      ServiceReport(service: .loan, windows: 1, waiting: 1, serving: 1, served: 3, paused: true),
    ],
    workers: [
      WorkerReport(
        name: "deposit-1", role: .teller, service: .deposit, window: 1, pid: 4_243, generation: 3,
        state: .serving,
        ticket: 42, restarts: 2, served: 7, residentKilobytes: 2_900),
      WorkerReport(
        name: "loan-1", role: .teller, service: .loan, window: 1, pid: 0, generation: 0, state: .backoff,
        ticket: nil, restarts: 9, served: 0, residentKilobytes: 0),
    ])

  static let failed: StatusReport = {
    var report = full
    report.guardianPid = 4_240
    report.workers[0].lastExit = ExitReport(code: nil, signal: 9)
    report.workers[1].state = .stopped
    report.workers[1].isFailed = true
    report.workers[1].lastExit = ExitReport(code: 7, signal: nil, trouble: "no such file")
    return report
  }()

  static let inTrouble: StatusReport = {
    var report = full
    report.workers[1].trouble = "SIGKILL"
    report.workers[1].troubleDetail = MessageDetail(.processSignal, "SIGKILL")
    return report
  }()

  static let afterReset: StatusReport = {
    var report = bare
    report.cancelledByReset = 2_000_000
    return report
  }()

  static let bare = StatusReport(
    state: .closed, day: 1, pid: 0, generation: 0, since: 0, businessMilliseconds: 0,
    queue: QueueReport(
      issued: 0, waiting: 0, delayed: 0, serving: 0, served: 0, dead: 0, cancelled: 0,
      oldestWaitMilliseconds: 0),
    services: [], workers: [])
}

extension TicketReport {
  static let full = TicketReport(
    day: 3, ticket: 42, service: .loan, priority: .vvip, amount: 50_000, account: 12,
    issuedAt: 1_700_000_000_000,
    state: .done, position: 5, etaMilliseconds: 2_200, dueAt: 1_700_000_009_000, window: "loan-1",
    attempts: [
      AttemptReport(
        window: "loan-1", generation: 1, pid: 4_243, startedAt: 1_700_000_000_100, endedAt: 1_700_000_000_200,
        end: .killed, signal: 9, code: nil),
      AttemptReport(
        window: "loan-2", generation: 1, pid: 4_244, startedAt: 1_700_000_000_300, endedAt: 1_700_000_000_400,
        end: .killed, signal: nil, code: 1),
      AttemptReport(
        window: "loan-1", generation: 2, pid: 4_245, startedAt: 1_700_000_000_500, endedAt: nil, end: nil,
        signal: nil, code: nil),
    ],
    receipt: ReceiptReport(.full, ServiceDirectory()))

  static let bare = TicketReport(
    day: 3, ticket: 43, service: .deposit, priority: .regular, amount: 1, account: 0, issuedAt: 0,
    state: .waiting)
}

extension Receipt {
  static let full = Receipt(
    sequence: 99, day: 3, ticket: 42, service: .loan, priority: .vvip, outcome: .served,
    window: Window(service: .loan, place: 1), generation: 2, pid: 4_245, attempts: 3, amount: 50_000,
    account: 12,
    issuedAt: WallTime(milliseconds: 1_700_000_000_000), startedAt: WallTime(milliseconds: 1_700_000_000_500),
    finishedAt: WallTime(milliseconds: 1_700_000_001_600))

  static let bare = Receipt(
    sequence: 100, day: 3, ticket: 43, service: .deposit, priority: .regular, outcome: .cancelled,
    window: nil,
    generation: 0, pid: 0, attempts: 0, amount: 1, account: 0, issuedAt: WallTime(milliseconds: 0),
    startedAt: nil,
    finishedAt: WallTime(milliseconds: 1))
}
