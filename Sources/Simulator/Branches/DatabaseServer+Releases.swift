// Stock releases of branches, and the end of an abandoned drain, in the simulated server, as in the
// production statements.
// Invariant: a possible stock order of a cancelled customer stays recorded until its branch removes the record, unless
// a planted bug forgets it.

#if HAS_POSTGRES
  import BankModel
  import Postgres
  import PostgresStore
  import Time

  extension DatabaseServer {
    /// The only branch that serves a lane; nil if all branches serve it.
    func owner(of lane: Int64) -> Int64? {
      lanes.first { $0.number == lane }.flatMap { $0.branch > 0 ? $0.branch : nil }
    }

    /// Records that the stock of a branch may have a reservation of a cancelled customer.
    func recordRelease(_ row: Row) {
      if let owner = owner(of: row.lane), !hasPlantedBug(.forgetsStockReleases) {
        releases[row.ticket] = (owner, row.issued)
      }
    }

    /// Records for each customer that a commit has cancelled that the stock of its branch may have a reservation.
    func recordRelease(_ call: PostgresCall) -> [[PostgresValue]] {
      for ticket in call.integers(3) {
        guard let receipt = receipts[ticket], receipt.owner == call.owner, receipt.commit == call.integer(2),
          receipt.outcome == 2
        else { continue }
        recordRelease(receipt.row)
      }
      return []
    }

    /// Deletes the records of these cancelled tickets, because the branch's stock has no reservation for them any more.
    func released(_ call: PostgresCall) -> [[PostgresValue]] {
      guard isPresent(call.owner) else { return [[.boolean(false)]] }
      for ticket in call.integers(3) where releases[ticket]?.branch == call.owner.branch {
        releases[ticket] = nil
      }
      return [[.boolean(true)]]
    }

    /// Returns the first tickets for which a branch must ask its stock.
    func lookAtReleases(_ call: PostgresCall) -> [[PostgresValue]] {
      releases.filter { $0.value.branch == call.integer(0) }.sorted { $0.key < $1.key }.prefix(256).map {
        [.integer(1), .integer($0.key), .integer($0.value.issued)]
      }
    }

    /// Ends the drain if the parameter is 1 and no other branch is open, so that the bank admits customers again.
    func endDrain(_ call: PostgresCall, _ transaction: TransactionState) -> [[PostgresValue]] {
      let isOpen = branches.contains { $0.id != transaction.fencing && !$0.isClosed && $0.expires > now }
      if call.integer(0) == 1, !isOpen { isDraining = false }
      return []
    }
  }
#endif
