// Owns what the simulated server does about the stocks of branches, and about a drain that has come to nothing: as the production
// statements. Invariant: whatever may be put by for somebody who was cancelled is noted until its branch takes the note out.

#if HAS_POSTGRES
  import BankModel
  import Postgres
  import PostgresStore
  import Time

  extension BooksServer {
    /// The branch that alone serves a lane; nil for all.
    func owner(of lane: Int64) -> Int64? {
      lanes.first { $0.number == lane }.flatMap { $0.branch > 0 ? $0.branch : nil }
    }

    /// Notes what may be put by for somebody who was cancelled.
    func owe(_ row: Row) {
      if let owner = owner(of: row.lane), !makes(.forgetsWhatIsOwed) {
        releases[row.ticket] = (owner, row.issued)
      }
    }

    /// The same of those whom a commit has cancelled.
    func owe(_ call: PostgresCall) -> [[PostgresValue]] {
      for ticket in call.integers(3) {
        guard let receipt = receipts[ticket], receipt.owner == call.owner, receipt.commit == call.integer(2),
          receipt.outcome == 2
        else { continue }
        owe(receipt.row)
      }
      return []
    }

    func released(_ call: PostgresCall) -> [[PostgresValue]] {
      guard isPresent(call.owner) else { return [[.boolean(false)]] }
      for ticket in call.integers(3) where releases[ticket]?.branch == call.owner.branch {
        releases[ticket] = nil
      }
      return [[.boolean(true)]]
    }

    func lookAtReleases(_ call: PostgresCall) -> [[PostgresValue]] {
      releases.filter { $0.value.branch == call.integer(0) }.sorted { $0.key < $1.key }.prefix(256).map {
        [.integer(1), .integer($0.key), .integer($0.value.issued)]
      }
    }

    /// Where nobody drains the bank any more it takes customers again.
    func endDrain(_ call: PostgresCall, _ turn: Turn) -> [[PostgresValue]] {
      let isOpen = branches.contains { $0.id != turn.fencing && !$0.isClosed && $0.expires > now }
      if call.integer(0) == 1, !isOpen { isDraining = false }
      return []
    }
  }
#endif
