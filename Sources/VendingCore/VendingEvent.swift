// Owns everything that can happen to a vending machine and everything that it can want. It knows nothing of who does it.
// Events are requests and past tenses, effects are imperatives, performed in order.

import BankModel
import Time

/// A number by which the answer to a request finds its way back. It means nothing to the machine.
public typealias RequestNumber = UInt64

/// Something that happened.
public enum VendingEvent: Sendable, Equatable {
  /// The machine begins, and goes on with what was left open.
  case began
  /// Somebody asks for a change, under a name.
  case asked(RequestNumber, OrderID, VendingAction)
  /// What the store knows of a request; nil for nothing.
  case found(OrderID, StoredRequest?)
  /// The stock says what became of a purchase's drink.
  case stockAnswered(PurchaseNumber, StockOutcome)
  /// The stock has put back what a purchase that was given up may have held.
  case released(PurchaseNumber)
  /// There may be room on the disk again for what could not be written; see ``VendingStateMachine/hasUnwritten``.
  case retried
  /// The store has hardly any room, or has room again.
  case roomChanged(isShort: Bool)
  /// Everything that was staged is on disk.
  case committed
  /// The disk was full, and the store has forgotten everything that was staged.
  case commitRefused
}

/// What became of a purchase's drink.
public enum StockOutcome: Sendable, Equatable {
  /// It was taken from the lot with these dates.
  case taken(LotDates?)
  /// There was none, or none that has not expired.
  case none(onlyExpired: Bool)
  /// The stock did not answer in time, or would not.
  case away
}

/// Something to be done for the machine.
public enum VendingEffect: Sendable, Equatable {
  /// Find a request in the store, also among what is staged; say ``VendingEvent/found(_:_:)``.
  case lookUp(OrderID)
  /// Add to the open transaction.
  case stage(VendingEntry)
  /// Answer a request.
  case reply(RequestNumber, VendingAnswer)
  /// Take one of a product from the stock under the purchase's name; say ``VendingEvent/stockAnswered(_:_:)``.
  case take(PurchaseNumber, ItemID)
  /// Have the stock put back whatever the purchase's name holds; say ``VendingEvent/released(_:)``.
  case release(PurchaseNumber)
}

/// What is written for one step, all of it or nothing.
public struct VendingEntry: Sendable, Equatable {
  /// A row of the ledger.
  public var change: MoneyChange?
  /// A purchase as it is from now on: a new one, or one that is known.
  public var purchase: StoredPurchase?

  public init(change: MoneyChange? = nil, purchase: StoredPurchase? = nil) {
    (self.change, self.purchase) = (change, purchase)
  }
}

/// A purchase as a store keeps it.
public struct StoredPurchase: Sendable, Equatable {
  /// How far it is. The raw values stand in the database.
  public enum State: UInt8, Sendable, CaseIterable {
    /// It is intended: the stock is being asked.
    case open = 1
    /// It is given up, and the stock has not said yet that it holds nothing.
    case releasing = 2
    /// It was made; the row of the ledger says the rest.
    case bought = 3
    /// There was none of the product.
    case soldOut = 4
    /// There were only some that had expired.
    case onlyExpired = 5
    /// It was given up, and the stock holds nothing.
    case givenUp = 6
  }

  /// Its number among the purchases of this machine.
  public var number: PurchaseNumber
  /// The name under which it was asked for.
  public var request: OrderID
  /// What is bought.
  public var product: ItemID
  /// What it costs, whatever becomes of the price meanwhile.
  public var price: Won
  /// How far it is.
  public var state: State
  /// When it was asked for.
  public var at: WallTime

  public init(
    number: PurchaseNumber, request: OrderID, product: ItemID, price: Won, state: State, at: WallTime
  ) {
    (self.number, self.request, self.product, self.price) = (number, request, product, price)
    (self.state, self.at) = (state, at)
  }
}

/// What a store knows of a request.
public enum StoredRequest: Sendable, Equatable {
  /// It was done.
  case done(MoneyChange)
  /// A purchase that is not made, or not yet.
  case purchase(StoredPurchase)
}
