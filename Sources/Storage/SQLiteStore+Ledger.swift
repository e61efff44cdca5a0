// Sums of the ledger, computed from the receipts. A receipt contains its transfer, so no second table can
// disagree with it.

import BankModel
import QueueCore

extension SQLiteStore {
  /// Sums of the ledger over all days.
  public func trialBalance() throws(StoreError) -> TrialBalance {
    var balance = TrialBalance(cash: LedgerSums(), loans: LedgerSums(), customers: LedgerSums())
    try eachEntry { entry in
      balance.cash.add(entry) { $0 == LedgerAccount.cash.code }
      balance.loans.add(entry) { $0 == LedgerAccount.loans.code }
      balance.customers.add(entry) { $0 >= 0 }
    }
    return balance
  }

  /// Account of one customer over all days, with its latest receipts, at most `limit`.
  public func statement(of account: AccountNumber, limit: Int) throws(StoreError) -> AccountStatement {
    var sums = LedgerSums()
    var latest: [ReceiptEntry] = []
    let limit = max(0, limit)
    try eachEntry { entry in
      guard entry.debit == account || entry.credit == account else { return }
      sums.add(entry) { $0 == account }
      latest.append(entry)
      // If more than twice `limit` receipts are held, drop all but the last `limit`.
      if latest.count / 2 > limit { latest.removeFirst(latest.count - limit) }
    }
    var receipts: [Receipt] = []
    for entry in latest.suffix(limit).reversed() { receipts.append(try receipt(entry)) }
    return AccountStatement(sums: sums, latest: receipts)
  }
}

extension LedgerSums {
  /// Adds the transfer of a receipt to the sums of the selected accounts. Amounts have 64 bits, their sums 128.
  fileprivate mutating func add(_ entry: ReceiptEntry, _ isMeant: (Int64) -> Bool) {
    if let debit = entry.debit, isMeant(debit) {
      self.debit += WonSum(entry.amount)
      transfers += 1
    }
    if let credit = entry.credit, isMeant(credit) {
      self.credit += WonSum(entry.amount)
      transfers += 1
    }
  }
}

extension MemoryStore {
  /// Sums of the ledger over all days.
  public func trialBalance() throws(StoreError) -> TrialBalance {
    TrialBalance(
      cash: try sums { $0 == .cash }, loans: try sums { $0 == .loans },
      customers: try sums { if case .customer = $0 { true } else { false } })
  }

  /// Account of one customer over all days, with its latest receipts, at most `limit`.
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

  /// Sums over the accounts for which `isWanted` is true.
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
