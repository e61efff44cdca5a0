// Owns how the ledger is told to clients, of an open bank and of a closed one. It changes nothing.
// A sum need not fit in 64 bits, and is told as it is.

import BankModel
import QueueCore
import Wire

extension QueueReading {
  /// The sums of the ledger, for a client.
  func ledgerAnswer() throws(StoreError) -> ControlAnswer {
    let balance = try trialBalance()
    return .ledger([
      LedgerRow(account: "cash", balance.cash), LedgerRow(account: "loans", balance.loans),
      LedgerRow(account: "customers", balance.customers),
    ])
  }

  /// One customer's account, for a client.
  func accountAnswer(_ number: Int64) throws(StoreError) -> ControlAnswer {
    guard (0...BankModel.Limits.account).contains(number) else {
      return .failure(
        Failure(.badRequest, remark: Remark(.accountRange, BankModel.Limits.account, number)))
    }
    let statement = try statement(of: number, limit: AccountReport.listed)
    return .account(
      AccountReport(
        row: LedgerRow(account: LedgerAccount.customer(number).description, statement.sums),
        latest: statement.latest.map { ReceiptReport($0) }))
  }
}

extension LedgerRow {
  /// The sums of an account with their name.
  fileprivate init(account: String, _ sums: LedgerSums) {
    self.init(account: account, debit: sums.debit, credit: sums.credit, transfers: sums.transfers)
  }
}
