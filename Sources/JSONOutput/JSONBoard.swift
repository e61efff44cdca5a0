// JSON of the snapshot (the board), and of the results of commands for several tickets.
// Invariant: fields are added and never changed. Rates are customers a second, times are RFC 3339.
import BankModel
import Wire

extension JSONValue {
  /// JSON line of `bankctl snapshot`.
  package static func board(_ frame: BoardFrame) -> JSONValue {
    var shape: JSONValue = [
      "version": 1, "day": .init(frame.day), "state": .string(frame.state.name),
      "coordinator": [
        "pid": .init(frame.coordinator.pid), "generation": .init(frame.coordinator.generation),
        "since": .instant(frame.coordinator.openedAt),
      ],
      "time": .instant(frame.time), "business_ms": .init(frame.businessTime.milliseconds),
      "business_timer_running": .bool(frame.isBusinessTimeRunning), "counts": counts(frame.counts),
      "rates": rates(frame.rates), "services": .array(frame.services.map(service)),
      "waiting": .array(
        frame.waiting.map {
          [
            "ticket": .init($0.ticket), "service": .string($0.service.text),
            "priority": .init($0.priority.number),
          ]
        }),
      "serving": .array(frame.serving.map(serving)), "windows": .array(frame.windows.map(window)),
      "events": .array(frame.events.map(event)),
      "truncated": [
        "services": .init(frame.hidden.services), "waiting": .init(frame.hidden.waiting),
        "serving": .init(frame.hidden.serving), "windows": .init(frame.hidden.windows),
      ],
    ]
    if let bank = frame.bank { shape = shape.adding(["bank": counts(bank)]) }
    if let branches = frame.branches {
      shape = shape.adding(["branches": .array(branches.map(branch))])
    }
    return frame.history.map { shape.adding(["history": history($0, of: frame.services)]) } ?? shape
  }

  /// Numbers of served customers in consecutive intervals of time.
  private static func history(_ history: BoardHistory, of services: [BoardService]) -> JSONValue {
    [
      "since": .instant(history.since), "bucket_ms": .init(BoardHistory.part),
      "served": .array(
        zip(services, history.served).map { service, parts in
          ["name": .string(service.service.text), "buckets": .array(parts.map { .init($0) })]
        }),
    ]
  }

  private static func counts(_ counts: BoardCounts) -> JSONValue {
    [
      "issued": .init(counts.issued), "waiting": .init(counts.waiting), "delayed": .init(counts.delayed),
      "serving": .init(counts.serving), "served": .init(counts.served),
      "cancelled": .init(counts.cancelled), "dead": .init(counts.dead),
    ]
  }

  private static func rates(_ rates: BoardRates) -> JSONValue {
    [
      "served_1s": .rate(rates.servedSecond), "served_10s": .rate(rates.servedTenSeconds),
      "served_10m": .rate(rates.servedTenMinutes), "issued_1s": .rate(rates.issuedSecond),
      "issued_10s": .rate(rates.issuedTenSeconds), "issued_10m": .rate(rates.issuedTenMinutes),
    ]
  }

  private static func service(_ service: BoardService) -> JSONValue {
    [
      "name": .string(service.service.text), "paused": .bool(service.paused),
      "pause_reason": .init(service.pauseReason), "windows": .init(service.windows),
      "waiting": .init(service.waitingTotal),
      "by_priority": .array(
        service.waiting.map {
          ["priority": .init($0.priority?.number), "waiting": .init($0.count)]
        }), "delayed": .init(service.delayed), "serving": .init(service.serving),
      "dead": .init(service.dead), "served_10m": .rate(service.servedTenMinutes),
      "served": .init(service.served),
    ]
  }

  private static func serving(_ customer: BoardServing) -> JSONValue {
    let shape: JSONValue = [
      "ticket": .init(customer.ticket), "service": .string(customer.service.text),
      "priority": .init(customer.priority.number), "window": .string(customer.window),
      "since": .instant(customer.since), "attempt": .init(customer.attempt),
    ]
    return customer.progress.map { shape.adding(["progress": progress($0)]) } ?? shape
  }

  private static func window(_ window: BoardWindow) -> JSONValue {
    [
      "window": .string(window.window), "service": .string(window.service.text), "pid": .init(window.pid),
      "generation": .init(window.generation),
      "state": .string(window.isFailed == true ? "failed" : window.state.name),
      "tickets": .array(window.tickets.map { .init($0) }), "since": .instant(window.since),
      "served": .init(window.served), "restarts": .init(window.restarts),
      "rss_kb": .init(window.memoryBytes.map { $0 / 1_024 }), "last_exit": window.lastExit.map(exit) ?? .null,
    ]
  }

  /// `last` equals `ticket` if the event is for a single ticket.
  private static func event(_ event: BoardEvent) -> JSONValue {
    [
      "sequence": .init(event.sequence), "time": .instant(event.time), "kind": .string(event.kind.name),
      "ticket": .init(event.ticket), "last": .init(event.last ?? event.ticket),
      "service": .init(event.service?.text), "window": .init(event.window), "pid": .init(event.pid),
      "signal": .init(event.signal), "code": .init(event.code), "attempt": .init(event.attempt),
      "day": .init(event.day),
    ]
  }

  /// JSON of `cancel` and `requeue` of several tickets.
  package static func selection(_ report: SelectionReport, day: Int64) -> JSONValue {
    [
      "version": 1, "day": .init(day), "done": .init(report.done),
      "refused": .array(
        report.refused.map {
          [
            "ticket": .init($0.ticket), "code": .string($0.reason.name), "state": .init($0.state?.name),
          ]
        }),
    ]
  }
}
