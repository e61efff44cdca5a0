// Owns the sums of the ledger as they are made from the receipts. It changes nothing.
// A receipt is its transfer, so there is no second table that could disagree. Sums are made from two halves of each
// amount, because a sum of 64-bit amounts need not fit in 64 bits; both together are put into 128.

import BankModel
import QueueCore

extension SQLiteStore {
  /// The sums of the whole ledger over all days. See `QueueStore`.
  public func trialBalance() throws(StoreError) -> TrialBalance {
    TrialBalance(
      cash: try sums(of: LedgerAccount.cash.code...LedgerAccount.cash.code),
      loans: try sums(of: LedgerAccount.loans.code...LedgerAccount.loans.code),
      customers: try sums(of: 0...Int64.max))
  }

  /// One customer's account. See `QueueStore`.
  public func statement(of account: AccountNumber, limit: Int) throws(StoreError) -> AccountStatement {
    let sums = try sums(of: account...account)
    let latest = try database.withStatement(
      """
      SELECT sequence FROM receipt WHERE credit = ?1 OR debit = ?1 ORDER BY sequence DESC LIMIT ?2
      """, while: "reading an account"
    ) { row throws(StoreError) in
      row.bind(1, account)
      row.bind(2, Int64(max(0, limit)))
      var sequences: [Int64] = []
      while try row.step() { sequences.append(row.integer(0)) }
      return sequences
    }
    var receipts: [Receipt] = []
    for sequence in latest { receipts += try self.receipts(day: nil, after: sequence - 1, limit: 1) }
    return AccountStatement(sums: sums, latest: receipts)
  }

  private func sums(of accounts: ClosedRange<Int64>) throws(StoreError) -> LedgerSums {
    try settle()
    return try database.withStatement(
      """
      SELECT
        total(debit BETWEEN ?1 AND ?2) + total(credit BETWEEN ?1 AND ?2),
        coalesce(sum(amount >> 20) FILTER (WHERE debit BETWEEN ?1 AND ?2), 0),
        coalesce(sum(amount & 1048575) FILTER (WHERE debit BETWEEN ?1 AND ?2), 0),
        coalesce(sum(amount >> 20) FILTER (WHERE credit BETWEEN ?1 AND ?2), 0),
        coalesce(sum(amount & 1048575) FILTER (WHERE credit BETWEEN ?1 AND ?2), 0)
      FROM receipt WHERE debit IS NOT NULL
      """, while: "summing the ledger"
    ) { row throws(StoreError) in
      row.bind(1, accounts.lowerBound)
      row.bind(2, accounts.upperBound)
      guard try row.step() else { return LedgerSums() }
      return LedgerSums(
        debit: Self.whole(row.integer(1), row.integer(2)), credit: Self.whole(row.integer(3), row.integer(4)),
        transfers: row.integer(0))
    }
  }

  /// A sum from the sums of its upper and lower halves.
  private static func whole(_ upper: Int64, _ lower: Int64) -> WonSum {
    WonSum(upper) << 20 + WonSum(lower)
  }
}

extension MemoryStore {
  /// The sums of the whole ledger over all days. See `QueueStore`.
  public func trialBalance() throws(StoreError) -> TrialBalance {
    TrialBalance(
      cash: try sums { $0 == .cash }, loans: try sums { $0 == .loans },
      customers: try sums { if case .customer = $0 { true } else { false } })
  }

  /// One customer's account. See `QueueStore`.
  public func statement(of account: AccountNumber, limit: Int) throws(StoreError) -> AccountStatement {
    let wanted = LedgerAccount.customer(account)
    let latest = contents.receipts.reversed().filter {
      $0.transfer?.credit == wanted || $0.transfer?.debit == wanted
    }
    return AccountStatement(sums: try sums { $0 == wanted }, latest: Array(latest.prefix(max(0, limit))))
  }

  private func sums(_ isWanted: (LedgerAccount) -> Bool) throws(StoreError) -> LedgerSums {
    try beginReading()
    var sums = LedgerSums()
    for transfer in contents.receipts.compactMap(\.transfer) {
      if isWanted(transfer.debit) {
        sums.debit += WonSum(transfer.amount)
        sums.transfers += 1
      }
      if isWanted(transfer.credit) {
        sums.credit += WonSum(transfer.amount)
        sums.transfers += 1
      }
    }
    return sums
  }
}
