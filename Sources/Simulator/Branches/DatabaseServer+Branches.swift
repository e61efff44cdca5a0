// Branches, their epochs and their claims in the simulated server.
// The methods model the effects of the production statements that the calls name; see their documentation.

#if HAS_POSTGRES
  import BankModel
  import Postgres
  import PostgresStore
  import Time

  extension DatabaseServer {
    // MARK: - The lease

    /// Starts an epoch of a branch and its lease. Returns no row if another home holds the name.
    func join(_ call: PostgresCall, _ transaction: inout TransactionState) -> [[PostgresValue]] {
      let name = call.text(0) ?? ""
      var branch =
        branches.first { $0.name == name } ?? Branch(id: newBranch(), name: name, expires: now)
      let proof = call.text(4) ?? ""
      guard branch.epoch == 0 || branch.proof == proof || branch.isClosed || branch.expires <= now else {
        return []
      }
      branch.proof = proof
      branch.epoch = max(branch.epoch, call.integer(3)) + 1
      extend(&branch, call.integer(1))
      branch.host = call.text(2) ?? ""
      branch.isClosed = false
      put(branch)
      transaction.fencing = branch.id
      world.network.release(name)
      let owner = BranchOwner(branch: branch.id, epoch: branch.epoch)
      checker.joined(owner, until: now + .milliseconds(call.integer(1)))
      return [[.integer(branch.id), .integer(branch.epoch)]]
    }

    /// Returns epoch, host and lease end of the branch that holds this name, unless it is closed.
    func nameHolder(_ call: PostgresCall) -> [[PostgresValue]] {
      branches.filter { $0.name == call.text(0) && !$0.isClosed }.map {
        [.integer($0.epoch), .text($0.host), .integer($0.expires.nanoseconds / 1_000)]
      }
    }

    /// Sets the end of a branch's lease to this many milliseconds from now.
    private func extend(_ branch: inout Branch, _ milliseconds: Int64) {
      branch.expires = now + .milliseconds(milliseconds)
      branch.expiresByCalendar = (nowMilliseconds + branch.expires.since(now).milliseconds) * 1_000
    }

    private func put(_ branch: Branch) {
      if let index = branches.firstIndex(where: { $0.id == branch.id }) {
        branches[index] = branch
      } else {
        branches.append(branch)
      }
    }

    /// Extends the lease of a branch. Returns the number of its transactions that the previous renewal has stored, or
    /// no row if the epoch has ended.
    func renew(_ call: PostgresCall) -> [[PostgresValue]] {
      guard var branch = branches.first(where: { $0.id == call.integer(0) && $0.epoch == call.integer(1) })
      else {
        return []
      }
      let before = branch.commits
      extend(&branch, call.integer(2))
      (branch.windows, branch.commits) = (call.integer(3), call.integer(4))
      put(branch)
      checker.renewed(call.owner, until: now + .milliseconds(call.integer(2)))
      return [[.integer(before)]]
    }

    func paused(_ call: PostgresCall) -> [[PostgresValue]] {
      branches.first { $0.name == call.text(0) }?.paused.map { [.integer($0)] } ?? []
    }

    func savePaused(_ call: PostgresCall) -> [[PostgresValue]] {
      guard var branch = branches.first(where: { $0.id == call.integer(0) && $0.epoch == call.integer(1) })
      else { return [] }
      branch.paused = call.integers(2)
      put(branch)
      return [[.integer(branch.id)]]
    }

    /// Returns the branches to be rescued: their lease has run out, and they have claims or slices without tickets
    /// left.
    func expired() -> [[PostgresValue]] {
      branches.filter { branch in
        branch.expires < now
          && (hasLeftSlices(branch.id)
            || claims.contains { $0.owner == BranchOwner(branch: branch.id, epoch: branch.epoch) })
      }.map { [.integer($0.id), .integer($0.epoch), .text($0.name)] }
    }

    /// Ends the epoch of a branch whose lease has run out, so that its later writes have no effect.
    func fenceExpired(_ call: PostgresCall, _ transaction: inout TransactionState) -> [[PostgresValue]] {
      guard var branch = branches.first(where: { $0.id == call.integer(0) && $0.epoch == call.integer(1) }),
        call.integer(2) == 0 ? branch.expires < now : branch.expiresByCalendar == call.integer(2)
      else { return [] }
      branch.epoch += 1
      (branch.expires, branch.expiresByCalendar) = (MonotonicTime(nanoseconds: 0), 0)
      put(branch)
      transaction.fencing = branch.id
      world.statistics.rescues += 1
      world.network.release(branch.name)
      checker.fenced(call.owner)
      return [[.integer(branch.id)]]
    }

    /// Ends the branch's own epoch, and records the branch as closed.
    func leave(_ call: PostgresCall, _ transaction: inout TransactionState) -> [[PostgresValue]] {
      guard var branch = branches.first(where: { $0.id == call.integer(0) && $0.epoch == call.integer(1) })
      else {
        return []
      }
      branch.epoch += 1
      (branch.expires, branch.expiresByCalendar) = (MonotonicTime(nanoseconds: 0), 0)
      (branch.isClosed, branch.windows) = (true, 0)
      put(branch)
      transaction.fencing = branch.id
      checker.left(call.owner)
      return [[.integer(branch.id)]]
    }

    /// Makes the claims of the epoch that this transaction has ended claimable again, and returns their ranges.
    func giveBack(_ transaction: TransactionState) -> [[PostgresValue]] {
      guard let id = transaction.fencing, let branch = branches.first(where: { $0.id == id }) else {
        return []
      }
      var rows: [[PostgresValue]] = []
      claims.removeAll { claim in
        guard claim.owner.branch == id, claim.owner.epoch < branch.epoch else { return false }
        let there = tickets(in: claim.lane, claim.first...claim.last)
        guard !there.isEmpty else { return false }
        rows.append([.integer(claim.lane), .integer(claim.first), .integer(claim.last)])
        checker.returned(there, of: claim.owner)
        if bugOccurs(.losesReturnedTickets) { return true }
        returned.append(ReturnedRange(lane: claim.lane, first: claim.first, last: claim.last))
        return !hasPlantedBug(.rescuesTwice)
      }
      checker.claimsReturned(of: id, before: branch.epoch)
      return rows
    }

    /// Notifies all branches of the lanes with returned customers.
    func notifyReturned() -> [[PostgresValue]] {
      for lane in Set(returned.map(\.lane)).sorted() { world.network.notify("\(lane)") }
      return [[.integer(0)]]
    }

    // MARK: - Claiming

    /// Waiting tickets of a lane within a range, in order.
    func tickets(in lane: Int64, _ range: ClosedRange<Int64>) -> [Int64] {
      customers.values.filter { $0.state == 1 && $0.lane == lane && range.contains($0.ticket) }.map(\.ticket)
        .sorted()
    }

    /// The last ticket of a lane in any claim or returned range.
    func front(_ lane: Int64) -> Int64 {
      max(
        claims.lazy.filter { $0.lane == lane }.map(\.last).max() ?? 0,
        returned.lazy.filter { $0.lane == lane }.map(\.last).max() ?? 0)
    }

    /// True if a lane has customers that a branch can claim.
    func hasUnclaimed(_ lane: Int64) -> Bool {
      if returned.contains(where: { $0.lane == lane }) { return true }
      let front = front(lane)
      let gate = gate(lane)
      return customers.values.contains {
        $0.state == 1 && $0.lane == lane && $0.ticket > front && $0.ticket < gate
      }
    }

    /// True if the epoch is valid, or a planted bug ignores that.
    private func mayClaim(_ owner: BranchOwner) -> Bool {
      isPresent(owner) || hasPlantedBug(.claimsWithoutEpoch)
    }

    /// Claims the first returned ranges of a lane, and returns their customers.
    func claimReturned(_ call: PostgresCall) -> [[PostgresValue]] {
      guard mayClaim(call.owner) else { return [] }
      let lane = call.integer(2)
      let ranges = returned.filter { $0.lane == lane }.sorted { $0.first < $1.first }.prefix(256)
      var through: Int64 = 0
      var taken: [Int64] = []
      for (index, range) in ranges.enumerated() {
        through += range.last - range.first + 1
        guard index == 0 || through <= call.integer(3) else { continue }
        returned.removeAll { $0.lane == lane && $0.first == range.first }
        claims.append(
          Claim(
            lane: lane, first: range.first, last: range.last, owner: call.owner, number: call.integer(4)))
        taken += tickets(in: lane, range.first...range.last)
      }
      checker.claimed(taken.sorted(), by: call.owner, isNext: false)
      return underLock(taken)
    }

    /// Claims the next page of a lane, after all earlier claims, and returns its customers.
    func claimNext(_ call: PostgresCall) -> [[PostgresValue]] {
      guard mayClaim(call.owner) else { return [] }
      let lane = call.integer(2)
      var front = front(lane)
      if bugOccurs(.claimsOverlap) { front = max(0, front - 2) }
      let gate = gate(lane)
      let open = tickets(in: lane, (front + 1)...Int64.max).filter { $0 < gate }
      var page = Array(open.prefix(Int(call.integer(3))))
      if hasPlantedBug(.claimsFromEnd) { page = Array(open.suffix(Int(call.integer(3)))) }
      guard let first = page.first, let last = page.last else { return [] }
      claims.append(
        Claim(lane: lane, first: first, last: last, owner: call.owner, number: call.integer(4)))
      checker.claimed(page, by: call.owner, isNext: true)
      world.statistics.pages += 1
      return underLock(page)
    }

    /// Returns the customers of a page, or a row with the position -1 in their place, as production does for a page
    /// that is too large to be sent under the lane's lock. Here some lengths count as too large.
    private func underLock(_ tickets: [Int64]) -> [[PostgresValue]] {
      guard !tickets.isEmpty, tickets.count % 3 == 0 else { return page(tickets) }
      return [[.integer(-1)] + Array(repeating: .integer(0), count: 7) + [.boolean(false), .null, .null]]
    }

    /// Returns these customers as rows, with the columns that the answer to a claim has.
    private func page(_ tickets: [Int64]) -> [[PostgresValue]] {
      tickets.sorted().compactMap { customers[$0] }.map { row in
        [
          .integer(row.position), .integer(row.amount), .integer(row.account), .integer(row.issued),
          .integer(row.attempts), .integer(row.crashes), .integer(row.failures),
          .integer(row.startedAttempts),
          .boolean(row.isAttemptRunning), row.itemName.map { .text($0) } ?? .null,
          row.payload.map { .bytes($0) } ?? .null,
        ]
      }
    }

    /// Returns the claims that the branch has made under the claim number in the call.
    private func claims(_ call: PostgresCall) -> [Claim] {
      claims.filter { $0.owner == call.owner && $0.number == call.integer(2) }
    }

    /// Returns whether the branch's claim with the number in the call was executed.
    func hasClaimed(_ call: PostgresCall) -> [[PostgresValue]] { [[.boolean(!claims(call).isEmpty)]] }

    /// Returns the waiting customers of the claim with the number in the call.
    func claimed(_ call: PostgresCall) -> [[PostgresValue]] {
      page(claims(call).flatMap { tickets(in: $0.lane, $0.first...$0.last) })
    }

    // MARK: - Returning

    /// Returns customers to the shared queue: due ones, dead letters, and those that a branch has not served.
    func returnToQueue(_ call: PostgresCall) -> [[PostgresValue]] {
      guard isPresent(call.owner) else { return [[.integer(0), .integer(0), .boolean(false)]] }
      let kind = call.statement.name
      let back = returningTickets(kind, call)
      var counts: [Int64: Int64] = [:]
      var lanes: Set<Int64> = []
      var told: Set<Int64> = []
      for lane in Set(back.compactMap { customers[$0]?.lane }) where !hasUnclaimed(lane) { told.insert(lane) }
      let fronts = Dictionary(
        uniqueKeysWithValues: Set(back.compactMap { customers[$0]?.lane }).map { ($0, front($0)) })
      for ticket in back.sorted() {
        guard var row = customers[ticket] else { continue }
        let former = row.state
        if kind == "bank-return-unserved" {
          guard claims.contains(where: { $0.holds(row) && $0.owner == call.owner }) else { continue }
        } else {
          row.state = 1
          if !hasPlantedBug(.returnsDueTwice) { row.due = nil }
          if kind != "bank-return-due" {
            (row.crashes, row.failures, row.startedAttempts, row.isAttemptRunning) = (0, 0, 0, false)
          }
          customers[ticket] = row
          checker.customerReturned(ticket, from: former, by: call.owner, at: nowMilliseconds)
        }
        counts[row.lane, default: 0] += 1
        lanes.insert(row.lane)
        removeFromClaim(row)
        let isBehind = ticket <= fronts[row.lane] ?? 0
        let isBack = returned.contains { $0.lane == row.lane && $0.first <= ticket && ticket <= $0.last }
        if isBehind, !isBack, !(hasPlantedBug(.losesRequeuedTickets) && kind != "bank-return-due") {
          returned.append(ReturnedRange(lane: row.lane, first: ticket, last: ticket))
        }
        guard kind != "bank-return-unserved" else { continue }
        var change = LaneCounts(waiting: 1)
        if former == 2 { change.delayed = -1 } else if former == 3 { change.dead = -1 }
        add(change, call.owner, call.integer(2), lane: row.lane)
      }
      for lane in lanes.intersection(told).sorted() { world.network.notify("\(lane)") }
      return [[.integer(counts.values.reduce(0, +)), .integer(0), .boolean(true)]]
    }

    /// Returns the tickets that a statement returns: due ones, dead letters, or those in its parameters.
    private func returningTickets(_ kind: String, _ call: PostgresCall) -> [Int64] {
      let rows = customers.values.sorted { $0.ticket < $1.ticket }
      switch kind {
      case "bank-return-due":
        let now = nowMilliseconds + (hasPlantedBug(.returnsDueEarly) ? 60_000 : 0)
        let first = nowMilliseconds - call.integer(3)
        return rows.filter { $0.due.map { $0 <= now && $0 > first } ?? false }.map(\.ticket)
      case "bank-return-dead":
        return Array(rows.filter { $0.state == 3 }.map(\.ticket).prefix(Int(call.integer(3))))
      case "bank-return-dead-ticket":
        return rows.filter { $0.state == 3 && $0.ticket == call.integer(3) }.map(\.ticket)
      default: return call.integers(3).map { PostgresPosition.ticket($0) }
      }
    }

    /// Removes a ticket from the claim that contains it, which may split the claim.
    private func removeFromClaim(_ row: Row) {
      guard let index = claims.firstIndex(where: { $0.holds(row) }) else { return }
      let claim = claims.remove(at: index)
      var (before, after) = (claim, claim)
      (before.last, after.first) = (row.ticket - 1, row.ticket + 1)
      claims += [before, after].filter { $0.first <= $0.last }
    }
  }

  extension DatabaseServer.Claim {
    /// True if the customer is within this claim.
    func holds(_ row: DatabaseServer.Row) -> Bool {
      lane == row.lane && first <= row.ticket && row.ticket <= last
    }
  }
#endif
