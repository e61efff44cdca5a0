// Ledger in answers to clients: sums by account, and the last movements of one account. Amounts are whole won. A sum
// may exceed 64 bits, the size of an integer in this protocol. The row then contains the sum twice: as a clamped
// integer, and as decimal digits. A peer that reads only the integer still understands the row.

import BankModel

/// The sums of one account, or of all customers' accounts together.
public struct LedgerRow: Sendable, Equatable {
  /// Name of the account: `cash`, `loans`, `customer-12`; `customers` for those of all customers together.
  public var account: String
  /// Sums of debits and credits.
  public var debit, credit: WonSum
  /// Number of transfers to or from the account.
  public var transfers: Int64

  public init(account: String, debit: WonSum, credit: WonSum, transfers: Int64) {
    (self.account, self.debit, self.credit, self.transfers) = (account, debit, credit, transfers)
  }

  /// Credits minus debits.
  public var balance: WonSum { credit - debit }
}

extension LedgerRow: Codable {
  /// Field number of each property of a row of ledger sums, in messages.
  enum CodingKeys: Int, CodingKey { case account = 1, debit, credit, transfers, wideDebit, wideCredit }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    /// Sum from the integer under `key`, or from the digits under `wide` if the sum exceeds 64 bits.
    func sum(_ key: CodingKeys, _ wide: CodingKeys) throws -> WonSum {
      let number = try fields.decode(Int64.self, forKey: key)
      guard let digits = try fields.decodeIfPresent(String.self, forKey: wide) else { return WonSum(number) }
      guard digits.utf8.count <= 40, let sum = WonSum(digits) else {
        throw DecodingError.dataCorruptedError(
          forKey: wide, in: fields, debugDescription: "the digits are not a sum of the ledger")
      }
      return sum
    }
    self.init(
      account: try fields.decode(String.self, forKey: .account), debit: try sum(.debit, .wideDebit),
      credit: try sum(.credit, .wideCredit), transfers: try fields.decode(Int64.self, forKey: .transfers))
  }

  /// Encodes the row. A sum that exceeds 64 bits is encoded twice, clamped and as digits.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(account, forKey: .account)
    try fields.encode(Int64(clamping: debit), forKey: .debit)
    try fields.encode(Int64(clamping: credit), forKey: .credit)
    try fields.encode(transfers, forKey: .transfers)
    if Int64(exactly: debit) == nil { try fields.encode(String(debit), forKey: .wideDebit) }
    if Int64(exactly: credit) == nil { try fields.encode(String(credit), forKey: .wideCredit) }
  }
}

/// One customer's account.
public struct AccountReport: Codable, Sendable, Equatable {
  /// Sums of the account over all days.
  public var row: LedgerRow
  /// The latest receipts with a transfer to or from the account, the latest first.
  public var latest: [ReceiptReport]

  /// Maximum number of listed receipts.
  public static let latestAtMost = 20

  public init(row: LedgerRow, latest: [ReceiptReport]) { (self.row, self.latest) = (row, latest) }
  /// Field number of each property of a customer's account, in messages.
  enum CodingKeys: Int, CodingKey { case row = 1, latest }
}
