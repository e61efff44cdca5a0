// Owns each thing that an operator can want of the shared books, and each that a branch does by itself, as a transaction and
// what its rows say.
// Invariant: each may be repeated after an outcome that is unknown, and tells then what the first time would have told, as far
// as that can be known.
import BankModel
import Postgres
import QueueCore

enum SharedOperations {
  typealias Verdict = SharedRequests.Verdict

  static func cancel(_ ticket: TicketNumber) -> SharedRequests.Make {
    { branch, number, tries in
      let values = branch.fence + [.integer(number), .integer(ticket)]
      return PostgresRequest(segment: [
        PostgresStatements.cancel.with(values), PostgresStatements.whereabouts(.integer(ticket)),
      ]) { results in
        guard results.count == 2, let goesOn = results[0].boolean(0, 0) else { return nil }
        guard goesOn else { return .fenced }
        if results[0].has(0, 1) { return .answer(.done) }
        // Another branch may have a commit of this number in an epoch of this number.
        return .answer(
          whereabouts(results[1], done: { $0 == branch.id && tries.contains(epoch: $1, number: $2) }))
      }
    }
  }

  static func requeue(_ ticket: TicketNumber) -> SharedRequests.Make {
    { branch, number, tries in
      let values = branch.fence + [.integer(number), .integer(ticket)]
      return PostgresRequest(segment: [
        PostgresStatements.lockDeadTicket(.integer(ticket)), PostgresStatements.holdBranches(),
        PostgresStatements.reviveTicket.with(values), PostgresStatements.whereabouts(.integer(ticket)),
      ]) { results in
        guard results.count == 4, let count = results[2].integer(0, 0), let goesOn = results[2].boolean(0, 2)
        else { return nil }
        guard goesOn else { return .fenced }
        // Who waits after a try whose outcome is unknown has been brought back by that.
        let isBack = count > 0 || !tries.unknown.isEmpty && results[3].integer(0, 0) == 1
        return .answer(isBack ? .done : whereabouts(results[3], done: { _, _, _ in false }))
      }
    }
  }

  private static func whereabouts(_ rows: PostgresRows, done: (Int64?, Int64?, Int64?) -> Bool)
    -> SharedAnswer
  {
    if let state = rows.integer(0, 0).flatMap({ UInt8(exactly: $0) }).flatMap({ CustomerState(rawValue: $0) })
    {
      return .wrongState(state)
    }
    guard rows.has(0, 1) else { return .noSuchTicket }
    return done(rows.integer(0, 1), rows.integer(0, 2), rows.integer(0, 3)) ? .done : .wrongState(.done)
  }

  /// These services are paused here, and no others.
  static func keepPaused(_ services: [Service]) -> SharedRequests.Make {
    { branch, _, _ in
      let numbers = PostgresValue.integers(services.map { Int64($0.number) })
      return PostgresRequest(segment: [PostgresStatements.keepPaused.with(branch.fence + [numbers])]) {
        results in
        results.first.map { $0.count == 1 ? .answer(.done) : .fenced }
      }
    }
  }

  /// The branch's stock has given back what it held for these.
  static func released(_ tickets: [TicketOfDay]) -> SharedRequests.Make {
    { branch, _, _ in
      let values = branch.fence + [.integers(tickets.map(\.day)), .integers(tickets.map(\.ticket))]
      return PostgresRequest(segment: [PostgresStatements.released.with(values)]) { results in
        results.first?.boolean(0, 0).map { $0 ? .answer(.done) : .fenced }
      }
    }
  }

  static func requeueDead(limit: Int) -> SharedRequests.Make {
    { branch, number, _ in
      let limit = PostgresValue.integer(Int64(max(1, limit)))
      return returning([
        PostgresStatements.lockDead(limit), PostgresStatements.holdBranches(),
        PostgresStatements.reviveDead.with(branch.fence + [.integer(number), limit]),
      ])
    }
  }

  /// Customers wait again who are due, and have been for no longer than so many milliseconds.
  static func reviveDue(within window: Int64) -> SharedRequests.Make {
    { branch, number, _ in
      returning([
        PostgresStatements.lockDue(.integer(window)), PostgresStatements.holdBranches(),
        PostgresStatements.reviveDue.with(branch.fence + [.integer(number), .integer(window)]),
      ])
    }
  }

  static func giveBack(lane: Int64, _ tickets: [TicketNumber]) -> SharedRequests.Make {
    { branch, _, _ in
      let request = branch.giveBack(lane: lane, tickets)
      return returning(request.segment)
    }
  }

  private static func returning(_ segment: [PostgresCall]) -> PostgresRequest<Verdict> {
    PostgresRequest(segment: segment) { results in
      guard let rows = results.last, let count = rows.integer(0, 0), let goesOn = rows.boolean(0, 2) else {
        return nil
      }
      return goesOn ? .answer(.requeued(count)) : .fenced
    }
  }

  // MARK: - The day

  /// It is asked again where the outcome is unknown, and the day may have ended by then: it is of that day alone.
  static func drain(_ day: BusinessDay) -> SharedRequests.Make {
    { branch, _, _ in
      PostgresRequest(segment: [PostgresStatements.drain.with(branch.fence + [.integer(day)])]) { results in
        results.first?.boolean(0, 0).map { $0 ? .answer(.done) : .fenced }
      }
    }
  }

  static func endDay(_ day: BusinessDay, cancellingEverybody: Bool) -> SharedRequests.Make {
    { branch, number, _ in
      var segment: [PostgresCall] = [PostgresStatements.lockNumbers()]
      segment += PostgresSchema.partitions(day + 1).map { .once($0) }
      // Behind the claims that are under way, and before all others: of a page that is put down beside the end of its day
      // nothing would be forgotten, and the next day's customers would stand before it for ever. What a rescue has taken out of
      // the claims is waited for where these are forgotten, and what it has given back is forgotten behind that.
      segment += [PostgresStatements.lockIntake(), PostgresStatements.lockAllLanes()]
      if cancellingEverybody {
        segment.append(
          PostgresStatements.cancelEverybody.with(branch.fence + [.integer(number), .integer(day)]))
      }
      let place = segment.count
      segment.append(PostgresStatements.endDay.with(branch.fence + [.integer(day)]))
      segment += ["claim", "returned", "former_claim"].map {
        PostgresStatements.forgetClaims($0)(.integer(day))
      }
      return PostgresRequest(segment: segment) { results in
        guard results.count > place, let goesOn = results[place].boolean(0, 0),
          let present = results[place].integer(0, 1)
        else { return nil }
        guard goesOn else { return .fenced }
        return .answer(present > day ? .done : .notFinished)
      }
    }
  }

  /// Makes room for the receipts of a day.
  static func makeRoom(for day: BusinessDay) -> SharedRequests.Make {
    { _, _, _ in
      let request = PostgresPreparation.partition(for: day)
      return PostgresRequest(segment: request.segment) { _ in .answer(.done) }
    }
  }

  // MARK: - What is old

  /// The days before one of which there is something to be dropped, as text.
  static func prunable(before day: BusinessDay, _ found: @escaping ([Int64]) -> Void) -> SharedRequests.Make {
    { _, _, _ in
      PostgresRequest(segment: [PostgresStatements.prunable(.integer(day))]) { results in
        found(results.first?.integers(0, 0) ?? [])
        return .answer(.done)
      }
    }
  }

  /// Drops the receipts and attempts of these days, and the keys of all days before one. Whoever is reading them is waited for,
  /// not long: behind this, others wait who write.
  static func prune(_ days: [Int64], before day: BusinessDay) -> SharedRequests.Make {
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

  /// The next slices of a large request come in: how many calls more are needed, at least.
  static func unpack(_ name: ArrivingName) -> SharedRequests.Make {
    { _, _, _ in
      let request = PostgresBranch.unpack(name)
      return PostgresRequest(segment: request.segment) { results in
        request.read(results).map { .answer(.requeued($0 ? 1 : 0)) }
      }
    }
  }

  /// Forgets slices for which no tickets were given, besides those of these requests of the branch.
  static func forgetArriving(besides kept: [(epoch: Int64, number: Int64)]) -> SharedRequests.Make {
    { branch, _, _ in
      let values: [PostgresValue] = [.integers(kept.map(\.epoch)), .integers(kept.map(\.number))]
      return PostgresRequest(segment: [PostgresStatements.forgetArriving.with(branch.fence + values)]) {
        $0.first?.boolean(0, 0).map { $0 ? .answer(.done) : .fenced }
      }
    }
  }

  /// Folds what nobody asks for any more.
  static func fold(below number: Int64) -> SharedRequests.Make {
    { branch, _, _ in
      PostgresRequest(segment: [PostgresStatements.fold.with(branch.fence + [.integer(number)])]) { _ in
        .answer(.done)
      }
    }
  }
}
