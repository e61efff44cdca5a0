// Events and effects of the stock's state machine. An event is a request, or something that has happened, named in the
// past tense. An effect is an instruction, named in the imperative; effects are performed in order.

import BankModel
import Time

/// Number that identifies the request of an answer.
public typealias RequestNumber = UInt64

/// What the state machine of the stock receives: a client's request, a record from the store, or the result of a
/// commit.
public enum StockEvent: Sendable, Equatable {
  /// Adds these items, if they are unknown, with these initial amounts.
  case seedItems([ItemAmount])
  /// A client adds these items, if they are unknown, without any pieces.
  case introduce(RequestNumber, [ItemID])
  /// A client requests a change, under a name if the request has to be repeatable.
  case order(RequestNumber, OrderID?, StockAction)
  /// A client requests a snapshot of the stock.
  case querySnapshot(RequestNumber)
  /// The store's record of an order; nil for none.
  case found(OrderID, StoredOrder?)
  /// The store is short of disk space, or has space again.
  case roomChanged(isLowOnSpace: Bool)
  /// All staged entries are on disk.
  case committed
  /// The disk was full, and the store has discarded all staged entries.
  case commitRefused
}

/// Instruction of the stock's state machine to its driver: look up an order, stage an entry, or answer a request.
public enum StockEffect: Sendable, Equatable {
  /// Look up an order in the store, including staged entries; report ``StockEvent/found(_:_:)``.
  case lookUp(OrderID)
  /// Add an entry to the open transaction.
  case stage(StockEntry)
  case reply(RequestNumber, StockAnswer)
}

/// What is written into the store, all or nothing: new items, rows of the ledger, and the record of the order.
public struct StockEntry: Sendable, Equatable {
  /// Change of an order's record.
  public enum Name: Sendable, Equatable {
    /// A new order; the changes of this entry are its effect.
    case ordered(OrderID, content: String, StoredOrder.Outcome)
    /// A known order was returned; the changes of this entry undo it.
    case wasReturned(OrderID)
  }

  /// Items that were unknown before.
  public var items: [ItemID]
  /// Rows of the ledger.
  public var changes: [StockChange]
  /// Change of the order's record; nil for a request without a name.
  public var name: Name?
  /// Time of the entry.
  public var at: WallTime

  public init(items: [ItemID] = [], changes: [StockChange] = [], name: Name? = nil, at: WallTime) {
    (self.items, self.changes, self.name, self.at) = (items, changes, name, at)
  }
}

/// Record of an answered order.
public struct StoredOrder: Sendable, Equatable {
  /// Outcome of an order.
  public enum Outcome: Sendable, Equatable {
    case done
    /// Refused because of these shortages.
    case short([Shortage])
    /// The order was returned before it arrived, and can never be executed.
    case void
  }

  /// The request; see ``StockAction/content``.
  public var content: String
  /// Outcome of the order.
  public var outcome: Outcome
  /// Rows of the ledger that the order caused.
  public var changes: [StockChange]
  /// Rows of the ledger that returned its pieces; nil if it was not returned.
  public var returned: [StockChange]?

  public init(content: String, outcome: Outcome, changes: [StockChange], returned: [StockChange]? = nil) {
    (self.content, self.outcome, self.changes, self.returned) = (content, outcome, changes, returned)
  }

  /// The record under this name, as an element of the list of orders that a client queries.
  public func kept(as id: OrderID) -> OrderRecord {
    let state: OrderRecord.State =
      switch outcome {
      case .done: returned == nil ? .done : .wasReturned
      case .short: .short
      case .void: .void
      }
    return OrderRecord(id: id, content: content, state: state)
  }

  /// The answer to a repetition of the order, unless it was returned.
  var answer: StockAnswer {
    switch outcome {
    case .done: .done(changes)
    case .short(let shortages): .short(shortages)
    case .void: .done([])
    }
  }
}
