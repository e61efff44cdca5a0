// Operator commands and periodic tasks of a branch, each as a transaction with the interpretation of its result.
// Invariant: each operation may be repeated after an unknown outcome. The repetition returns the result of the first
// transmission, as far as it can be determined.
import BankModel
import Postgres
import QueueCore

enum StoreOperations {
  /// Result of one transmission of a request: its answer, or that the branch was fenced.
  typealias AttemptResult = StoreRequestQueue.AttemptResult

  /// Cancels a customer of any branch.
  static func cancel(_ ticket: TicketNumber) -> StoreRequestQueue.RequestBuilder {
    { branch, number, earlierAttempts in
      let values = branch.fence + [.integer(number), .integer(ticket)]
      return PostgresRequest(segment: [
        PostgresStatements.cancel.with(values), PostgresStatements.ticketState(.integer(ticket)),
      ]) { results in
        guard results.count == 2, let isEpochValid = results[0].boolean(0, 0) else { return nil }
        guard isEpochValid else { return .fenced }
        if results[0].has(0, 1) { return .answer(.done) }
        // The branch is compared as well, because another branch may have the same epoch and commit number.
        return .answer(
          ticketState(
            results[1], done: { $0 == branch.id && earlierAttempts.contains(epoch: $1, number: $2) }))
      }
    }
  }

  /// Returns a dead letter to its line.
  static func requeue(_ ticket: TicketNumber) -> StoreRequestQueue.RequestBuilder {
    { branch, number, earlierAttempts in
      let values = branch.fence + [.integer(number), .integer(ticket)]
      return PostgresRequest(segment: [
        PostgresStatements.lockDeadTicket(.integer(ticket)), PostgresStatements.lockBranchRows(),
        PostgresStatements.requeueTicket.with(values), PostgresStatements.ticketState(.integer(ticket)),
      ]) { results in
        guard results.count == 4, let count = results[2].integer(0, 0),
          let isEpochValid = results[2].boolean(0, 2)
        else { return nil }
        guard isEpochValid else { return .fenced }
        // If an earlier transmission has an unknown outcome and the customer is waiting now, the earlier transmission
        // counts as the one that has requeued the customer.
        let isRequeued = count > 0 || !earlierAttempts.unknown.isEmpty && results[3].integer(0, 0) == 1
        return .answer(isRequeued ? .done : ticketState(results[3], done: { _, _, _ in false }))
      }
    }
  }

  /// Reply for a ticket that the operation did not change. `done` returns true if an earlier transmission has written
  /// the receipt with this branch, epoch and commit number.
  private static func ticketState(_ rows: PostgresRows, done: (Int64?, Int64?, Int64?) -> Bool)
    -> StoreReply
  {
    if let state = rows.integer(0, 0).flatMap({ UInt8(exactly: $0) }).flatMap({ CustomerState(rawValue: $0) })
    {
      return .wrongState(state)
    }
    guard rows.has(0, 1) else { return .noSuchTicket }
    return done(rows.integer(0, 1), rows.integer(0, 2), rows.integer(0, 3)) ? .done : .wrongState(.done)
  }

  /// Stores the paused services of this branch.
  static func savePaused(_ services: [Service]) -> StoreRequestQueue.RequestBuilder {
    { branch, _, _ in
      let numbers = PostgresValue.integers(services.map { Int64($0.number) })
      return PostgresRequest(segment: [PostgresStatements.keepPaused.with(branch.fence + [numbers])]) {
        results in
        results.first.map { $0.count == 1 ? .answer(.done) : .fenced }
      }
    }
  }

  /// Deletes the rows of tickets from `stock_release`, because the branch's stock has released their reservations.
  static func released(_ tickets: [TicketOfDay]) -> StoreRequestQueue.RequestBuilder {
    { branch, _, _ in
      let values = branch.fence + [.integers(tickets.map(\.day)), .integers(tickets.map(\.ticket))]
      return PostgresRequest(segment: [PostgresStatements.released.with(values)]) { results in
        results.first?.boolean(0, 0).map { $0 ? .answer(.done) : .fenced }
      }
    }
  }

  /// Returns up to `limit` dead letters to their lines.
  static func requeueDead(limit: Int) -> StoreRequestQueue.RequestBuilder {
    { branch, number, _ in
      let limit = PostgresValue.integer(Int64(max(1, limit)))
      return returning([
        PostgresStatements.lockDead(limit), PostgresStatements.lockBranchRows(),
        PostgresStatements.requeueDeadLetters.with(branch.fence + [.integer(number), limit]),
      ])
    }
  }

  /// Returns due customers to their lines. `window` is the maximum age of the due time, in milliseconds.
  static func reviveDue(within window: Int64) -> StoreRequestQueue.RequestBuilder {
    { branch, number, _ in
      returning([
        PostgresStatements.lockDue(.integer(window)), PostgresStatements.lockBranchRows(),
        PostgresStatements.requeueDue.with(branch.fence + [.integer(number), .integer(window)]),
      ])
    }
  }

  /// Returns claimed customers that were not served.
  static func returnClaimed(lane: Int64, _ tickets: [TicketNumber]) -> StoreRequestQueue.RequestBuilder {
    { branch, _, _ in
      let request = branch.returnClaimed(lane: lane, tickets)
      return returning(request.segment)
    }
  }

  /// Request whose answer is the number of returned customers.
  private static func returning(_ segment: [PostgresCall]) -> PostgresRequest<AttemptResult> {
    PostgresRequest(segment: segment) { results in
      guard let rows = results.last, let count = rows.integer(0, 0), let isEpochValid = rows.boolean(0, 2)
      else {
        return nil
      }
      return isEpochValid ? .answer(.requeued(count)) : .fenced
    }
  }

  // MARK: - The day

  /// Starts the drain of the bank, on this day only, because a repetition after an unknown outcome may run after the
  /// day has ended.
  static func drain(_ day: BusinessDay) -> StoreRequestQueue.RequestBuilder {
    { branch, _, _ in
      PostgresRequest(segment: [PostgresStatements.drain.with(branch.fence + [.integer(day)])]) { results in
        results.first?.boolean(0, 0).map { $0 ? .answer(.done) : .fenced }
      }
    }
  }

  /// Ends a day without customers, and starts the next one. Cancels the customers before, if requested.
  static func endDay(_ day: BusinessDay, cancellingAll: Bool) -> StoreRequestQueue.RequestBuilder {
    { branch, number, _ in
      var segment: [PostgresCall] = [PostgresStatements.lockNumbers()]
      segment += PostgresSchema.partitions(day + 1).map { .once($0) }
      // The locks order this transaction after the claims in flight and before all later claims. A page inserted while
      // its day ends would not be deleted, and would block the customers of the next day. The deletion below waits for
      // a concurrent rescue, and so also deletes the ranges that the rescue has returned.
      segment += [PostgresStatements.lockIntake(), PostgresStatements.lockAllLanes()]
      if cancellingAll {
        segment.append(
          PostgresStatements.cancelAll.with(branch.fence + [.integer(number), .integer(day)]))
      }
      let place = segment.count
      segment.append(PostgresStatements.endDay.with(branch.fence + [.integer(day)]))
      segment += ["claim", "returned_range", "released_claim"].map {
        PostgresStatements.deleteClaims($0)(.integer(day))
      }
      return PostgresRequest(segment: segment) { results in
        guard results.count > place, let isEpochValid = results[place].boolean(0, 0),
          let present = results[place].integer(0, 1)
        else { return nil }
        guard isEpochValid else { return .fenced }
        return .answer(present > day ? .done : .notFinished)
      }
    }
  }

  /// Creates the partitions of a day.
  static func createPartitions(for day: BusinessDay) -> StoreRequestQueue.RequestBuilder {
    { _, _, _ in
      let request = SchemaMigration.partition(for: day)
      return PostgresRequest(segment: request.segment) { _ in .answer(.done) }
    }
  }

  // MARK: - Pruning

  /// Finds the ended days before one that have data to delete.
  static func prunable(before day: BusinessDay, _ found: @escaping ([Int64]) -> Void)
    -> StoreRequestQueue.RequestBuilder
  {
    { _, _, _ in
      PostgresRequest(segment: [PostgresStatements.prunable(.integer(day))]) { results in
        found(results.first?.integers(0, 0) ?? [])
        return .answer(.done)
      }
    }
  }

  /// Deletes the receipts, attempts and commits of these days, and the keys of all days before one. The transaction
  /// waits for a lock for a limited time, because writers wait while it waits.
  static func prune(_ days: [Int64], before day: BusinessDay) -> StoreRequestQueue.RequestBuilder {
    { _, _, _ in
      let tables = days.flatMap { day in PostgresSchema.partitioned.map { "bank.\($0)_\(day)" } }
      let drop: [PostgresCall] =
        tables.isEmpty ? [] : [.once("DROP TABLE IF EXISTS \(tables.joined(separator: ", "))")]
      return PostgresRequest(
        segment: [.once("SELECT set_config('lock_timeout', '1s', true)")] + drop
          + [PostgresStatements.pruneIntake(.integer(day))]
      ) { _ in .answer(.done) }
    }
  }

  /// Moves the next slices of a large request to their lines. The answer is `requeued(1)` if more slices are left,
  /// else `requeued(0)`.
  static func moveSlices(_ name: LargeRequestID) -> StoreRequestQueue.RequestBuilder {
    { _, _, _ in
      let request = PostgresBranch.moveSlices(name)
      return PostgresRequest(segment: request.segment) { results in
        request.read(results).map { .answer(.requeued($0 ? 1 : 0)) }
      }
    }
  }

  /// Deletes slices of the branch that belong to no row of `staged_batch`, except those of these requests.
  static func deleteSlices(besides kept: [(epoch: Int64, number: Int64)]) -> StoreRequestQueue.RequestBuilder
  {
    { branch, _, _ in
      let values: [PostgresValue] = [.integers(kept.map(\.epoch)), .integers(kept.map(\.number))]
      return PostgresRequest(segment: [PostgresStatements.deleteSlices.with(branch.fence + values)]) {
        $0.first?.boolean(0, 0).map { $0 ? .answer(.done) : .fenced }
      }
    }
  }

  /// Folds the counts of commits that are not queried any more: replaces their rows by one sum for each day and lane.
  static func fold(below number: Int64) -> StoreRequestQueue.RequestBuilder {
    { branch, _, _ in
      PostgresRequest(segment: [PostgresStatements.fold.with(branch.fence + [.integer(number)])]) { _ in
        .answer(.done)
      }
    }
  }
}
