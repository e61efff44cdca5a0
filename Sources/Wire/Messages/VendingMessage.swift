// Messages from a client to a vending machine, on the customers' socket and on the manager's. Decoding checks
// the form. The machine checks names, amounts and limits, and answers with a failure.

import BankModel

/// Messages from a client to a vending machine.
public typealias VendingMessage = ServiceClientMessage<VendingRequest>

/// A request to a vending machine with its number.
public typealias VendingRequest = ServiceRequest<VendingCommand>

/// Side of a vending machine on which a request is allowed: customers, the manager, or both.
public enum VendingSide: Sendable, Equatable {
  /// Any client.
  case both
  /// Buyers, on the customers' socket.
  case customer
  /// The operator of the machine, on the manager's socket.
  case manager
}

/// Requests to a vending machine.
public enum VendingCommand: Sendable, Equatable {
  /// Returns a snapshot of the machine.
  case querySnapshot
  /// Subscribes to the machine, which sends a snapshot and later changes.
  case follow
  /// Returns purchases after a position in the ledger, oldest first.
  case history(PurchasePage)
  /// Returns the balance. The stock service is not needed.
  case balance
  /// Inserts money; needs an order name.
  case insert(Won)
  /// Buys one piece of a product; needs an order name.
  case buy(ItemID)
  /// Pays out the balance, except the prices of purchases in progress; needs an order name.
  case giveChange
  /// Adds drinks; needs an order name.
  case add(AddedDrinks)
  /// Removes drinks, the earliest to expire first; needs an order name.
  case remove(ItemAmount)
  /// Returns the products with their lots.
  case stock
  /// Returns the products and lots that have expired.
  case expired
  /// Discards all expired pieces; needs an order name.
  case discardExpired
  /// Checks the invariants.
  case audit

  /// Field number of each kind of request.
  private enum Kind: Int, CodingKey {
    case querySnapshot = 1, follow, history, insert, buy, giveChange, balance
    case add = 33, remove, stock, expired, discardExpired, audit
  }

  /// Clients that may send the request.
  public var side: VendingSide {
    switch self {
    case .querySnapshot, .follow, .history, .balance: .both
    case .insert, .buy, .giveChange: .customer
    case .add, .remove, .stock, .expired, .discardExpired, .audit: .manager
    }
  }

  /// True if the request changes data.
  public var changesSomething: Bool {
    switch self {
    case .insert, .buy, .giveChange, .add, .remove, .discardExpired: true
    case .querySnapshot, .follow, .history, .balance, .stock, .expired, .audit: false
    }
  }
}

/// Requested part of the list of purchases: after which position it starts, and how long it is at most.
public struct PurchasePage: Codable, Sendable, Equatable {
  /// Position in the ledger after which this part starts, and maximum number of purchases.
  public var after, limit: Int64
  /// The largest limit. The machine reads a higher one as this one.
  public static let maxLimit: Int64 = 500
  public init(after: Int64, limit: Int64) { (self.after, self.limit) = (after, limit) }
  /// Field number of each property of a request for a part of the list of purchases, in messages.
  enum CodingKeys: Int, CodingKey { case after = 1, limit }
}

/// Pieces of one drink to be added to a vending machine, with their dates.
public struct AddedDrinks: Codable, Sendable, Equatable {
  /// Name of the product.
  public var product: ItemID
  /// Number of pieces.
  public var quantity: Quantity
  /// Production day; nil for today.
  public var made: DayNumber?
  /// Last day of sale; nil to compute it from the product's shelf life.
  public var expires: DayNumber?

  public init(product: ItemID, quantity: Quantity, made: DayNumber? = nil, expires: DayNumber? = nil) {
    (self.product, self.quantity, self.made, self.expires) = (product, quantity, made, expires)
  }
  /// Field number of each property of a request to add drinks, in messages.
  enum CodingKeys: Int, CodingKey { case product = 1, quantity, made, expires }
}

extension VendingCommand: Codable {
  public func encode(to encoder: any Encoder) throws {
    var command = encoder.container(keyedBy: Kind.self)
    switch self {
    case .querySnapshot: try command.encode(EmptyMessage(), forKey: .querySnapshot)
    case .follow: try command.encode(EmptyMessage(), forKey: .follow)
    case .balance: try command.encode(EmptyMessage(), forKey: .balance)
    case .history(let page): try command.encode(page, forKey: .history)
    case .insert(let amount): try command.encode(amount, forKey: .insert)
    case .buy(let product): try command.encode(product, forKey: .buy)
    case .giveChange: try command.encode(EmptyMessage(), forKey: .giveChange)
    case .add(let drinks): try command.encode(drinks, forKey: .add)
    case .remove(let amount): try command.encode(amount, forKey: .remove)
    case .stock: try command.encode(EmptyMessage(), forKey: .stock)
    case .expired: try command.encode(EmptyMessage(), forKey: .expired)
    case .discardExpired: try command.encode(EmptyMessage(), forKey: .discardExpired)
    case .audit: try command.encode(EmptyMessage(), forKey: .audit)
    }
  }

  public init(from decoder: any Decoder) throws {
    let command = try decoder.container(keyedBy: Kind.self)
    switch try command.singleKind() {
    case .history: self = .history(try command.decode(PurchasePage.self, forKey: .history))
    case .insert: self = .insert(try command.decode(Won.self, forKey: .insert))
    case .buy: self = .buy(try command.decode(ItemID.self, forKey: .buy))
    case .add: self = .add(try command.decode(AddedDrinks.self, forKey: .add))
    case .remove: self = .remove(try command.decode(ItemAmount.self, forKey: .remove))
    case .querySnapshot: self = try command.emptyMessage(.querySnapshot, .querySnapshot)
    case .follow: self = try command.emptyMessage(.follow, .follow)
    case .balance: self = try command.emptyMessage(.balance, .balance)
    case .giveChange: self = try command.emptyMessage(.giveChange, .giveChange)
    case .stock: self = try command.emptyMessage(.stock, .stock)
    case .expired: self = try command.emptyMessage(.expired, .expired)
    case .discardExpired: self = try command.emptyMessage(.discardExpired, .discardExpired)
    case .audit: self = try command.emptyMessage(.audit, .audit)
    }
  }
}
