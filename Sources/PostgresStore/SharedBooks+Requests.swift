// Owns what a branch asks of the shared books beside its transactions: pages, tickets, and what an operator wants.
// Invariant: each request is answered once, as SharedHappening says.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

extension SharedBooks {
  // MARK: - Customers

  /// Asks for the next page of a line: who was given back and then who comes next, of each at most so many.
  public func claim(_ line: Line, limit: Int) { claims.claim(line, limit: limit) }

  /// Gives back customers of a page who were not served: others may have them at once.
  public func giveBack(_ line: Line, _ tickets: [TicketNumber]) {
    guard let lane = context.lanes[line], !tickets.isEmpty, context.branch != nil else { return }
    requests.ask(nil, outlives: false, finish: { _ in }, SharedOperations.giveBack(lane: lane, tickets))
  }

  /// Asks for tickets.
  public func takeIn(_ request: RequestNumber, _ customers: IntakeRequest) {
    requests.takeIn(request, customers)
  }

  // MARK: - What an operator wants

  /// Takes a customer out, whoever has it.
  public func cancel(_ request: RequestNumber, _ ticket: TicketNumber) {
    requests.ask(request, SharedOperations.cancel(ticket))
  }

  /// Brings a dead letter back.
  public func requeue(_ request: RequestNumber, _ ticket: TicketNumber) {
    requests.ask(request, SharedOperations.requeue(ticket))
  }

  /// Brings dead letters back, at most so many. Where the outcome of a try was unknown, those are not counted.
  public func requeueDead(_ request: RequestNumber, limit: Int = 1_000) {
    requests.ask(request, SharedOperations.requeueDead(limit: limit))
  }

  /// These services are paused in this branch, and no others: it knows so again when it joins under its name.
  public func keepPaused(_ request: RequestNumber, _ services: [Service]) {
    requests.ask(request, SharedOperations.keepPaused(services))
  }

  /// This branch's stock has given back what it held for these, or holds nothing. Where that is not heard of they are told again.
  public func released(_ tickets: [TicketOfDay]) {
    guard !tickets.isEmpty else { return }
    requests.ask(nil, outlives: false, finish: { _ in }, SharedOperations.released(tickets))
  }

  /// The whole bank takes no new customers any more, until the day has ended.
  public func drainDay(_ request: RequestNumber) {
    requests.ask(request, SharedOperations.drain(context.day))
    context.lookSoon()
  }

  /// Ends a day of the whole bank, where nobody is left; one that has ended before is left as it is.
  ///
  /// - Parameters:
  ///   - day: which; nil for the present one.
  ///   - cancellingEverybody: whoever is left gets a cancelled receipt, also those who are being served.
  public func endDay(
    _ request: RequestNumber, _ day: BusinessDay? = nil, cancellingEverybody: Bool = false
  ) {
    requests.ask(
      request, SharedOperations.endDay(day ?? context.day, cancellingEverybody: cancellingEverybody))
  }

  /// Drops the receipts, attempts and keys of the days before one, as far as these have ended.
  public func prune(_ request: RequestNumber, before day: BusinessDay) {
    var days: [Int64] = []
    requests.ask(
      request,
      finish: { [unowned self] answer in
        guard answer == .done else { return context.tell(.answered(request, answer ?? .done)) }
        requests.ask(request, SharedOperations.prune(days, before: day))
      }, SharedOperations.prunable(before: day) { days = $0 })
  }
}
