// Owns the ledger as clients see it: sums by account, and one account's last movements. It knows no socket.
// Amounts are whole won; both sides of every transfer are in them, so all balances together are zero.

import BankModel

/// The sums of one account, or of all customers' accounts together.
public struct LedgerRow: Codable, Sendable, Equatable {
  /// `cash`, `loans`, `customers`, or `customer-12`.
  public var account: String
  /// What was debited to it.
  public var debit: Int64
  /// What was credited to it.
  public var credit: Int64
  /// Transfers that touched it.
  public var transfers: Int64

  /// Puts the parts together.
  public init(account: String, debit: Int64, credit: Int64, transfers: Int64) {
    self.account = account
    self.debit = debit
    self.credit = credit
    self.transfers = transfers
  }

  /// Credits less debits.
  public var balance: Int64 { credit - debit }

  enum CodingKeys: Int, CodingKey {
    case account = 1
    case debit = 2
    case credit = 3
    case transfers = 4
  }
}

/// One customer's account.
public struct AccountReport: Codable, Sendable, Equatable {
  /// Its sums over all days.
  public var row: LedgerRow
  /// The last receipts that moved it, the latest first.
  public var latest: [ReceiptReport]

  /// Receipts that are listed, at most.
  public static let listed = 20

  /// Puts the parts together.
  public init(row: LedgerRow, latest: [ReceiptReport]) {
    self.row = row
    self.latest = latest
  }

  enum CodingKeys: Int, CodingKey {
    case row = 1
    case latest = 2
  }
}
