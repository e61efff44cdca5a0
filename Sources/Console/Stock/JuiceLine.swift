// Owns the tickets of one order of juice from the moment they are issued: waiting for their receipts, also while the
// coordinator is replaced, and taking out what nobody wants any more.
// Invariant: when it returns, every ticket has been told once, and none of them waits any more, except those that are
// told as unfinished. Whether the station stands still is told by its customers and not by the clock alone, so a
// long line in front of an order is no reason to give it up.
// Failure: CommandError where the coordinator is gone for good.
import BankModel
import Posix
import Time
import Wire

final class JuiceLine {
  enum Fate: Sendable, Equatable {
    case made
    /// There was too little of these; nothing was taken.
    case short([Shortage])
    /// Somebody else has cancelled it; nothing was taken.
    case cancelled
    /// It was taken out here, because the station stands still, or because of a signal; nothing was taken.
    case withdrawn
    /// The station has failed at it again and again; it was taken out, and nothing was taken.
    case failed
    /// It is being made, and has not become ready in time.
    case unfinished

    var name: String {
      switch self {
      case .made: "made"
      case .short: "out_of_stock"
      case .cancelled: "cancelled"
      case .withdrawn: "withdrawn"
      case .failed: "failed"
      case .unfinished: "unfinished"
      }
    }
  }

  typealias Teller = (TicketNumber, Fate) throws(CommandError) -> Void

  /// How long a juice that is being made when its order is given up may still take.
  private static let grace = TimeSpan.seconds(30)
  /// The same where somebody wants this program to end.
  private static let interruptedGrace = TimeSpan.seconds(2)

  private let tickets: EnqueuedReport
  private let session: Session
  private let wait: InterruptibleWait
  private let patience: TimeSpan
  private var coordinator: CoordinatorClient
  /// So many customers the station had attended to when it was last looked whether it stands still.
  private var servedBefore: Int64 = 0

  /// - Parameter patience: How long the station may stand still.
  init(
    _ tickets: EnqueuedReport, at coordinator: CoordinatorClient, _ wait: InterruptibleWait,
    patience: TimeSpan, _ session: Session
  ) {
    self.tickets = tickets
    self.coordinator = coordinator
    self.wait = wait
    self.patience = patience
    self.session = session
  }

  /// Waits until every ticket has ended, and tells each as soon as it and all before it have.
  func run(_ tell: Teller) throws(CommandError) {
    guard tickets.count > 0 else { return }
    servedBefore = try persist { coordinator throws(CommandError) in
      try self.served(try self.report(on: tickets.first, coordinator), coordinator)
    }
    var next = tickets.first
    while next <= tickets.last, let report = try awaitEnd(of: next) {
      try tell(next, report.state == .dead ? try withdraw(next) ?? .unfinished : Self.fate(of: report))
      next += 1
    }
    if next <= tickets.last { try withdrawAll(from: next, tell) }
  }

  private static func fate(of report: TicketReport) -> Fate {
    switch report.receipt?.outcome {
    case .served: .made
    case .outOfStock: .short(report.receipt?.shortages ?? [])
    case .cancelled, nil: .cancelled
    }
  }

  // MARK: - Waiting

  /// Waits until a ticket has ended or stands among the dead letters; nil where the station stands still, or somebody
  /// wants this program to end.
  private func awaitEnd(of ticket: TicketNumber) throws(CommandError) -> TicketReport? {
    try persist { coordinator throws(CommandError) in
      let question = ControlCommand.awaitTickets(day: tickets.day, first: ticket, last: ticket)
      let number = try coordinator.send(question)
      while true {
        let deadline = SystemClock.monotonic() + patience
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

  /// So many customers the station has attended to today; a coordinator of an older build tells it only with everything
  /// else.
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

  // MARK: - Taking out

  /// Takes out everything that has not ended, the last first, so that nothing of it is begun meanwhile; what is being
  /// made has a while to become ready.
  private func withdrawAll(from first: TicketNumber, _ tell: Teller) throws(CommandError) {
    var fates: [TicketNumber: Fate] = [:]
    let deadline = SystemClock.monotonic() + (wait.signal == nil ? Self.grace : Self.interruptedGrace)
    while true {
      for ticket in (first...tickets.last).reversed() where fates[ticket] == nil {
        fates[ticket] = try withdraw(ticket)
      }
      if fates.count > tickets.last - first || SystemClock.monotonic() >= deadline { break }
      Pause.briefly()
    }
    for ticket in first...tickets.last { try tell(ticket, fates[ticket] ?? .unfinished) }
  }

  /// Takes a ticket out; nil where it is being made just now.
  private func withdraw(_ ticket: TicketNumber) throws(CommandError) -> Fate? {
    var isOurs = false
    return try persist { coordinator throws(CommandError) in
      let report = try self.report(on: ticket, coordinator)
      if report.state == .done { return isOurs && report.isCancelled ? .withdrawn : Self.fate(of: report) }
      if report.state == .serving { return nil }
      do throws(CommandError) {
        isOurs = true
        // With its day: after a reset the number is somebody else's.
        _ = try coordinator.answer(to: .cancel(ticket, day: tickets.day)).ticket
        return report.state == .dead ? .failed : .withdrawn
      } catch {
        // The day is over, and it has ended with it.
        if case .failure(let failure) = error, failure.code == .wrongDay {
          isOurs = false
          return Self.fate(of: try self.report(on: ticket, coordinator))
        }
        // It has gone to the station, or has ended, in this very moment.
        if case .failure(let failure) = error, failure.code == .wrongState || failure.code == .noSuchTicket {
          isOurs = false
          return nil
        }
        throw error
      }
    }
  }

  // MARK: - A lost coordinator

  /// Does something, again and again where the coordinator is lost over it.
  private func persist<Result>(
    _ body: (CoordinatorClient) throws(CommandError) -> Result
  ) throws(CommandError) -> Result {
    while true {
      do throws(CommandError) { return try body(coordinator) } catch {
        guard error.isLoss else { throw error }
        try reunite()
      }
    }
  }

  private func reunite() throws(CommandError) {
    let known = wait.signal
    let deadline = SystemClock.monotonic() + CoordinatorClient.reunion
    while SystemClock.monotonic() < deadline {
      let next = SystemClock.monotonic() + .milliseconds(100)
      if let back = try? CoordinatorClient.reopen(session, until: next) { return coordinator = back }
      try wait.look()
      if wait.signal != known { break }
      Pause.momentarily()
    }
    throw .complaint(.connectionLost, session.words.juiceLost(tickets))
  }
}

extension TicketReport {
  fileprivate var hasEnded: Bool { state == .done || state == .dead }
  fileprivate var isCancelled: Bool { receipt?.outcome == .cancelled }
}
