// Owns what a process needs of the stock's rules: an event and a moment go in, effects come out. It must not know how they
// decide. Invariant: `StockMachine` conforms without a line of its own, so what is simulated with something around it is
// what runs in production.

import BankModel

/// The rules of a stock, as the process around them sees them.
public protocol StockDecisions: Decisions where Event == StockEvent, Effect == StockEffect {
  /// The name of the ledger.
  var ledger: Int64 { get }
  /// Everything that is there, by what is on disk and what is staged.
  var picture: StockPicture { get }
}

extension StockDecisions {
  /// The name of the ledger.
  public var identity: Int64 { ledger }
}

extension StockEvent: StoreEvents {}
extension StockMachine: StockDecisions {}
