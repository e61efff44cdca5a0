// Owns the sums of the ledger: what was debited and credited, by account. It knows no database.
// Every receipt of a served customer is one balanced transfer, so the sums of both sides are always the same.

import BankModel

/// The movements of one account, or of all customers' accounts together.
public struct LedgerSums: Sendable, Equatable {
  /// What was debited and credited to it, in won.
  public var debit, credit: WonSum
  /// Transfers that touched it.
  public var transfers: Int64

  public init(debit: WonSum = 0, credit: WonSum = 0, transfers: Int64 = 0) {
    (self.debit, self.credit, self.transfers) = (debit, credit, transfers)
  }

  /// The balance: credits less debits. A customer's balance is what the branch owes the customer.
  public var balance: WonSum { credit - debit }
}

/// The sums of the whole ledger.
public struct TrialBalance: Sendable, Equatable {
  /// The branch's cash, what it has lent, and all customers' accounts together.
  public var cash, loans, customers: LedgerSums

  public init(cash: LedgerSums, loans: LedgerSums, customers: LedgerSums) {
    (self.cash, self.loans, self.customers) = (cash, loans, customers)
  }

  /// The sum of all credits less the sum of all debits: 0, or money has come from nowhere.
  public var difference: WonSum { cash.balance + loans.balance + customers.balance }
}

/// One customer's account: its sums, and the last receipts that moved it.
public struct AccountStatement: Sendable, Equatable {
  /// The sums over all days.
  public var sums: LedgerSums
  /// The last receipts, the latest first.
  public var latest: [Receipt]
  public init(sums: LedgerSums, latest: [Receipt]) { (self.sums, self.latest) = (sums, latest) }
}
