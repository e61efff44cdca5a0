// Rule that selects the ledger accounts between which a served customer's amount is transferred.
// Invariant: debit and credit differ.

/// Accounts between which a served customer's amount is transferred.
public struct PostingRule: Hashable, Sendable {
  /// Account that a transfer debits or credits.
  public enum Side: UInt8, NameCodable {
    /// The bank's cash.
    case cash = 1
    /// Money that the bank has lent.
    case loans = 2
    /// Account of the customer who is served.
    case customer = 3

    /// Names in a configuration, in the order of the raw values.
    public static let names = ["cash", "loans", "customer"]

    func account(of customer: AccountNumber) -> LedgerAccount {
      switch self {
      case .cash: .cash
      case .loans: .loans
      case .customer: .customer(customer)
      }
    }
  }

  /// Debited and credited side.
  public let debit, credit: Side

  /// Makes a rule; nil if both sides are the same.
  public init?(debit: Side, credit: Side) {
    guard debit != credit else { return nil }
    (self.debit, self.credit) = (debit, credit)
  }

  /// The rule that produced a customer's transfer; nil if no rule can have produced it.
  ///
  /// - Parameters:
  ///   - debit: code of the debited account; see ``LedgerAccount/code``. `credit` likewise.
  ///   - account: account of the customer.
  public init?(debit: Int64, credit: Int64, account: AccountNumber) {
    let sides = [debit, credit].map { code in
      Side.allCases.first { $0.account(of: account).code == code }
    }
    guard let debit = sides[0], let credit = sides[1] else { return nil }
    self.init(debit: debit, credit: credit)
  }

  /// A rule that credits the customer.
  private init(from debit: Side) { (self.debit, credit) = (debit, .customer) }

  fileprivate static let deposit = PostingRule(from: .cash), loan = PostingRule(from: .loans)
}

extension Service {
  /// The rule of deposits or loans; nil for any other service.
  public var postingRule: PostingRule? {
    switch self {
    case .deposit: .deposit
    case .loan: .loan
    default: nil
    }
  }
}
