// Owns what a process needs of the stock's rules: an event and a moment go in, effects come out. It must not know how they
// decide. Invariant: `StockMachine` conforms without a line of its own, so what is simulated with something around it is
// what runs in production.

import BankModel

/// The rules of a stock, as the process around them sees them.
public protocol StockDecisions {
  /// Lets one event happen at a moment. Effects are appended and are to be performed in order.
  mutating func apply(_ event: StockEvent, at now: WallTime, into effects: inout [StockEffect])

  /// Whether something was decided that is not on disk.
  var isUnsettled: Bool { get }
  /// The last change that is on disk.
  var settledSequence: Int64 { get }
  /// The name of the ledger.
  var ledger: Int64 { get }
  /// Everything that is there, by what is on disk and what is staged.
  var picture: StockPicture { get }
}

extension StockMachine: StockDecisions {}
