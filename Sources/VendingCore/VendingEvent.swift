// Events and effects of the vending machine's state machine.
// Effects are performed in order.

import BankModel
import Time

/// Number that identifies the request of an answer.
public typealias RequestNumber = UInt64

/// What the state machine of the vending machine receives.
public enum VendingEvent: Sendable, Equatable {
  /// The machine starts, and continues unfinished purchases.
  case began
  /// A client requests a change, under a name.
  case requested(RequestNumber, OrderID, VendingAction)
  /// The store's record of a request; nil for none.
  case found(OrderID, StoredRequest?)
  /// The stock has answered the request for a purchase's drink.
  case stockAnswered(PurchaseNumber, StockOutcome)
  /// The stock has returned what an abandoned purchase may have held.
  case released(PurchaseNumber)
  /// There may be disk space for results that could not be written; see ``VendingStateMachine/hasUnwritten``.
  case retry
  /// The store is short of disk space, or has space again.
  case roomChanged(isLowOnSpace: Bool)
  /// All staged entries are on disk.
  case committed
  /// The disk was full, and the store has discarded all staged entries.
  case commitRefused
}

/// The stock's answer to the request for a purchase's drink.
public enum StockOutcome: Sendable, Equatable {
  /// Taken from the lot with these dates.
  case taken(LotDates?)
  /// Sold out, or all remaining pieces have expired.
  case none(onlyExpired: Bool)
  /// The stock did not answer in time, or refused.
  case unavailable
}

/// Instruction of the vending machine's state machine to its driver.
public enum VendingEffect: Sendable, Equatable {
  /// Look up a request in the store, including staged entries; report ``VendingEvent/found(_:_:)``.
  case lookUp(OrderID)
  /// Add an entry to the open transaction.
  case stage(VendingEntry)
  case reply(RequestNumber, VendingAnswer)
  /// Take one piece of a product from the stock under the purchase's name; report
  /// ``VendingEvent/stockAnswered(_:_:)``.
  case take(PurchaseNumber, ItemID)
  /// Make the stock return everything that is held under the purchase's name; report
  /// ``VendingEvent/released(_:)``.
  case release(PurchaseNumber)
}

/// Rows written in one step of a request, all or none.
public struct VendingEntry: Sendable, Equatable {
  /// Row of the ledger.
  public var change: MoneyChange?
  /// New state of a purchase, which may be a new purchase.
  public var purchase: StoredPurchase?

  public init(change: MoneyChange? = nil, purchase: StoredPurchase? = nil) {
    (self.change, self.purchase) = (change, purchase)
  }
}

/// A purchase as stored.
public struct StoredPurchase: Sendable, Equatable {
  /// State of a purchase. The raw values are part of the database.
  public enum State: UInt8, Sendable, CaseIterable {
    /// The intent is staged or stored.
    case open = 1
    /// Abandoned; the stock has not yet confirmed that it holds nothing.
    case releasing = 2
    /// Completed; the row of the ledger has the details.
    case bought = 3
    /// The product was sold out.
    case soldOut = 4
    /// All remaining pieces had expired.
    case onlyExpired = 5
    /// Abandoned, and the stock holds nothing.
    case givenUp = 6
  }

  /// Number among the purchases of this machine.
  public var number: PurchaseNumber
  /// Name of the request.
  public var request: OrderID
  /// Product to buy.
  public var product: ItemID
  /// Price at the time of the request; later price changes do not apply.
  public var price: Won
  /// Current state.
  public var state: State
  /// Time of the request.
  public var at: WallTime

  public init(
    number: PurchaseNumber, request: OrderID, product: ItemID, price: Won, state: State, at: WallTime
  ) {
    (self.number, self.request, self.product, self.price) = (number, request, product, price)
    (self.state, self.at) = (state, at)
  }
}

/// Stored record under the name of a client's request: the change of money that the request has made, or its purchase
/// if the money has not changed.
public enum StoredRequest: Sendable, Equatable {
  case done(MoneyChange)
  /// A purchase that was not completed, or is not completed yet.
  case purchase(StoredPurchase)
}
