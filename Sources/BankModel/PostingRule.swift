// Owns which accounts of the ledger a served customer moves. It knows no amount and nobody's account.
// Invariant: what is debited and what is credited are never the same.

/// From which account to which one a served customer's amount goes.
public struct PostingRule: Hashable, Sendable {
  /// One side of a transfer.
  public enum Side: UInt8, Named {
    /// The branch's cash.
    case cash = 1
    /// What the branch has lent.
    case loans = 2
    /// The account of the customer who is served.
    case customer = 3

    /// The names in a configuration, in the order of the numbers.
    public static let names = ["cash", "loans", "customer"]

    /// The account that it is where this customer is served.
    func account(of customer: AccountNumber) -> LedgerAccount {
      switch self {
      case .cash: .cash
      case .loans: .loans
      case .customer: .customer(customer)
      }
    }
  }

  /// What is debited, and what is credited.
  public let debit, credit: Side

  /// Nil where both are the same.
  public init?(debit: Side, credit: Side) {
    guard debit != credit else { return nil }
    (self.debit, self.credit) = (debit, credit)
  }

  /// The rule by which a customer's transfer has been made; nil where none makes such a one.
  ///
  /// - Parameters:
  ///   - debit: the code of the account that was debited, and so on; see ``LedgerAccount/code``.
  ///   - account: of the customer.
  public init?(debit: Int64, credit: Int64, account: AccountNumber) {
    let sides = [debit, credit].map { code in
      Side.allCases.first { $0.account(of: account).code == code }
    }
    guard let debit = sides[0], let credit = sides[1] else { return nil }
    self.init(debit: debit, credit: credit)
  }

  private init(from debit: Side) { (self.debit, credit) = (debit, .customer) }

  /// Of the services that move money in every branch: a deposit comes from cash, a loan from the loans.
  fileprivate static let deposit = PostingRule(from: .cash), loan = PostingRule(from: .loans)
}

extension Service {
  /// The rule that holds for it in every branch; nil where none does.
  public var postingRule: PostingRule? {
    switch self {
    case .deposit: .deposit
    case .loan: .loan
    default: nil
    }
  }
}
