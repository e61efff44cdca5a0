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
      row.bindAll(account, Int64(max(0, limit)))
      return try row.all { $0.integer(0) }
    }
    var receipts: [Receipt] = []
    for sequence in latest { receipts += try bareReceipts(after: sequence - 1, limit: 1) }
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
      row.bindAll(accounts.lowerBound, accounts.upperBound)
      return try row.first {
        LedgerSums(
          debit: Self.whole($0.integer(1), $0.integer(2)), credit: Self.whole($0.integer(3), $0.integer(4)),
          transfers: $0.integer(0))
      } ?? LedgerSums()
    }
  }

  private static func whole(_ upper: Int64, _ lower: Int64) -> WonSum { WonSum(upper) << 20 + WonSum(lower) }
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
    let bare = latest.prefix(max(0, limit)).map { receipt in
      var receipt = receipt
      receipt.result = nil
      return receipt
    }
    return AccountStatement(sums: try sums { $0 == wanted }, latest: bare)
  }

  private func sums(_ isWanted: (LedgerAccount) -> Bool) throws(StoreError) -> LedgerSums {
    try beginReading()
    var sums = LedgerSums()
    for transfer in contents.receipts.compactMap(\.transfer) {
      let (isDebit, isCredit) = (isWanted(transfer.debit), isWanted(transfer.credit))
      if isDebit { sums.debit += WonSum(transfer.amount) }
      if isCredit { sums.credit += WonSum(transfer.amount) }
      sums.transfers += (isDebit ? 1 : 0) + (isCredit ? 1 : 0)
    }
    return sums
  }
}
