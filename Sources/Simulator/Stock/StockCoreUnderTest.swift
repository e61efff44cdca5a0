// Owns what the simulated stock service needs of a stock's core: the real one, or one with a planted bug. It must not know
// what such a core decides. Invariant: the real core conforms without a line of its own, so that what is simulated is
// what runs in production. There is nothing that can fail.

import BankModel
import StockCore

/// A stock's core: an event and a moment go in, effects come out.
protocol StockCoreUnderTest {
  /// Lets one event happen at a moment. Effects are appended and are to be performed in order.
  mutating func apply(_ event: StockEvent, at now: WallTime, into effects: inout [StockEffect])

  var isUnsettled: Bool { get }
}

extension StockMachine: StockCoreUnderTest {}
