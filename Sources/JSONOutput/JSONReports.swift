// JSON of the reports that the commands print.
// Invariant: fields are added and never changed, because scripts depend on them. Times are RFC 3339 in UTC with
// milliseconds. A missing value is null, or its field is absent.
import BankModel
import ByteText
import Posix
import Wire

extension JSONValue {
  /// Milliseconds since 1970 as a time, or null.
  package static func instant(_ milliseconds: Int64?) -> JSONValue {
    milliseconds.map { .string(Timestamp.utc(milliseconds: $0)) } ?? .null
  }

  /// JSON of `status` and of commands with the same answer.
  ///
  /// With a shared database, `queue` and `services` are those of the whole bank, and `branch` contains those of this
  /// branch.
  package static func status(_ report: StatusReport) -> JSONValue {
    let shape: JSONValue = [
      "version": 1,
      "bank": [
        "state": .string(report.state.name), "day": .init(report.day), "pid": .init(report.pid),
        "generation": .init(report.generation), "since": .instant(report.since),
        "business_ms": .init(report.businessMilliseconds), "guardian_pid": .init(report.guardianPid),
      ], "queue": queue(report.wholeQueue), "services": .array(report.wholeServices.map(service)),
      "workers": .array(report.workers.map(worker)),
    ]
    guard let branch = report.branch else { return shape }
    let own: JSONValue = [
      "queue": queue(report.queue), "services": .array(report.services.map(service)),
    ]
    return shape.adding(["branch": JSONValue.branch(branch).adding(own)])
  }

  private static func queue(_ queue: QueueReport) -> JSONValue {
    let shape: JSONValue = [
      "issued": .init(queue.issued), "waiting": .init(queue.waiting), "delayed": .init(queue.delayed),
      "serving": .init(queue.serving), "served": .init(queue.served), "dead": .init(queue.dead),
      "cancelled": .init(queue.cancelled), "oldest_wait_ms": .init(queue.oldestWaitMilliseconds),
    ]
    return queue.delayedUntil.map { shape.adding(["delayed_until": .instant($0)]) } ?? shape
  }

  private static func service(_ service: ServiceReport) -> JSONValue {
    let shape: JSONValue = [
      "name": .string(service.service.text), "windows": .init(service.windows),
      "waiting": .init(service.waiting), "serving": .init(service.serving), "served": .init(service.served),
      "paused": .bool(service.paused),
    ]
    return service.pauseReason.map { shape.adding(["pause_reason": .string($0)]) } ?? shape
  }

  /// One window, outside worker or service process.
  private static func worker(_ worker: WorkerReport) -> JSONValue {
    var shape: JSONValue = [
      "name": .string(worker.name), "role": .string(worker.role.name), "service": .init(worker.service?.text),
      "window": .init(worker.window), "pid": .init(worker.pid), "generation": .init(worker.generation),
      "state": .string(worker.isFailed == true ? "failed" : worker.state.name),
      "ticket": .init(worker.ticket), "restarts": .init(worker.restarts), "served": .init(worker.served),
      "rss_kb": .init(worker.residentKilobytes), "last_exit": worker.lastExit.map(exit) ?? .null,
    ]
    if let progress = worker.progress { shape = shape.adding(["progress": self.progress(progress)]) }
    if let mismatch = worker.mismatch { shape = shape.adding(["mismatch": .string(mismatch.name)]) }
    return worker.failure.map { shape.adding(["error": error($0)]) } ?? shape
  }

  /// The failure that a service process has reported.
  private static func error(_ failure: Failure) -> JSONValue {
    [
      "code": .string(failure.code.name), "file": .string(ByteText.shown(failure.subject)),
      "detail": .string(ByteText.shown(failure.detail)),
    ]
  }

  /// How a process ended: exit code, signal, or the error of its start.
  package static func exit(_ exit: ExitReport) -> JSONValue {
    ["code": .init(exit.code), "signal": .init(exit.signal), "spawn_error": .init(exit.trouble)]
  }

  /// JSON of `enqueue`. `known` is true if no customer was added, because the tickets had been issued before.
  package static func enqueued(_ report: EnqueuedReport, ofList isList: Bool) -> JSONValue {
    let shape: JSONValue = [
      "version": 1, "day": .init(report.day), "first": .init(report.first), "last": .init(report.last),
      "count": .init(report.count), "known": .init(report.known > 0 && (!isList || report.count == 0)),
    ]
    guard isList else { return shape }
    let tickets = (report.alreadyIssuedTickets ?? []).map { span -> JSONValue in
      ["day": .init(span.day), "first": .init(span.first), "last": .init(span.last)]
    }
    return shape.adding(["already_issued_count": .init(report.known), "already_issued": .array(tickets)])
  }

  /// JSON line of `receipts`.
  package static func receipt(_ receipt: ReceiptReport) -> JSONValue {
    let shape: JSONValue = [
      "day": .init(receipt.day), "ticket": .init(receipt.ticket), "service": .string(receipt.service.text),
      "grade": .init(receipt.priority.grade), "priority": .init(receipt.priority.number),
      "outcome": .string(receipt.outcome.name),
      "window": .init(receipt.window), "attempts": .init(receipt.attempts), "amount": .init(receipt.amount),
      "debit": .init(receipt.debit), "credit": .init(receipt.credit), "issued_at": .instant(receipt.issuedAt),
      "started_at": .instant(receipt.startedAt), "finished_at": .instant(receipt.finishedAt),
    ]
    return shape.adding(itemFields(receipt.itemName, receipt.shortages)).adding(result(receipt))
      .adding(field(ofBranch: receipt.branch))
  }

  /// The ordered item, as the payload, and missing ingredients.
  private static func itemFields(_ itemName: String?, _ shortages: [Shortage]?) -> JSONValue {
    var shape: JSONValue = [:]
    if let itemName { shape = shape.adding(["payload": .string(itemName)]) }
    if let shortages { shape = shape.adding(["missing": missing(shortages)]) }
    return shape
  }

  /// Shortages: each item with the needed and the available amount.
  package static func missing(_ shortages: [Shortage]) -> JSONValue {
    .array(
      shortages.map {
        ["item": .string($0.item.name), "needed": .init($0.needed), "available": .init($0.available)]
      })
  }

  /// JSON line of `tickets`.
  package static func listed(_ ticket: TicketReport) -> JSONValue {
    guard ticket.state == .dead, let last = ticket.attempts.last else { return row(ticket) }
    return row(ticket).adding(["last_attempt": attempt(last)])
  }

  /// The fields that `tickets` and `ticket` have in common.
  private static func row(_ ticket: TicketReport) -> JSONValue {
    let shape: JSONValue = [
      "day": .init(ticket.day), "ticket": .init(ticket.ticket), "service": .string(ticket.service.text),
      "grade": .init(ticket.priority.grade), "priority": .init(ticket.priority.number),
      "state": .string(ticket.state.name),
      "amount": .init(ticket.amount), "account": .init(ticket.account),
      "issued_at": .instant(ticket.issuedAt),
    ]
    return shape.adding(stateFields(ticket)).adding(itemFields(ticket.itemName, nil))
  }

  private static func stateFields(_ ticket: TicketReport) -> JSONValue {
    switch ticket.state {
    case .waiting: ["position": .init(ticket.position), "eta_ms": .init(ticket.etaMilliseconds)]
    case .delayed: ["due_at": .instant(ticket.dueAt)]
    case .serving: ["window": .init(ticket.window)]
    case .dead, .done: [:]
    }
  }

  /// JSON of `ticket`.
  package static func ticket(_ ticket: TicketReport) -> JSONValue {
    var shape: JSONValue = ["version": 1]
    shape = shape.adding(row(ticket))
    if let payload = ticket.payload { shape = shape.adding(bytesOrBase64(payload, as: "payload")) }
    if let progress = ticket.progress { shape = shape.adding(["progress": self.progress(progress)]) }
    if let counted = ticket.counted { shape = shape.adding(["attempts_counted": .init(counted)]) }
    if let receipt = ticket.receipt {
      shape = shape.adding([
        "outcome": .string(receipt.outcome.name), "window": .init(receipt.window),
        "debit": .init(receipt.debit), "credit": .init(receipt.credit),
        "started_at": .instant(receipt.startedAt), "finished_at": .instant(receipt.finishedAt),
      ])
      shape = shape.adding(itemFields(nil, receipt.shortages)).adding(result(receipt))
        .adding(field(ofBranch: receipt.branch))
    }
    return shape.adding(["attempts": .array(ticket.attempts.map(attempt))])
  }

  /// The progress that a worker has reported, in percent.
  package static func progress(_ progress: WorkProgress) -> JSONValue {
    let shape: JSONValue = ["percent": .init(progress.percent)]
    return progress.text.isEmpty ? shape : shape.adding(["text": .string(progress.text)])
  }

  private static func attempt(_ attempt: AttemptReport) -> JSONValue {
    let shape: JSONValue = [
      "window": attempt.window.isEmpty ? .null : .string(attempt.window),
      "generation": .init(attempt.generation), "pid": .init(attempt.pid),
      "started_at": .instant(attempt.startedAt), "ended_at": .instant(attempt.endedAt),
      "end": .init(attempt.end?.name), "signal": .init(attempt.signal), "code": .init(attempt.code),
    ]
    let words = attempt.words.map { shape.adding(["reason": .string($0)]) } ?? shape
    return words.adding(field(ofBranch: attempt.branch))
  }

  /// JSON of `stop`. `finished` counts the customers since the start of the drain.
  package static func stopped(_ report: StoppedReport) -> JSONValue {
    let shape: JSONValue = [
      "version": 1, "day": .init(report.day), "served": .init(report.served),
      "business_ms": .init(report.businessMilliseconds), "waiting": .init(report.waiting),
      "dead": .init(report.dead), "day_closed": .bool(report.isDayClosed),
      "finished": .init(report.finished), "killed": .init(report.killed),
      "steps": .array(
        (report.steps ?? []).map { ["step": .string($0.step.name), "duration_ms": .init($0.milliseconds)] }),
    ]
    // The number of customers with the outcome `out_of_stock`, which `served` includes.
    let counted = report.sentAway.map { shape.adding(["out_of_stock": .init($0)]) } ?? shape
    let all = report.branches.map { counted.adding(["branches": .array($0.map(branch))]) } ?? counted
    return all.adding(field(ofBranch: report.branch))
  }

  /// JSON of `audit`. The difference of a missing stock or vending machine is 0.
  package static func audit(_ report: AuditReport) -> JSONValue {
    let shape: JSONValue = [
      "version": 1, "ok": .bool(report.isClean), "issued": .init(report.issued),
      "served": .init(report.served), "cancelled": .init(report.cancelled), "waiting": .init(report.waiting),
      "delayed": .init(report.delayed), "dead": .init(report.dead), "lost": .init(report.lost),
      "duplicated": .init(report.duplicated), "ledger_difference": .init(report.ledgerDifference),
      "stock_difference": .init(report.stockDifference ?? 0),
      "money_difference": .init(report.moneyDifference ?? 0),
      "problems": .array(report.problems.map { .string($0) }),
    ]
    return report.notes.map { shape.adding(["notes": .array($0.map { .string($0) })]) } ?? shape
  }

  /// JSON of `bankctl ledger`.
  package static func ledger(_ rows: [LedgerRow]) -> JSONValue {
    [
      "version": 1, "accounts": .array(rows.map(ledgerRow)),
      "difference": .init(rows.reduce(0) { $0 &+ $1.balance }),
    ]
  }

  private static func ledgerRow(_ row: LedgerRow) -> JSONValue {
    [
      "account": .string(row.account), "debit": .init(row.debit), "credit": .init(row.credit),
      "balance": .init(row.balance), "transfers": .init(row.transfers),
    ]
  }

  /// JSON of `account N`.
  package static func account(_ report: AccountReport) -> JSONValue {
    let shape: JSONValue = ["version": 1]
    return shape.adding(ledgerRow(report.row)).adding(["latest": .array(report.latest.map(receipt))])
  }

  /// JSON line of `open`.
  package static func event(_ event: AttemptEvent) -> JSONValue {
    let name =
      switch event.phase {
      case .started: "started"
      case .completed: "completed"
      case .interrupted: "interrupted"
      }
    return [
      "event": .string(name), "at": .instant(event.at), "day": .init(event.day),
      "ticket": .init(event.ticket), "service": .string(event.service.text),
      "grade": .init(event.priority.grade), "priority": .init(event.priority.number),
      "window": .string(event.window), "attempt": .init(event.attempt),
    ]
  }

  /// The document that a command prints if it fails.
  package static func error(code: String, message: String) -> JSONValue {
    let message = ByteText.shown(message)
    return ["version": 1, "error": ["code": .string(code), "message": .string(message)]]
  }
}

extension AuditReport {
  /// True if the audit found no problem and no difference.
  package var isClean: Bool {
    problems.isEmpty && lost == 0 && duplicated == 0 && ledgerDifference == 0 && (stockDifference ?? 0) == 0
      && (moneyDifference ?? 0) == 0
  }
}
