// Tickets of one juice order after they were issued: waiting for their receipts, also across restarts of
// the coordinator, and cancelling the rest.
// Invariant: the station counts as hung if it serves no customer for a time, so a long queue in front of an order
// does not cancel it.
// Errors: `CommandError` if the coordinator does not restart in time, or a signal is received meanwhile.
import BankModel
import Posix
import Time
import Wire

/// Waits for the tickets of a juice order, and cancels the rest if the station hangs.
final class JuiceOrderTracker {
  /// What became of one juice.
  enum OrderOutcome: Sendable, Equatable {
    case made
    /// Too few of these ingredients; none was used.
    case short([Shortage])
    /// Cancelled by another client.
    case cancelled
    /// Cancelled by this program after a hang of the station or a signal.
    case withdrawn
    /// Cancelled after the station had failed repeatedly.
    case failed
    /// In progress, and not finished in time.
    case unfinished

    /// The name in JSON.
    var name: String {
      switch self {
      case .made: "made"
      case .short: "out_of_stock"
      case .cancelled: "cancelled"
      case .withdrawn: "withdrawn"
      case .failed: "failed"
      case .unfinished: "pending"
      }
    }
  }

  /// Function that receives each ticket with its outcome.
  typealias Reporter = (TicketNumber, OrderOutcome) throws(CommandError) -> Void

  /// Time that a juice in progress may still take when its order is cancelled.
  private static let grace = TimeSpan.seconds(30)
  /// Time that a juice in progress may still take after a signal.
  private static let interruptedGrace = TimeSpan.seconds(2)

  private let tickets: EnqueuedReport
  private let session: Session
  private let wait: InterruptibleWait
  private let stallTimeout: TimeSpan
  private var coordinator: CoordinatorClient
  /// Customers that the station had served at the last check for a hang.
  private var servedBefore: Int64 = 0

  /// - Parameter stallTimeout: Time without a served customer after which the station counts as hung.
  init(
    _ tickets: EnqueuedReport, at coordinator: CoordinatorClient, _ wait: InterruptibleWait,
    stallTimeout: TimeSpan, _ session: Session
  ) {
    self.tickets = tickets
    self.coordinator = coordinator
    self.wait = wait
    self.stallTimeout = stallTimeout
    self.session = session
  }

  /// Waits until the tickets have ended, and reports them in order.
  func run(_ reportOutcome: Reporter) throws(CommandError) {
    guard tickets.count > 0 else { return }
    servedBefore = try persist { coordinator throws(CommandError) in
      try self.served(try self.report(on: tickets.first, coordinator), coordinator)
    }
    var next = tickets.first
    while next <= tickets.last, let report = try awaitEnd(of: next) {
      try reportOutcome(
        next, report.state == .dead ? try withdraw(next) ?? .unfinished : Self.outcome(of: report))
      next += 1
    }
    if next <= tickets.last { try withdrawAll(from: next, reportOutcome) }
  }

  private static func outcome(of report: TicketReport) -> OrderOutcome {
    switch report.receipt?.outcome {
    case .served: .made
    case .outOfStock: .short(report.receipt?.shortages ?? [])
    case .cancelled, nil: .cancelled
    }
  }

  // MARK: - Waiting

  /// Waits until a ticket has ended or is a dead letter; nil if the station hangs, or a signal was received.
  private func awaitEnd(of ticket: TicketNumber) throws(CommandError) -> TicketReport? {
    try persist { coordinator throws(CommandError) in
      let question = ControlCommand.awaitTickets(day: tickets.day, first: ticket, last: ticket)
      let number = try coordinator.send(question)
      while true {
        let deadline = SystemClock.monotonic() + stallTimeout
        while let reply = try wait.next(at: coordinator, until: deadline) {
          guard reply.number == number else { continue }
          guard case .ended = reply.answer else { throw reply.answer.unexpected }
          let report = try self.report(on: ticket, coordinator)
          servedBefore = try self.served(report, coordinator)
          return report
        }
        if wait.signal != nil { return nil }
        let report = try self.report(on: ticket, coordinator)
        if report.hasEnded { return report }
        let served = try self.served(report, coordinator)
        if served == servedBefore { return nil }
        servedBefore = served
      }
    }
  }

  /// Number of customers of the juice service served today. If it does not change during the timeout, the station
  /// hangs.
  private func served(_ report: TicketReport, _ coordinator: CoordinatorClient) throws(CommandError) -> Int64
  {
    if let served = report.servedOfService { return served }
    return try coordinator.status(.status).services.first { $0.service == .juice }?.served ?? 0
  }

  private func report(
    on ticket: TicketNumber, _ coordinator: CoordinatorClient
  ) throws(CommandError) -> TicketReport {
    try coordinator.answer(to: .ticket(number: ticket, day: tickets.day)).ticket
  }

  // MARK: - Cancelling

  /// Cancels the tickets that have not ended, and reports their outcomes. The last ticket is cancelled first, because
  /// it would be served last. A juice in progress has some time to finish.
  private func withdrawAll(from first: TicketNumber, _ reportOutcome: Reporter) throws(CommandError) {
    var outcomes: [TicketNumber: OrderOutcome] = [:]
    let deadline = SystemClock.monotonic() + (wait.signal == nil ? Self.grace : Self.interruptedGrace)
    while true {
      for ticket in (first...tickets.last).reversed() where outcomes[ticket] == nil {
        outcomes[ticket] = try withdraw(ticket)
      }
      if outcomes.count > tickets.last - first || SystemClock.monotonic() >= deadline { break }
      Pause.briefly()
    }
    for ticket in first...tickets.last { try reportOutcome(ticket, outcomes[ticket] ?? .unfinished) }
  }

  /// Cancels a ticket unless it has ended, and returns its outcome; nil if it is in progress or has just changed.
  private func withdraw(_ ticket: TicketNumber) throws(CommandError) -> OrderOutcome? {
    var isOurs = false
    return try persist { coordinator throws(CommandError) in
      let report = try self.report(on: ticket, coordinator)
      if report.state == .done { return isOurs && report.isCancelled ? .withdrawn : Self.outcome(of: report) }
      if report.state == .serving { return nil }
      do throws(CommandError) {
        isOurs = true
        // The request contains the day, because after a reset the number belongs to another customer.
        _ = try coordinator.answer(to: .cancel(ticket, day: tickets.day)).ticket
        return report.state == .dead ? .failed : .withdrawn
      } catch {
        // The day has closed, so the ticket has a receipt.
        if case .failure(let failure) = error, failure.code == .wrongDay {
          isOurs = false
          return Self.outcome(of: try self.report(on: ticket, coordinator))
        }
        // Meanwhile the ticket was assigned to the station, or has ended.
        if case .failure(let failure) = error, failure.code == .wrongState || failure.code == .noSuchTicket {
          isOurs = false
          return nil
        }
        throw error
      }
    }
  }

  // MARK: - Lost coordinator

  /// Runs a conversation with the coordinator, and repeats it from its start after a loss of the connection.
  private func persist<Result>(
    _ body: (CoordinatorClient) throws(CommandError) -> Result
  ) throws(CommandError) -> Result {
    while true {
      do throws(CommandError) { return try body(coordinator) } catch {
        guard error.isLoss else { throw error }
        try reconnect()
      }
    }
  }

  /// Waits for the restarted coordinator; throws after the timeout or a new signal.
  private func reconnect() throws(CommandError) {
    let known = wait.signal
    let deadline = SystemClock.monotonic() + CoordinatorClient.reconnectTimeout
    while SystemClock.monotonic() < deadline {
      let next = SystemClock.monotonic() + .milliseconds(100)
      if let back = try? CoordinatorClient.reopen(session, until: next) { return coordinator = back }
      try wait.checkSignals()
      if wait.signal != known { break }
      Pause.momentarily()
    }
    throw .commandFailure(.connectionLost, session.messages.juiceLost(tickets))
  }
}

extension TicketReport {
  /// True if the customer has a receipt or is a dead letter.
  fileprivate var hasEnded: Bool { state == .done || state == .dead }
  fileprivate var isCancelled: Bool { receipt?.outcome == .cancelled }
}
