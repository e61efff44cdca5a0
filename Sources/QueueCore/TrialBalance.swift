// Sums of the ledger: debits and credits, by account.
// Invariant: a receipt has at most one transfer, which is balanced, so both sides have the same sum.

import BankModel

/// Movements of one account, or of all customers' accounts together.
public struct LedgerSums: Sendable, Equatable {
  /// Debits and credits, in won.
  public var debit, credit: WonSum
  /// Number of transfers that touched the account.
  public var transfers: Int64

  public init(debit: WonSum = 0, credit: WonSum = 0, transfers: Int64 = 0) {
    (self.debit, self.credit, self.transfers) = (debit, credit, transfers)
  }

  /// Credits less debits. The balance of a customer is the amount that the bank owes the customer.
  public var balance: WonSum { credit - debit }
}

/// Sums of the whole ledger.
public struct TrialBalance: Sendable, Equatable {
  /// The bank's cash, its loans, and all customers' accounts together.
  public var cash, loans, customers: LedgerSums

  public init(cash: LedgerSums, loans: LedgerSums, customers: LedgerSums) {
    (self.cash, self.loans, self.customers) = (cash, loans, customers)
  }

  /// Sum of all credits less the sum of all debits; anything but 0 is an error in the ledger.
  public var difference: WonSum { cash.balance + loans.balance + customers.balance }
}

/// Account of one customer: sums, and the latest receipts with a transfer of the account.
public struct AccountStatement: Sendable, Equatable {
  /// Sums over all days.
  public var sums: LedgerSums
  /// Latest receipts, the newest first.
  public var latest: [Receipt]
  public init(sums: LedgerSums, latest: [Receipt]) { (self.sums, self.latest) = (sums, latest) }
}
