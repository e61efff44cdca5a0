// Requests of a branch to the shared database, apart from its transactions: pages, tickets, and operator commands.
// Invariant: no request with a number is answered twice. The answer is the event `answered`.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

extension SharedStore {
  // MARK: - Customers

  /// Claims the next page of a line: up to `limit` returned customers, or more if the first returned range is longer;
  /// then up to `limit` new ones.
  public func claim(_ line: Line, limit: Int) { claims.claim(line, limit: limit) }

  /// Returns customers of a page that were not served. Other branches may claim them.
  public func returnClaimed(_ line: Line, _ tickets: [TicketNumber]) {
    guard let lane = context.lanes[line], !tickets.isEmpty, context.branch != nil else { return }
    requests.ask(
      nil, repeatsInLaterEpoch: false, finish: { _ in }, StoreOperations.returnClaimed(lane: lane, tickets))
  }

  /// Requests tickets for customers. The answer is a later event, `answered`.
  public func enqueueCustomers(_ request: RequestNumber, _ customers: EnqueueRequest) {
    requests.enqueueCustomers(request, customers)
  }

  // MARK: - Operator commands

  /// Cancels a customer of any branch.
  public func cancel(_ request: RequestNumber, _ ticket: TicketNumber) {
    requests.ask(request, StoreOperations.cancel(ticket))
  }

  /// Returns a dead letter to its line.
  public func requeue(_ request: RequestNumber, _ ticket: TicketNumber) {
    requests.ask(request, StoreOperations.requeue(ticket))
  }

  /// Returns up to `limit` dead letters to their lines. If the request is repeated after an unknown outcome, the answer
  /// counts only the dead letters that the last transmission returned.
  public func requeueDead(_ request: RequestNumber, limit: Int = 1_000) {
    requests.ask(request, StoreOperations.requeueDead(limit: limit))
  }

  /// Stores the paused services of this branch. They apply again when the branch rejoins under its name.
  public func savePaused(_ request: RequestNumber, _ services: [Service]) {
    requests.ask(request, StoreOperations.savePaused(services))
  }

  /// Reports that this branch's stock has released its reservations for these tickets, or has none. If the request
  /// fails, the event `releases` lists the tickets again.
  public func released(_ tickets: [TicketOfDay]) {
    guard !tickets.isEmpty else { return }
    requests.ask(nil, repeatsInLaterEpoch: false, finish: { _ in }, StoreOperations.released(tickets))
  }

  /// Starts the drain of the day: the whole bank accepts no new customers.
  public func drainDay(_ request: RequestNumber) {
    requests.ask(request, StoreOperations.drain(context.day))
    context.lookSoon()
  }

  /// Ends a day of the whole bank if no customer is left. Does nothing if that day has ended already.
  ///
  /// - Parameters:
  ///   - day: day to end; nil for the present one.
  ///   - cancellingAll: true to write cancelled receipts for all remaining customers, including those being
  ///     served.
  public func endDay(
    _ request: RequestNumber, _ day: BusinessDay? = nil, cancellingAll: Bool = false
  ) {
    requests.ask(
      request, StoreOperations.endDay(day ?? context.day, cancellingAll: cancellingAll))
  }

  /// Deletes the receipts, attempts, commits and keys of ended days before one.
  public func prune(_ request: RequestNumber, before day: BusinessDay) {
    var days: [Int64] = []
    requests.ask(
      request,
      finish: { [unowned self] answer in
        guard answer == .done else { return context.report(.answered(request, answer ?? .done)) }
        requests.ask(request, StoreOperations.prune(days, before: day))
      }, StoreOperations.prunable(before: day) { days = $0 })
  }
}
