// Transactions of a branch, tickets, and an operator's requests in the simulated server.
// Invariant: as in the production statements, a write for an epoch that has ended has no effect, and a commit has no
// effect without the one before it. Planted bugs can break this.

#if HAS_POSTGRES
  import BankModel
  import Postgres
  import PostgresStore
  import Time

  extension DatabaseServer {
    /// Adds a change of a lane's counts to those of a commit, and records the commit as stored.
    func add(_ change: LaneCounts, _ owner: BranchOwner, _ commit: Int64, lane: Int64) {
      laneCounts[LaneCountsKey(owner: owner, commit: commit, day: day, lane: lane), default: LaneCounts()] +=
        change
      commits.insert(Commit(owner: owner, number: commit))
    }

    /// True if the epoch is valid, or a planted bug ignores that.
    private func mayCommit(_ owner: BranchOwner) -> Bool {
      isPresent(owner) || hasPlantedBug(.completesWithoutEpoch)
    }

    /// Starts a commit. Returns `fence`, true if the epoch is still valid, and `good`, true if the preceding commit is
    /// stored too, or if there is none. Throws a unique violation if this commit is already stored.
    private func begin(_ call: PostgresCall) throws(SQLError) -> (fence: Bool, good: Bool) {
      checker.hasSent(call.owner, isPresent: isPresent(call.owner))
      guard mayCommit(call.owner) else { return (false, false) }
      let former = call.integer(3)
      guard former == 0 || commits.contains(Commit(owner: call.owner, number: former)) else {
        return (true, false)
      }
      let commit = Commit(owner: call.owner, number: call.integer(2))
      if commits.contains(commit) {
        checker.repeated(call.owner, call.integer(2))
        throw SQLError(
          state: "23505", message: "duplicate key value violates unique constraint \"tally_pkey\"")
      }
      commits.insert(commit)
      return (true, true)
    }

    /// Starts a commit that finishes no customer.
    func beginCommit(_ call: PostgresCall) throws(SQLError) -> [[PostgresValue]] {
      let (fence, good) = try begin(call)
      return [[.boolean(fence), .boolean(good), .null]]
    }

    /// Finishes customers: each one that still exists gets its receipt. Returns the tickets of these.
    func complete(_ call: PostgresCall) throws(SQLError) -> [[PostgresValue]] {
      let (fence, good) = try begin(call)
      guard good else { return [[.boolean(fence), .boolean(false), .null]] }
      var done: [Int64] = []
      var changes: [Int64: LaneCounts] = [:]
      let positions = call.integers(4)
      for (index, position) in positions.enumerated() {
        let ticket = PostgresPosition.ticket(position)
        checker.completionRequested(ticket, by: call.owner)
        guard let row = customers[ticket], row.position == position else { continue }
        customers[ticket] = nil
        let outcome = call.integers(5)[index]
        receipts[ticket] = StoredReceipt(
          owner: call.owner, commit: call.integer(2), outcome: outcome, row: row)
        done.append(ticket)
        checker.finished(row, by: call.owner, outcome: outcome, attempts: call.integers(9)[index])
        changes[row.lane, default: LaneCounts()] += LaneCounts(leaving: row.state)
        changes[row.lane, default: LaneCounts()] += LaneCounts(outcome: outcome)
      }
      // If no customer is missing, the branch's own sums for each lane apply.
      let sums = call.values.count - 7
      if call.integer(sums) == Int64(done.count) {
        changes = [:]
        for (index, lane) in call.integers(sums + 1).enumerated() {
          let counts = (2...6).map { call.integers(sums + $0)[index] }
          changes[lane] = LaneCounts(
            waiting: counts[0], delayed: counts[1], dead: counts[2], served: counts[3], short: counts[4])
        }
      }
      for (lane, change) in changes { add(change, call.owner, call.integer(2), lane: lane) }
      world.statistics.commits += 1
      if done.count < positions.count { world.statistics.rejectedCompletions += 1 }
      if hasPlantedBug(.hidesRejectedCompletions) { done = positions.map { PostgresPosition.ticket($0) } }
      return [[.boolean(true), .boolean(true), done.isEmpty ? .null : .integers(done)]]
    }

    /// True if the first statement of this commit took effect, so that its further statements may write.
    private func isAttemptRunning(_ call: PostgresCall) -> Bool {
      commits.contains(Commit(owner: call.owner, number: call.integer(2)))
    }

    /// Delays customers, makes them dead letters, or stores their attempts. Returns the tickets of those that exist.
    func change(_ call: PostgresCall) -> [[PostgresValue]] {
      guard isAttemptRunning(call) else { return [[.null]] }
      var changed: [Int64] = []
      for (index, position) in call.integers(3).enumerated() {
        let ticket = PostgresPosition.ticket(position)
        guard var row = customers[ticket], row.position == position else { continue }
        row.attempts = call.integers(4)[index]
        (row.crashes, row.failures) = (call.integers(5)[index], call.integers(6)[index])
        (row.startedAttempts, row.isAttemptRunning) = (call.integers(7)[index], call.integers(8)[index] == 1)
        row.state = call.integers(9)[index]
        let due = call.integers(10)[index]
        row.due = due == 0 ? nil : due
        if hasPlantedBug(.delaysByLocalClock), let due = row.due {
          let name = branches.first { $0.id == call.owner.branch }?.name ?? ""
          row.due = due + world.calendarError(of: name) - calendarError
        }
        customers[ticket] = row
        changed.append(ticket)
        checker.changed(ticket, by: call.owner, to: row.state, attempts: row.attempts, due: row.due)
        if row.state == 2 {
          add(LaneCounts(waiting: -1, delayed: 1), call.owner, call.integer(2), lane: row.lane)
        }
        if row.state == 3 {
          add(LaneCounts(waiting: -1, dead: 1), call.owner, call.integer(2), lane: row.lane)
        }
      }
      world.statistics.commits += 1
      return [[changed.isEmpty ? .null : .integers(changed)]]
    }

    /// Records attempts that ended without a receipt.
    func record(_ call: PostgresCall) -> [[PostgresValue]] {
      guard isAttemptRunning(call) else { return [] }
      for (ticket, number) in zip(call.integers(3), call.integers(4)) {
        attempts.insert([day, ticket, number])
      }
      return []
    }

    /// Returns those of the given commits that are stored.
    func commitsKept(_ call: PostgresCall) -> [[PostgresValue]] {
      let kept = call.integers(2).filter { commits.contains(Commit(owner: call.owner, number: $0)) }
      return [[kept.isEmpty ? .null : .integers(kept)]]
    }

    /// Returns the tickets that the given commits have finished.
    func receiptsOfCommits(_ call: PostgresCall) -> [[PostgresValue]] {
      var tickets: [Int64: [Int64]] = [:]
      for (ticket, receipt) in receipts.sorted(by: { $0.key < $1.key })
      where receipt.owner == call.owner && call.integers(2).contains(receipt.commit) {
        tickets[receipt.commit, default: []].append(ticket)
      }
      return tickets.sorted { $0.key < $1.key }.map { [.integer($0.key), .integers($0.value)] }
    }

    // MARK: - Requests of an operator

    /// Cancels a customer, notifies all branches, and returns the state that it had; null if there is none.
    func cancel(_ call: PostgresCall) -> [[PostgresValue]] {
      guard isPresent(call.owner) else { return [[.boolean(false), .null]] }
      let ticket = call.integer(3)
      guard let row = customers.removeValue(forKey: ticket) else {
        return [[.boolean(true), hasPlantedBug(.cancelsWithoutEffect) ? .integer(1) : .null]]
      }
      receipts[ticket] = StoredReceipt(owner: call.owner, commit: call.integer(2), outcome: 2, row: row)
      checker.cancelled(ticket, by: call.owner)
      world.network.notify("out \(day) \(ticket)")
      recordRelease(row)
      var change = LaneCounts(leaving: row.state)
      change.cancelled = 1
      add(change, call.owner, call.integer(2), lane: row.lane)
      return [[.boolean(true), .integer(row.state)]]
    }

    /// Returns the cancelled tickets in the claims of this branch.
    func cancelledElsewhere(_ call: PostgresCall) -> [[PostgresValue]] {
      let tickets = receipts.values.filter { receipt in
        receipt.outcome == 2 && claims.contains { $0.owner == call.owner && $0.holds(receipt.row) }
      }
      return [[tickets.isEmpty ? .null : .integers(tickets.map(\.row.ticket).sorted())]]
    }

    /// Returns the state of a ticket's customer, and the commit that wrote its receipt.
    func ticketState(_ call: PostgresCall) -> [[PostgresValue]] {
      let state = customers[call.integer(0)].map { PostgresValue.integer($0.state) } ?? .null
      guard let receipt = receipts[call.integer(0)] else { return [[state, .null, .null, .null]] }
      return [
        [state, .integer(receipt.owner.branch), .integer(receipt.owner.epoch), .integer(receipt.commit)]
      ]
    }

    // MARK: - The day

    /// Starts the drain of the day, and notifies all branches.
    func drain(_ call: PostgresCall) -> [[PostgresValue]] {
      guard isPresent(call.owner) else { return [[.boolean(false), .integer(0)]] }
      guard call.integer(2) == day else { return [[.boolean(true), .integer(0)]] }
      isDraining = true
      world.network.notify("")
      return [[.boolean(true), .integer(1)]]
    }

    /// Ends a drain if no branch is left that could end the day, so that the day continues.
    func continueDay(_ call: PostgresCall) -> [[PostgresValue]] {
      let holds = branches.contains { !$0.isClosed && ($0.name == call.text(0) || $0.expires > now) }
      guard isDraining, !holds else { return [] }
      isDraining = false
      return [[.integer(day)]]
    }

    /// Ends the day if no customer is left, and starts the next one.
    func endDay(_ call: PostgresCall, _ transaction: inout TransactionState) -> [[PostgresValue]] {
      let isThere = isPresent(call.owner)
      if isThere, call.integer(2) == day, customers.isEmpty && batches.isEmpty || hasPlantedBug(.endsDayEarly)
      {
        checker.dayEnds()
        day += 1
        isDraining = false
        transaction.hasEndedDay = true
        world.network.notify("")
      }
      return [[.boolean(isThere), .integer(day), .integer(0)]]
    }

    /// Runs `body`, which deletes rows of the ended day, if this transaction has ended a day.
    func forget(_ transaction: TransactionState, _ body: () -> Void) -> [[PostgresValue]] {
      if transaction.hasEndedDay { body() }
      return []
    }

    // MARK: - Queries

    /// Returns the state of the day for the poll of a branch.
    func lookAtDay(_ call: PostgresCall) -> [[PostgresValue]] {
      let first = nowMilliseconds - call.integer(0)
      let due = customers.values.compactMap(\.due).filter { $0 > first }.min()
      let unclaimed = customers.values.filter { row in
        row.state == 1 && !claims.contains { $0.holds(row) }
      }
      return [
        [
          .integer(day), .integer(1_000), .boolean(isDraining), .integer(nowMilliseconds),
          due.map { .integer($0) } ?? .null, .integer(Int64(ServiceName.branch.count)),
          .integer(Self.number), .integer(lastTicket),
          unclaimed.map(\.issued).min().map { .integer($0) } ?? .null,
        ]
      ]
    }

    /// Returns each lane, with true if it has customers that a branch can claim.
    func lookAtLanes() -> [[PostgresValue]] {
      lanes.map {
        [
          .integer($0.number), .integer($0.service), .integer($0.priority), .integer($0.branch),
          .boolean(hasUnclaimed($0.number)),
        ]
      }
    }

    /// Returns the counts of the day by branch and lane.
    func lookAtNumbers() -> [[PostgresValue]] {
      var sums = pendingCounts()
      for (key, counts) in laneCounts where key.day == day && key.lane > 0 {
        sums[[key.owner.branch, key.lane], default: LaneCounts()] += counts
      }
      return sums.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { key, sum in
        let counts = [sum.issued, sum.waiting, sum.delayed, sum.dead, sum.served, sum.short, sum.cancelled]
        return (key + counts).map { .integer($0) }
      }
    }

    /// Returns the last ended day with its numbers of served and of out-of-stock customers.
    func lookAtEnded() -> [[PostgresValue]] {
      var sum = LaneCounts()
      for (key, counts) in laneCounts where key.day == day - 1 && key.lane > 0 { sum += counts }
      return [[.integer(day - 1), .integer(sum.served + sum.short), .integer(sum.short)]]
    }

    /// Describes a lane whose counts differ from its rows; nil if there is none.
    func miscounted() -> String? {
      var sums: [Int64: LaneCounts] = [:]
      for (key, counts) in laneCounts where key.lane > 0 { sums[key.lane, default: LaneCounts()] += counts }
      var rows: [Int64: LaneCounts] = [:]
      for row in customers.values {
        var here = LaneCounts(issued: 1)
        switch row.state {
        case 1: here.waiting = 1
        case 2: here.delayed = 1
        default: here.dead = 1
        }
        rows[row.lane, default: LaneCounts()] += here
      }
      for receipt in receipts.values {
        rows[receipt.row.lane, default: LaneCounts()] += LaneCounts(issued: 1)
        rows[receipt.row.lane, default: LaneCounts()] += LaneCounts(outcome: receipt.outcome)
      }
      for lane in Set(sums.keys).union(rows.keys).sorted() {
        let (counted, are) = (sums[lane] ?? LaneCounts(), rows[lane] ?? LaneCounts())
        if counted != are { return "lane \(lane): counted \(counted), actual \(are)" }
      }
      return nil
    }

    /// Returns all branches with their epochs and leases.
    func lookAtBranches() -> [[PostgresValue]] {
      branches.map { branch in
        [
          .integer(branch.id), .text(branch.name), .text(branch.host), .integer(branch.epoch),
          .boolean(branch.isClosed), .integer(branch.windows), .integer(branch.commits),
          .integer(max(0, branch.expires.since(now).milliseconds)),
          branch.expiresByCalendar == 0 ? .null : .integer(branch.expiresByCalendar),
        ]
      }
    }
  }
#endif
