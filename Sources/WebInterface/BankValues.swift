// Conversion of the coordinator's reports into the values of pages.
// Invariant: no value makes this process trap.
import BankModel
import Posix
import JSONOutput
import WebPages
import Wire

extension BankCounts {
  init(_ counts: BoardCounts) {
    self.init(
      issued: counts.issued, waiting: counts.waiting, delayed: counts.delayed, serving: counts.serving,
      served: counts.served, cancelled: counts.cancelled, dead: counts.dead)
  }
}

extension BankRates {
  init(_ rates: BoardRates) {
    self.init(
      servedSecond: rates.servedSecond, servedTenSeconds: rates.servedTenSeconds,
      servedTenMinutes: rates.servedTenMinutes, issuedSecond: rates.issuedSecond,
      issuedTenSeconds: rates.issuedTenSeconds, issuedTenMinutes: rates.issuedTenMinutes)
  }
}

extension BankPage {
  init(_ frame: BoardFrame) {
    self.init(
      state: frame.state, day: frame.day, businessMilliseconds: frame.businessTime.milliseconds,
      timerRuns: frame.isBusinessTimeRunning, counts: BankCounts(frame.bank ?? frame.counts),
      rates: BankRates(frame.rates),
      waiting: frame.waiting.map {
        WaitingRow(ticket: $0.ticket, service: $0.service, priority: $0.priority)
      }, serving: frame.serving.map { ServingRow($0) },
      events: frame.events.compactMap { EventRow($0, day: frame.day) },
      coordinator: frame.coordinator.pid, generation: frame.coordinator.generation,
      branches: (frame.branches ?? []).map { BranchRow($0) })
  }
}

extension BranchRow {
  init(_ branch: BranchReport) {
    self.init(
      number: branch.number, name: branch.name, host: branch.host, state: branch.state,
      windows: branch.windows, served: branch.served, rate: branch.rate, isThis: branch.isThis)
  }
}

extension ServingRow {
  init(_ serving: BoardServing) {
    self.init(
      ticket: serving.ticket, service: serving.service, priority: serving.priority, window: serving.window,
      since: serving.since, attempt: Int64(serving.attempt),
      percent: serving.progress?.percent.map { Int64($0) }, progress: serving.progress?.nonEmptyText)
  }
}

extension WorkProgress {
  var nonEmptyText: String? { text.isEmpty ? nil : text }
}

extension EventRow {
  /// A row of the events; nil for an event that the page does not show.
  ///
  /// - Parameter day: business day for an event that contains none.
  init?(_ event: BoardEvent, day: BusinessDay) {
    guard let kind = Kind(event.kind) else { return nil }
    self.init(
      sequence: event.sequence, time: event.time, kind: kind, day: event.day ?? day, ticket: event.ticket,
      lastTicket: event.last,
      service: event.service, window: event.window, pid: event.pid, signal: event.signal.map(Signals.name),
      attempt: event.attempt.map { Int64($0) })
  }
}

extension EventRow.Kind {
  /// The kind of a row; nil for a kind that the page does not show.
  init?(_ kind: BoardEvent.Kind) {
    switch kind {
    case .issued: self = .issued
    case .started: self = .started
    case .served: self = .served
    case .cancelled: self = .cancelled
    case .dead: self = .dead
    case .failed: self = .failed
    case .deferred: self = .deferred
    case .died: self = .died
    case .reset: self = .reset
    case .recalled: return nil
    }
  }
}

extension ServiceRow {
  init(_ service: BoardService, history: [Int64]) {
    self.init(
      service: service.service, isPaused: service.paused, pauseReason: service.pauseReason,
      windows: Int64(service.windows),
      waiting: service.waiting.map { GradeCount(priority: $0.priority, count: $0.count) },
      waitingTotal: service.waitingTotal, delayed: service.delayed, serving: service.serving,
      dead: service.dead, servedTenMinutes: service.servedTenMinutes, history: history)
  }
}

extension WindowRow {
  /// A row of the windows, from a snapshot of the bank.
  init(_ window: BoardWindow) {
    self.init(
      name: window.window, service: window.service, pid: window.pid,
      generation: Int32(clamping: window.generation), state: window.state, tickets: window.tickets,
      since: window.since, served: window.served, restarts: window.restarts,
      memoryBytes: window.memoryBytes, trouble: window.lastExit?.trouble, isFailed: window.isFailed == true)
  }
}

extension KillOutcome {
  init(_ watch: KillTracker) {
    self.init(
      window: watch.window, generation: watch.generation, pid: watch.pid, stage: Stage(watch.stage))
  }
}

extension KillOutcome.Stage {
  fileprivate init(_ stage: KillTracker.Stage) {
    self =
      switch stage {
      case .ordered: .ordered
      case .died(let ticket, _): .died(ticket: ticket)
      case .served(let ticket, let window, let after, let isExact):
        .served(ticket: ticket, window: window, milliseconds: after, isExact: isExact)
      case .replaced(let generation, let after): .replaced(generation: generation, milliseconds: after)
      case .ended(let ticket): .ended(ticket: ticket)
      }
  }
}

extension LobbyPage {
  /// The call display: customers at the windows and calls from the events, the latest first.
  init(_ frame: BoardFrame) {
    var calls: [(call: Call, time: Int64)] = frame.serving.map { serving in
      (
        Call(
          day: frame.day, ticket: serving.ticket, service: serving.service, priority: serving.priority,
          window: serving.window, attempt: Int64(serving.attempt)), serving.since
      )
    }
    var known = Set(calls.map(\.call.key))
    for event in frame.events where event.kind == .started {
      guard let ticket = event.ticket, let service = event.service, let window = event.window,
        event.day ?? frame.day == frame.day
      else { continue }
      let call = Call(
        day: frame.day, ticket: ticket, service: service, window: window, attempt: Int64(event.attempt ?? 1))
      if known.insert(call.key).inserted { calls.append((call, event.time)) }
    }
    calls.sort { ($0.time, $0.call.ticket) > ($1.time, $1.call.ticket) }
    self.init(
      calls: calls.prefix(5).map(\.call), waiting: frame.counts.waiting, serving: frame.counts.serving,
      served: frame.counts.served, state: frame.state)
  }
}

extension TicketPage {
  init(_ report: TicketReport, output: [OutputChunk], isTruncated: Bool) {
    self.init(
      day: report.day, ticket: report.ticket, service: report.service, priority: report.priority,
      amount: report.amount, account: report.account, itemName: report.itemName, issuedAt: report.issuedAt,
      state: report.state, position: report.position, etaMilliseconds: report.etaMilliseconds,
      dueAt: report.dueAt, window: report.window, percent: report.progress?.percent.map { Int64($0) },
      progress: report.progress?.nonEmptyText, attempts: report.attempts.map { AttemptRow($0) },
      receipt: report.receipt.map { ReceiptRow($0) }, payload: report.payload.flatMap { AbridgedText($0) },
      output: output, isTruncated: isTruncated)
  }
}

extension AttemptRow {
  init(_ attempt: AttemptReport) {
    self.init(
      window: attempt.window, generation: attempt.generation, pid: attempt.pid, startedAt: attempt.startedAt,
      endedAt: attempt.endedAt, end: attempt.end, signal: attempt.signal.map(Signals.name),
      code: attempt.code, message: attempt.messageDetail, isFatal: attempt.isFatal == true,
      branch: attempt.branch)
  }
}

extension ReceiptRow {
  init(_ receipt: ReceiptReport) {
    var code: Int32?
    if case .code(let number)? = receipt.result?.ending { code = number }
    self.init(
      sequence: receipt.sequence, day: receipt.day, ticket: receipt.ticket, service: receipt.service,
      priority: receipt.priority, outcome: receipt.outcome, window: receipt.window,
      attempts: Int64(receipt.attempts), amount: receipt.amount, debit: receipt.debit,
      credit: receipt.credit, finishedAt: receipt.finishedAt,
      result: receipt.result.flatMap { AbridgedText($0.output) },
      errors: receipt.result.flatMap { AbridgedText($0.errors) }, exitCode: code,
      missing: receipt.shortages ?? [])
  }
}

extension TicketRow {
  init(_ report: TicketReport) {
    let last = report.attempts.last
    self.init(
      day: report.day, ticket: report.ticket, service: report.service, priority: report.priority,
      state: report.state, window: report.window, amount: report.amount, itemName: report.itemName,
      issuedAt: report.issuedAt,
      attempts: Int64(report.tried ?? 0) + (report.state == .serving ? 1 : 0), end: last?.end,
      signal: last?.signal.map(Signals.name),
      code: last?.code, reason: last?.messageDetail)
  }
}
