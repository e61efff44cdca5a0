// Owns what a client says to a vending machine, on the customers' socket and on the manager's. Nothing here is checked
// beyond its form: the machine checks names, amounts and limits, and refuses with an answer.

import BankModel

/// What a client says to a vending machine.
public typealias VendingMessage = ServiceQuestion<VendingRequest>

/// A numbered request.
public typealias VendingRequest = ServiceRequest<VendingCommand>

/// Who may ask for something.
public enum VendingSide: Sendable, Equatable {
  /// Whoever may look.
  case both
  /// Whoever buys; on the customers' socket.
  case customer
  /// Whoever fills the machine; on the manager's socket.
  case manager
}

/// Everything a vending machine can be asked. The manager's kinds begin with 33.
public enum VendingCommand: Sendable, Equatable {
  /// The machine as it is.
  case look
  /// The machine as it is, and everything that changes from then on.
  case follow
  /// Purchases behind a place in the ledger, oldest first.
  case history(PurchasePage)
  /// The balance alone, which needs no stock.
  case balance
  /// Put money in; needs an order's name.
  case insert(Won)
  /// Buy one of a product; needs an order's name.
  case buy(ItemID)
  /// Give the balance back; needs an order's name.
  case giveChange
  /// Put drinks in; needs an order's name.
  case add(AddedDrinks)
  /// Take drinks out, the earliest to expire first; needs an order's name.
  case remove(ItemAmount)
  /// Every product with its lots.
  case stock
  /// The products and lots that may not be sold any more.
  case expired
  /// Throw away whatever has expired; needs an order's name.
  case discardExpired
  /// Check everything that can be checked.
  case audit

  private enum Kind: Int, CodingKey {
    case look = 1, follow, history, insert, buy, giveChange, balance
    case add = 33, remove, stock, expired, discardExpired, audit
  }

  /// Who may ask for it.
  public var side: VendingSide {
    switch self {
    case .look, .follow, .history, .balance: .both
    case .insert, .buy, .giveChange: .customer
    case .add, .remove, .stock, .expired, .discardExpired, .audit: .manager
    }
  }

  /// Whether it changes something when it is done.
  public var changesSomething: Bool {
    switch self {
    case .insert, .buy, .giveChange, .add, .remove, .discardExpired: true
    case .look, .follow, .history, .balance, .stock, .expired, .audit: false
    }
  }
}

/// Which purchases are asked for.
public struct PurchasePage: Codable, Sendable, Equatable {
  /// The place in the ledger behind which they begin, and how many at most.
  public var after, limit: Int64
  public init(after: Int64, limit: Int64) { (self.after, self.limit) = (after, limit) }
  enum CodingKeys: Int, CodingKey { case after = 1, limit }
}

/// Drinks that are put into a machine.
public struct AddedDrinks: Codable, Sendable, Equatable {
  /// Of what.
  public var product: ItemID
  /// How many.
  public var quantity: Quantity
  /// When they were made; nil for today.
  public var made: DayNumber?
  /// The last day on which they may be sold; nil for as long as the product is good.
  public var expires: DayNumber?

  public init(product: ItemID, quantity: Quantity, made: DayNumber? = nil, expires: DayNumber? = nil) {
    (self.product, self.quantity, self.made, self.expires) = (product, quantity, made, expires)
  }
  enum CodingKeys: Int, CodingKey { case product = 1, quantity, made, expires }
}

extension VendingCommand: Codable {
  public func encode(to encoder: any Encoder) throws {
    var command = encoder.container(keyedBy: Kind.self)
    switch self {
    case .look: try command.encode(Nothing(), forKey: .look)
    case .follow: try command.encode(Nothing(), forKey: .follow)
    case .balance: try command.encode(Nothing(), forKey: .balance)
    case .history(let page): try command.encode(page, forKey: .history)
    case .insert(let amount): try command.encode(amount, forKey: .insert)
    case .buy(let product): try command.encode(product, forKey: .buy)
    case .giveChange: try command.encode(Nothing(), forKey: .giveChange)
    case .add(let drinks): try command.encode(drinks, forKey: .add)
    case .remove(let amount): try command.encode(amount, forKey: .remove)
    case .stock: try command.encode(Nothing(), forKey: .stock)
    case .expired: try command.encode(Nothing(), forKey: .expired)
    case .discardExpired: try command.encode(Nothing(), forKey: .discardExpired)
    case .audit: try command.encode(Nothing(), forKey: .audit)
    }
  }

  public init(from decoder: any Decoder) throws {
    let command = try decoder.container(keyedBy: Kind.self)
    switch try command.onlyKind() {
    case .history: self = .history(try command.decode(PurchasePage.self, forKey: .history))
    case .insert: self = .insert(try command.decode(Won.self, forKey: .insert))
    case .buy: self = .buy(try command.decode(ItemID.self, forKey: .buy))
    case .add: self = .add(try command.decode(AddedDrinks.self, forKey: .add))
    case .remove: self = .remove(try command.decode(ItemAmount.self, forKey: .remove))
    case .look: self = try command.bare(.look, .look)
    case .follow: self = try command.bare(.follow, .follow)
    case .balance: self = try command.bare(.balance, .balance)
    case .giveChange: self = try command.bare(.giveChange, .giveChange)
    case .stock: self = try command.bare(.stock, .stock)
    case .expired: self = try command.bare(.expired, .expired)
    case .discardExpired: self = try command.bare(.discardExpired, .discardExpired)
    case .audit: self = try command.bare(.audit, .audit)
    }
  }
}
