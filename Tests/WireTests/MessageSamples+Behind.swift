// Samples of messages on the control socket about the processes besides the windows: an order of juice and
// its receipt, and a service that does not work.

import BankModel
import Time

@testable import Wire

extension ControlCommand {
  static let juiceSamples = [
    Sample(
      "command-enqueue-article",
      ControlCommand.enqueue(
        EnqueueParameters(
          count: 2, service: .juice, priority: .regular, amount: nil, account: nil, seed: 0, key: nil,
          itemName: "mango-kiwi"))),
    Sample(
      "command-enqueue-payload",
      ControlCommand.enqueue(
        EnqueueParameters(
          count: 3, service: .deposit, priority: .regular, amount: nil, account: nil, seed: 7, key: nil,
          payload: [0, 255, 97]))),
    Sample(
      "command-enqueue-line",
      ControlCommand.enqueue(
        EnqueueParameters(
          count: 1, service: ServiceName("run")!, priority: .regular, amount: nil, account: nil, seed: 7,
          key: nil,
          payload: Array("{}".utf8), isCommandLine: true))),
    Sample(
      "command-stop-undelayed",
      ControlCommand.stop(StopParameters(now: false, timeoutMilliseconds: nil, leavesDelayed: true))),
    Sample(
      "command-stop-behind",
      ControlCommand.stop(StopParameters(now: false, timeoutMilliseconds: nil, noWait: true))),
    Sample(
      "command-enqueueList-payload",
      ControlCommand.enqueueList(
        EnqueueList(
          entries: [
            EnqueueEntry(service: .loan, priority: .regular, amount: 5, account: 6, key: nil, payload: []),
            EnqueueEntry(
              service: .loan, priority: .vip, amount: 5, account: 6, key: "k", drawn: [], payload: [1, 2]),
          ], isLast: true))),
    Sample(
      "command-enqueue-at",
      ControlCommand.enqueue(
        EnqueueParameters(
          count: 3, service: .deposit, priority: .regular, amount: nil, account: nil, seed: 7, key: nil,
          dueAt: 1_795_000_000_000))),
    Sample(
      "command-enqueue-in",
      ControlCommand.enqueue(
        EnqueueParameters(
          count: 3, service: .deposit, priority: .regular, amount: nil, account: nil, seed: 7, key: nil,
          delay: 300_000))),
    Sample(
      "command-enqueueList-later",
      ControlCommand.enqueueList(
        EnqueueList(
          entries: [
            EnqueueEntry(
              service: .loan, priority: .regular, amount: 5, account: 6, key: nil, dueAt: 1_795_000_000_000),
            EnqueueEntry(
              service: .loan, priority: .vip, amount: 5, account: 6, key: "k", drawn: [], delay: 0),
          ], isLast: true))),
    Sample(
      "command-enqueue-early",
      ControlCommand.enqueue(
        EnqueueParameters(
          count: 1, service: .loan, priority: Priority(500), amount: nil, account: nil, seed: 7, key: nil))),
    Sample(
      "command-enqueue-late",
      ControlCommand.enqueue(
        EnqueueParameters(
          count: 1, service: .loan, priority: Priority(.max), amount: nil, account: nil, seed: 7, key: nil))),
  ]
}

extension ControlAnswer {
  static let behindWindows = [
    Sample("answer-ticket-juice", ControlAnswer.ticket(.ofJuice)),
    Sample("answer-ticket-payload", ControlAnswer.ticket(.carrying)),
    Sample("answer-ticket-result", ControlAnswer.ticket(.worked)),
    Sample("answer-ticket-counted", ControlAnswer.ticket(.lost)),
    Sample("answer-tickets-dead", ControlAnswer.tickets([.listedDead])),
    Sample("answer-ticket-progress", ControlAnswer.ticket(.progressed)),
    Sample("answer-status-workers", ControlAnswer.status(.ofWorkers)),
    Sample("answer-status-page", ControlAnswer.status(.ofPage)),
    Sample("answer-status-behind", ControlAnswer.status(.behindWindows)),
    Sample("answer-status-paused", ControlAnswer.status(.paused)),
    Sample("answer-status-delayed", ControlAnswer.status(.delayed)),
    Sample("answer-ended-cancelled", ControlAnswer.ended(AwaitedTicketsReport(dead: 2, cancelled: 3))),
    Sample(
      "answer-progress-drain-delayed",
      ControlAnswer.progress(
        ProgressReport(
          phase: .serving, done: 0, total: 2,
          drain: DrainReport(
            step: .serveWaiting, waiting: 2, serving: 0, delayed: 2, delayedUntil: 1_795_000_000_000)))),
    Sample(
      "answer-progress-drain-bare",
      ControlAnswer.progress(
        ProgressReport(
          phase: .enqueuing, done: 0, total: 0,
          drain: DrainReport(step: .stopAccepting, waiting: 0, serving: 0)))
    ),
  ]
}

extension TicketReport {
  fileprivate static let carrying: TicketReport = {
    var report = TicketReport(
      day: 3, ticket: 42, service: .loan, priority: .regular, amount: 1, account: 12,
      issuedAt: 1_700_000_000_000, state: .dead)
    report.payload = [0, 255, 97]
    return report
  }()

  fileprivate static let progressed: TicketReport = {
    var report = TicketReport(
      day: 3, ticket: 42, service: ServiceName("thumbs")!, priority: .regular, amount: 0, account: 0,
      issuedAt: 1_700_000_000_000, state: .serving, window: "thumbs-outside-1")
    report.progress = WorkProgress(percent: 40, text: "shrinking")
    return report
  }()

  /// An attempt that was lost with its coordinator, of a service that counts attempts.
  fileprivate static let lost: TicketReport = {
    var attempt = AttemptReport(
      window: "", generation: 0, pid: 0, startedAt: 1_700_000_000_100, endedAt: 1_700_000_000_100, end: .lost,
      signal: nil, code: nil)
    attempt.isFatal = true
    var report = TicketReport(
      day: 3, ticket: 42, service: ServiceName("pay")!, priority: .regular, amount: 0, account: 0,
      issuedAt: 1_700_000_000_000, state: .dead, attempts: [attempt])
    report.counted = 1
    return report
  }()

  /// A dead letter in a list: the end of its last attempt, and the number of attempts.
  fileprivate static let listedDead: TicketReport = {
    var attempt = AttemptReport(
      window: "thumbs-1", generation: 1, pid: 4_243, startedAt: 1_700_000_000_100,
      endedAt: 1_700_000_000_200, end: .failed, signal: nil, code: 65)
    (attempt.isFatal, attempt.words) = (true, "cannot read the picture")
    var report = TicketReport(
      day: 3, ticket: 42, service: ServiceName("thumbs")!, priority: .regular, amount: 0, account: 0,
      issuedAt: 1_700_000_000_000, state: .dead, attempts: [attempt])
    report.tried = 3
    return report
  }()

  fileprivate static let worked: TicketReport = {
    var receipt = Receipt.full
    receipt.result = .sample
    var report = TicketReport(
      day: 3, ticket: 42, service: .loan, priority: .regular, amount: 1, account: 12,
      issuedAt: 1_700_000_000_000, state: .done,
      receipt: ReceiptReport(receipt, ServiceDirectory(), key: "b00000000000000ff-3-42-loyw3v28"))
    var attempt = AttemptReport(
      window: "thumbs-1", generation: 1, pid: 4_243, startedAt: 1_700_000_000_100,
      endedAt: 1_700_000_000_200, end: .deferred, signal: nil, code: 75)
    attempt.words = "no room: 자리가 없습니다"
    report.attempts = [attempt]
    return report
  }()

  fileprivate static let ofJuice: TicketReport = {
    var receipt = Receipt.full
    (receipt.service, receipt.outcome, receipt.postingRule) = (.juice, .outOfStock, nil)
    (receipt.window, receipt.amount) = (Window(service: .juice, place: 1), 0)
    receipt.itemName = "strawberry-banana"
    receipt.shortages = [Shortage(item: ItemID("strawberry"), needed: 10, available: 0)]
    return TicketReport(
      day: 3, ticket: 42, service: .juice, priority: .vvip, amount: 0, account: 12,
      issuedAt: 1_700_000_000_000,
      state: .done, receipt: ReceiptReport(receipt, ServiceDirectory()), itemName: "strawberry-banana")
  }()
}

extension StatusReport {
  fileprivate static let ofWorkers: StatusReport = {
    var report = bare
    report.workers = [WorkerRole.worker, .outside].map { role in
      var worker = WorkerReport(
        name: role == .worker ? "thumbs-1" : "thumbs-outside-1", role: role, service: ServiceName("thumbs")!,
        window: role == .worker ? 1 : nil, pid: 4_250, generation: 1, state: .serving, ticket: 42,
        restarts: 0,
        served: 7, residentKilobytes: 9_000)
      worker.progress = WorkProgress(percent: 40)
      return worker
    }
    return report
  }()

  fileprivate static let ofPage: StatusReport = {
    var report = bare
    report.workers = [
      WorkerReport(
        name: "web", role: .web, service: nil, window: nil, pid: 4_250, generation: 1, state: .idle,
        ticket: nil, restarts: 0, served: 0, residentKilobytes: 9_000)
    ]
    return report
  }()

  fileprivate static let paused: StatusReport = {
    var report = bare
    report.services = [
      ServiceReport(
        service: ServiceName("thumbs")!, windows: 1, waiting: 3, serving: 0, served: 0, paused: true,
        pauseReason: "no program \"convert\" in PATH=\"/usr/bin:/bin\"")
    ]
    return report
  }()

  fileprivate static let delayed: StatusReport = {
    var report = bare
    report.queue.delayedUntil = 1_795_000_000_000
    return report
  }()

  fileprivate static let behindWindows: StatusReport = {
    var report = bare
    report.workers = [
      WorkerReport(
        name: "stock", role: .stock, service: nil, window: nil, pid: 0, generation: 2, state: .backoff,
        ticket: nil, restarts: 1, served: 0, residentKilobytes: 0, trouble: "the file is damaged",
        failure: Failure(.damaged, subject: "/srv/bank/stock.db", detail: "the file is damaged"),
        mismatch: .olderDatabase)
    ]
    return report
  }()
}

extension AuditReport {
  static let withRemarks: AuditReport = {
    var report = AuditReport(
      issued: 1, served: 1, cancelled: 0, waiting: 0, delayed: 0, dead: 0, lost: 1, duplicated: 0,
      ledgerDifference: 0, problems: [])
    report.add(MessageDetail(.ticketLost, 7, 3))
    report.add(MessageDetail(.itemQuantityDiffers, "kiwi", 3, 4).of(.stock))
    report.note(MessageDetail(.ordersOfOtherBank, 2))
    return report
  }()
}

extension TicketReport {
  static let givenUp: TicketReport = {
    var report = full
    report.attempts[0].isFatal = true
    return report
  }()

  static let toldOfService: TicketReport = {
    var report = full
    report.servedOfService = 300
    return report
  }()
}
