// Owns the words of a conversation with a vending machine: what can be asked of it, what it answers, and what a change
// of its money is. It knows no connection and no disk. The raw values stand in the database and in messages: they are
// never given a new meaning.

import Time

/// What a vending machine holds and takes at most, in one place.
public enum VendingLimits {
  /// What may be put in at a time, in won.
  public static let insertion: ClosedRange<Won> = 1...1_000_000
  /// What the balance may be at most, in won.
  public static let balance: Won = 1_000_000_000
  /// What a product may cost at most, in won.
  public static let price: Won = 1_000_000
  /// Purchases that may be under way at a time.
  public static let openPurchases = 1_000
  /// The longest name of a request, in bytes, as long as the key of a form or a script. The stock is asked under a name that
  /// is made of it.
  public static let requestLength = 60
}

/// Counts the purchases of one machine that were ever begun: 1, 2, 3 …
public typealias PurchaseNumber = Int64

/// Something that changes a machine's money, or would.
public enum VendingAction: Hashable, Sendable {
  case insert(Won)
  case buy(ItemID)
  case giveChange
}

/// One row of a machine's ledger: its balance became more or less.
public struct MoneyChange: Hashable, Sendable, Codable {
  /// Why.
  public enum Kind: UInt8, Named {
    case inserted = 1
    case bought = 2
    /// The balance was given back; also a balance of nothing.
    case returned = 3

    /// The names in JSON, in the order of the numbers.
    public static let names = ["inserted", "bought", "returned"]
  }

  /// The place in the order of all changes, from 1, without a gap.
  public var sequence: Int64
  /// Why.
  public var kind: Kind
  /// So many won; the balance became so much more where money was put in, and fewer otherwise.
  public var amount: Won
  /// The balance afterwards.
  public var balance: Won
  /// What was bought.
  public var product: ItemID?
  /// The dates of what was bought; nil where nothing was, or it had none.
  public var dates: LotDates?
  /// The name under which it was asked for.
  public var request: OrderID
  /// When.
  public var at: WallTime

  public init(
    sequence: Int64, kind: Kind, amount: Won, balance: Won, product: ItemID? = nil, dates: LotDates? = nil,
    request: OrderID, at: WallTime
  ) {
    (self.sequence, self.kind, self.amount, self.balance) = (sequence, kind, amount, balance)
    (self.product, self.dates, self.request, self.at) = (product, dates, request, at)
  }

  /// What it changes the balance by.
  public var difference: Won { kind == .inserted ? amount : -amount }

  enum CodingKeys: Int, CodingKey {
    case sequence = 1
    case kind, amount, balance, product, dates, request, at
  }
}

/// Why something asked of a machine was not done. Nothing was changed.
public enum VendingRefusal: Hashable, Sendable {
  case badAmount(Won)
  /// The request has a name that no request can have.
  case badRequest(String)
  case unknownProduct(ItemID)
  /// The name belongs to a request of something else.
  case otherRequest(OrderID)
  /// The product costs more than what is there for it.
  case tooLittleMoney(ItemID, price: Won, available: Won)
  case soldOut(ItemID)
  /// There are some of the product, and every one of them has expired.
  case onlyExpired(ItemID)
  /// There would be more than ``VendingLimits/balance`` in the machine.
  case tillFull(balance: Won)
  /// The stock did not answer in time; nothing is taken under this name any more.
  case stockAway(ItemID)
  /// As many purchases are under way as may be.
  case crowded
  case diskFull
}

/// What became of something that was asked of a machine.
public enum VendingAnswer: Hashable, Sendable {
  /// It is done and on disk.
  case done(MoneyChange)
  /// Nothing was changed.
  case refused(VendingRefusal)
}

/// A machine's money: what was put in is what is there, what was spent and what was given back.
public struct MoneyAccount: Hashable, Sendable, Codable {
  /// What is in the machine for its customers.
  public var balance: Won
  /// Everything that was ever put in.
  public var inserted: Won
  /// Everything that was ever spent on drinks.
  public var spent: Won
  /// Everything that was ever given back.
  public var returned: Won

  public init(balance: Won = 0, inserted: Won = 0, spent: Won = 0, returned: Won = 0) {
    (self.balance, self.inserted, self.spent, self.returned) = (balance, inserted, spent, returned)
  }

  /// By how much the money put in differs from where it must be; 0 at all times.
  public var difference: Won { inserted &- balance &- spent &- returned }

  /// The account after a change.
  public mutating func apply(_ change: MoneyChange) {
    balance &+= change.difference
    switch change.kind {
    case .inserted: inserted &+= change.amount
    case .bought: spent &+= change.amount
    case .returned: returned &+= change.amount
    }
  }

  enum CodingKeys: Int, CodingKey {
    case balance = 1
    case inserted, spent, returned
  }
}
