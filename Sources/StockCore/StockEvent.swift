// Owns everything that can happen to the stock and everything that it can want. It knows nothing of who does it.
// Events are requests and past tenses, effects are imperatives, performed in order.

import BankModel
import Time

/// A number by which the answer to a request finds its way back. It means nothing to the stock.
public typealias RequestNumber = UInt64

/// Something that happened.
public enum StockEvent: Sendable, Equatable {
  /// These items shall be known; those that are not yet begin with these amounts.
  case furnish([ItemAmount])
  /// Somebody wants these items to be known; of those that are not yet there is nothing.
  case introduce(RequestNumber, [ItemID])
  /// Somebody asks for a change, under a name where it is to be repeatable.
  case order(RequestNumber, OrderID?, StockAction)
  /// Somebody asks for the whole stock.
  case look(RequestNumber)
  /// What the store knows of an order; nil for nothing.
  case found(OrderID, StoredOrder?)
  /// The store has hardly any room, or has room again.
  case roomChanged(isShort: Bool)
  /// Everything that was staged is on disk.
  case committed
  /// The disk was full, and the store has forgotten everything that was staged.
  case commitRefused
}

/// Something to be done for the stock.
public enum StockEffect: Sendable, Equatable {
  /// Find an order in the store, also among what is staged; say ``StockEvent/found(_:_:)``.
  case lookUp(OrderID)
  /// Add to the open transaction.
  case stage(StockEntry)
  /// Answer a request.
  case reply(RequestNumber, StockAnswer)
}

/// What is written for one request, all of it or nothing.
public struct StockEntry: Sendable, Equatable {
  /// What becomes of the name of the order.
  public enum Name: Sendable, Equatable {
    /// A new order; what it did are the changes of this entry.
    case ordered(OrderID, content: String, StoredOrder.Outcome)
    /// An order that is known was given back; the changes of this entry are how.
    case givenBack(OrderID)
  }

  /// Items that were not known before.
  public var items: [ItemID]
  /// Rows of the ledger.
  public var changes: [StockChange]
  /// The order; nil where it has no name.
  public var name: Name?
  /// When.
  public var at: WallTime

  public init(items: [ItemID] = [], changes: [StockChange] = [], name: Name? = nil, at: WallTime) {
    (self.items, self.changes, self.name, self.at) = (items, changes, name, at)
  }
}

/// An order that was answered.
public struct StoredOrder: Sendable, Equatable {
  /// What became of it.
  public enum Outcome: Sendable, Equatable {
    /// It was done.
    case done
    /// There was too little of these.
    case short([Shortage])
    /// It was given back before anybody had heard of it; it is never done.
    case void
  }

  /// What was asked for; see ``StockAction/content``.
  public var content: String
  /// What became of it.
  public var outcome: Outcome
  /// Its rows of the ledger.
  public var changes: [StockChange]
  /// The rows that gave it back; nil while it was not.
  public var returned: [StockChange]?

  public init(content: String, outcome: Outcome, changes: [StockChange], returned: [StockChange]? = nil) {
    (self.content, self.outcome, self.changes, self.returned) = (content, outcome, changes, returned)
  }

  /// The order in a list of all.
  public func kept(as id: OrderID) -> KeptOrder {
    let state: KeptOrder.State =
      switch outcome {
      case .done: returned == nil ? .done : .givenBack
      case .short: .short
      case .void: .void
      }
    return KeptOrder(id: id, content: content, state: state)
  }

  /// The answer that the order gets whenever it is asked for.
  var answer: StockAnswer {
    switch outcome {
    case .done: .done(changes)
    case .short(let shortages): .short(shortages)
    case .void: .done([])
    }
  }
}
