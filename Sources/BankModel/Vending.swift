// Requests to a vending machine, its answers, and the changes in its ledger of money.
// Invariant: the raw values are part of the database and of messages, and never get a new meaning.

import Time

/// Upper limits of a vending machine and its requests.
public enum VendingLimits {
  /// Amount of one insertion, in won.
  public static let insertion: ClosedRange<Won> = 1...1_000_000
  /// Maximum balance, in won.
  public static let balance: Won = 1_000_000_000
  /// Maximum price of a product, in won.
  public static let price: Won = 1_000_000
  /// Maximum number of purchases that are in progress, or abandoned and not yet released by the stock.
  public static let maxOpenPurchases = 1_000
  /// Maximum length of a request's name, in bytes. It is less than ``StockLimits/orderLength``, because the machine
  /// derives names of orders from it.
  public static let requestLength = 60
}

/// Number of a purchase, counted from 1 for each machine.
public typealias PurchaseNumber = Int64

/// A request that may change a machine's money.
public enum VendingAction: Hashable, Sendable {
  /// Inserts money.
  case insert(Won)
  /// Buys one piece of a product.
  case buy(ItemID)
  /// Pays out the balance that no purchase in progress needs.
  case giveChange
}

/// One row of a machine's ledger: a change of its balance.
public struct MoneyChange: Hashable, Sendable, Codable {
  /// Reason for the change.
  public enum Kind: UInt8, NameCodable {
    /// Money was inserted.
    case inserted = 1
    /// A product was paid for.
    case bought = 2
    /// The balance without the money for purchases in progress was paid out; the amount may be 0.
    case returned = 3

    /// Names in JSON, in the order of the raw values.
    public static let names = ["inserted", "bought", "returned"]
  }

  /// Position in the order of all changes, from 1, without a gap.
  public var sequence: Int64
  /// Reason for the change.
  public var kind: Kind
  /// Amount in won: added to the balance if money was inserted, else subtracted.
  public var amount: Won
  /// Balance after the change.
  public var balance: Won
  /// Product that was bought; nil if none was.
  public var product: ItemID?
  /// Dates of the product; nil if none was bought, or if it has no dates.
  public var dates: LotDates?
  /// Name of the request.
  public var request: OrderID
  /// Time of the change.
  public var at: WallTime

  public init(
    sequence: Int64, kind: Kind, amount: Won, balance: Won, product: ItemID? = nil, dates: LotDates? = nil,
    request: OrderID, at: WallTime
  ) {
    (self.sequence, self.kind, self.amount, self.balance) = (sequence, kind, amount, balance)
    (self.product, self.dates, self.request, self.at) = (product, dates, request, at)
  }

  /// Signed change of the balance.
  public var difference: Won { kind == .inserted ? amount : -amount }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case sequence = 1
    case kind, amount, balance, product, dates, request, at
  }
}

/// Reason why a machine refused a request. The money was not changed.
public enum VendingRefusal: Hashable, Sendable {
  /// The inserted amount is out of range.
  case badAmount(Won)
  /// The name of the request is invalid.
  case badRequest(String)
  case unknownProduct(ItemID)
  /// The name belongs to a request with another content.
  case requestConflict(OrderID)
  /// The product costs more than the available money.
  case tooLittleMoney(ItemID, price: Won, available: Won)
  case soldOut(ItemID)
  /// All remaining pieces of the product have expired.
  case onlyExpired(ItemID)
  /// The balance would exceed ``VendingLimits/balance``.
  case balanceLimit(balance: Won)
  /// The stock refused or did not answer in time.
  case stockUnavailable(ItemID)
  /// The machine has ``VendingLimits/maxOpenPurchases`` unfinished purchases.
  case crowded
  case diskFull
}

/// Result of a request to a vending machine.
public enum VendingAnswer: Hashable, Sendable {
  /// Done and on disk.
  case done(MoneyChange)
  case refused(VendingRefusal)
}

/// A vending machine's balance, and all money ever inserted, spent and returned. Invariant: inserted = balance + spent
/// + returned.
public struct MoneyAccount: Hashable, Sendable, Codable {
  /// Money that was inserted and neither spent nor returned.
  public var balance: Won
  /// All money ever inserted.
  public var inserted: Won
  /// All money ever spent on drinks.
  public var spent: Won
  /// All money ever returned.
  public var returned: Won

  public init(balance: Won = 0, inserted: Won = 0, spent: Won = 0, returned: Won = 0) {
    (self.balance, self.inserted, self.spent, self.returned) = (balance, inserted, spent, returned)
  }

  /// Amount in won by which the invariant is violated; anything but 0 is an error of the program.
  public var difference: Won { inserted &- balance &- spent &- returned }

  /// Adds a change to the balance and the sums.
  public mutating func apply(_ change: MoneyChange) {
    balance &+= change.difference
    switch change.kind {
    case .inserted: inserted &+= change.amount
    case .bought: spent &+= change.amount
    case .returned: returned &+= change.amount
    }
  }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case balance = 1
    case inserted, spent, returned
  }
}
