// One transaction of a branch: staged changes of its own customers as SQL parameters, and the interpretation of the
// result.
// Invariant: only the last change of a customer counts, because all changes take effect together. The customer is
// looked up in its state before the first change.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

/// Staged changes of a branch's own customers that take effect in one transaction.
struct BranchTransaction {
  /// Result of the transaction.
  enum Effect: Equatable {
    /// Committed, without an effect on these customers.
    case committed(rejectedCompletions: [TicketNumber])
    /// Not committed, because the preceding commit is missing.
    case predecessorMissing
    /// The epoch has ended.
    case fenced
  }

  /// Due time of a customer, by the branch's clock at the time of the change and by the server's clock.
  struct Due {
    var own: WallTime
    var serverTime: Int64
  }

  /// Change of a customer that stays unfinished: its states before and after.
  private struct Change {
    var customer: Customer
    var from: CustomerState
    var state: CustomerState
    var due: Due?
  }

  /// Finished customers, with their states before this transaction and their receipts.
  private var finished: [(customer: Customer, from: CustomerState, receipt: Receipt)] = []
  /// Changes of unfinished customers.
  private var changes: [TicketNumber: Change] = [:]
  /// Attempts that ended without a receipt.
  private var attempts: [Attempt] = []
  /// Attempts after which customers became dead letters.
  private var fatal: [(ticket: TicketNumber, number: Int32)] = []

  var isEmpty: Bool { finished.isEmpty && changes.isEmpty && attempts.isEmpty && fatal.isEmpty }
  /// Due times of the customers that the commit delays.
  var dues: [TicketNumber: Due] { changes.compactMapValues(\.due) }
  /// Number of customers that the commit delays.
  var delayedCount: Int { changes.values.count { $0.state == .delayed } }
  /// Tickets that the commit finishes.
  var tickets: [TicketNumber] { finished.map(\.customer.ticket) }

  /// Adds a change. `dues` are due times from refused transactions, for changes that the caller stages again.
  mutating func add(_ change: StoreChange, clock: ServerClockOffset, dues: [TicketNumber: Due]) {
    switch change {
    case .finish(let customer, let state, let receipt):
      let former = changes.removeValue(forKey: customer.ticket)
      finished.append((customer, former?.from ?? state, receipt))
    case .update(let customer): note(customer, from: .waiting, to: .waiting)
    case .postpone(let customer, let dueAt):
      let known = dues[customer.ticket].flatMap { $0.own == dueAt ? $0 : nil }
      let due = known ?? Due(own: dueAt, serverTime: clock.due(dueAt, at: SystemClock.moment()))
      note(customer, from: .waiting, to: .delayed, due)
    case .bury(let customer):
      note(customer, from: .waiting, to: .dead)
      fatal.append((customer.ticket, customer.attempts))
    case .revive(let customer, let state): note(customer, from: state, to: .waiting)
    case .record(let attempt): attempts.append(attempt)
    case .released: preconditionFailure("a release has its own request")
    case .insert, .insertDelayed, .remember, .attach, .cancelAllCustomers:
      preconditionFailure("the database issues tickets and ends days, never a commit")
    }
  }

  /// Records a change of a customer's state, in place of an earlier one in this transaction.
  private mutating func note(
    _ customer: Customer, from: CustomerState, to state: CustomerState, _ due: Due? = nil
  ) {
    let former = changes[customer.ticket]
    changes[customer.ticket] = Change(
      customer: customer, from: former?.from ?? from, state: state, due: due)
  }

  // MARK: - Statements

  /// Makes the request for these changes as the commit with this number.
  ///
  /// - Parameters:
  ///   - former: the preceding commit, without which this one has no effect; 0 if it is known to be in the database.
  ///   - lanes: number of the lane of each line.
  func request(
    _ branch: PostgresBranch, number: Int64, after former: Int64, lanes: [Line: Int64],
    clock: ServerClockOffset
  ) -> PostgresRequest<Effect> {
    let commit = branch.fence + [.integer(number)]
    var segment: [PostgresCall]
    if finished.isEmpty {
      segment = [PostgresStatements.beginCommit.with(commit + [.integer(former)])]
    } else {
      var completion = PostgresCompletion()
      for entry in finished {
        completion.add(entry.receipt, at: Self.position(entry.customer, entry.from, lanes), clock: clock)
      }
      segment = [completion.statement.with(commit + [.integer(former)] + completion.values)]
    }
    let moved = Array(changes.values)
    if !moved.isEmpty {
      segment.append(PostgresStatements.change.with(commit + Self.columns(moved, lanes)))
    }
    if !attempts.isEmpty { segment.append(PostgresStatements.record.with(commit + attemptColumns(clock))) }
    if !fatal.isEmpty {
      segment.append(
        PostgresStatements.markFatal.with(
          commit + [.integers(fatal.map(\.ticket)), .integers(fatal.map { Int64($0.number) })]))
    }
    let owed = finished.filter { $0.receipt.outcome == .cancelled && $0.customer.service.usesStock }
    if !owed.isEmpty {
      segment.append(PostgresStatements.addReleases.with(commit + [.integers(owed.map(\.customer.ticket))]))
    }
    let count = segment.count
    return PostgresRequest(segment: segment) { results in
      guard results.count == count, let isFenced = results[0].boolean(0, 0).map({ !$0 }),
        let isGood = results[0].boolean(0, 1)
      else { return nil }
      if isFenced { return .fenced }
      if !isGood { return .predecessorMissing }
      let done = results[0].integers(0, 2) ?? []
      let changed = moved.isEmpty ? [] : results[1].integers(0, 0) ?? []
      return .committed(rejectedCompletions: self.withoutEffect(done: done, changed: changed))
    }
  }

  /// Tickets of this transaction that the database did not change: those in neither `done` (finished) nor `changed`.
  ///
  /// - Parameter changed: customers that were changed; nil if unknown. If it is nil, only finished customers are
  ///   examined.
  func withoutEffect(done: [TicketNumber], changed: [TicketNumber]?) -> [TicketNumber] {
    var without: [TicketNumber] = []
    if done.count < finished.count {
      let done = Set(done)
      without += finished.map(\.customer.ticket).filter { !done.contains($0) }
    }
    if let changed, changed.count < changes.count {
      let changed = Set(changed)
      without += changes.keys.filter { !changed.contains($0) }.sorted()
    }
    return without
  }

  /// Row key of a customer in this state: state, lane and ticket.
  private static func position(_ customer: Customer, _ state: CustomerState, _ lanes: [Line: Int64]) -> Int64
  {
    PostgresPosition.of(
      state: Int64(state.rawValue), lane: lanes[customer.line] ?? 0, ticket: customer.ticket)
  }

  /// Parameters of ``PostgresStatements/change`` for these changes.
  private static func columns(_ changes: [Change], _ lanes: [Line: Int64]) -> [PostgresValue] {
    /// The column of one value of every change.
    func column(_ value: (Change) -> Int64) -> PostgresValue { .integers(changes.map(value)) }
    return [
      column { position($0.customer, $0.from, lanes) }, column { Int64($0.customer.attempts) },
      column { Int64($0.customer.crashes) }, column { Int64($0.customer.failures) },
      column { Int64($0.customer.startedAttempts) }, column { $0.customer.isAttemptRunning ? 1 : 0 },
      column { Int64($0.state.rawValue) }, column { $0.due.map { max(1, $0.serverTime) } ?? 0 },
    ]
  }

  /// Parameters of ``PostgresStatements/record`` for the attempts.
  private func attemptColumns(_ clock: ServerClockOffset) -> [PostgresValue] {
    /// The column of one value of every attempt.
    func column(_ value: (Attempt) -> Int64) -> PostgresValue { .integers(attempts.map(value)) }
    return [
      column { $0.ticket }, column { Int64($0.number) }, column { Int64($0.window.service.number) },
      column { Int64($0.window.place) }, column { Int64($0.generation) }, column { Int64($0.pid) },
      column { clock.serverTime($0.startedAt) }, column { clock.serverTime($0.endedAt) },
      column { Int64($0.end.rawValue) }, column { $0.processEnd?.exitCode.map(Int64.init) ?? .min },
      column { $0.processEnd?.exitSignal.map(Int64.init) ?? .min },
      // PostgreSQL refuses zero bytes in text.
      .texts(attempts.map { $0.words.isEmpty ? nil : $0.words.replacing("\0", with: "\u{FFFD}") }),
    ]
  }
}
