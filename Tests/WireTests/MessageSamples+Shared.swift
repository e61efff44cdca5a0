// Samples of messages about a bank whose database several branches share, with every optional field filled in
// once and left out once.

import BankModel
import Time

@testable import Wire

extension ControlCommand {
  static let sharedSamples = [
    Sample(
      "command-stop-bank",
      ControlCommand.stop(StopParameters(now: false, timeoutMilliseconds: nil, closesWholeBank: true))),
    Sample("command-receipts-behind", ControlCommand.receipts(.resumed)),
  ]
}

extension ControlAnswer {
  static let sharedAnswers = [
    Sample("answer-status-shared", ControlAnswer.status(.shared)),
    Sample("answer-ticket-branch", ControlAnswer.ticket(.elsewhere)),
    Sample("answer-receipts-branch", ControlAnswer.receipts([.elsewhere])),
    Sample("answer-receipts-followed", ControlAnswer.receipts([.followed])),
    Sample("answer-board-shared", ControlAnswer.board(.shared)),
    Sample("answer-stopped-shared", ControlAnswer.stopped(.shared)),
    Sample(
      "answer-failure-shared", ControlAnswer.failure(Failure(.unsupportedWithSharedStore, subject: "juice"))),
  ]
}

extension BranchReport {
  static let full = BranchReport(
    number: 1, name: "seoul", host: "db-1.example.org", epoch: 3, state: .open, leaseMilliseconds: 3_100,
    windows: 4, served: 120, rate: 12_500, commits: 77, isThis: true, juices: 2)

  static let bare = BranchReport(
    number: 2, name: "부산", host: "", epoch: 1, state: .closed, leaseMilliseconds: 0, windows: 0, served: 0,
    commits: 0)

  static let lost: BranchReport = {
    var branch = bare
    (branch.number, branch.name, branch.state, branch.rate) = (3, "jeju", .expired, 0)
    return branch
  }()
}

extension StoppedReport {
  static let shared: StoppedReport = {
    var report = StoppedReport(
      day: 3, served: 10, businessMilliseconds: 4_410, waiting: 2, dead: 0, isDayClosed: false)
    report.branches = [.full]
    report.branch = 2
    return report
  }()
}

extension StatusReport {
  static let shared: StatusReport = {
    var report = full
    report.branch = .full
    report.bank = SharedBankReport(
      queue: QueueReport(
        issued: 400, waiting: 100, delayed: 1, serving: 9, served: 280, dead: 4, cancelled: 6,
        oldestWaitMilliseconds: 5_000),
      services: [
        ServiceReport(service: .deposit, windows: 6, waiting: 60, serving: 6, served: 200, paused: false)
      ])
    return report
  }()
}

extension TicketReport {
  static let elsewhere: TicketReport = {
    var report = full
    report.attempts[0].branch = 2
    report.receipt?.branch = 1
    return report
  }()
}

extension ReceiptReport {
  static let elsewhere: ReceiptReport = {
    var report = ReceiptReport(.full, ServiceDirectory())
    report.branch = 2
    return report
  }()

  static let followed = ReceiptReport(
    .full, ServiceDirectory(), mark: ReceiptPosition(branch: 2, epoch: 3, commit: 77, ticket: 42))
}

extension ReceiptQuery {
  static let resumed: ReceiptQuery = {
    var query = ReceiptQuery(days: .present, follow: true)
    query.advance(past: .followed)
    return query
  }()
}

extension BoardFrame {
  static let shared: BoardFrame = {
    var frame = bare
    frame.branches = [.full, .bare]
    frame.bank = BoardCounts(
      issued: 400, waiting: 100, delayed: 1, serving: 9, served: 280, cancelled: 6, dead: 4)
    return frame
  }()
}
