// Owns what the simulated vending machine needs of a machine's core: the real one, or one with a planted bug. It must not
// know what such a core decides. Invariant: the real core conforms without a line of its own, so that what is simulated
// is what runs in production. There is nothing that can fail.

import BankModel
import VendingCore

/// A vending machine's core: an event and a moment go in, effects come out.
protocol VendingCoreUnderTest {
  /// Lets one event happen at a moment. Effects are appended and are to be performed in order.
  mutating func apply(_ event: VendingEvent, at now: WallTime, into effects: inout [VendingEffect])

  var isUnsettled: Bool { get }
  var hasUnwritten: Bool { get }
  var settledAccount: MoneyAccount { get }
  var settledSequence: Int64 { get }
  var settledFree: Won { get }
  func stockOrder(of purchase: PurchaseNumber) -> OrderID?
}

extension VendingStateMachine: VendingCoreUnderTest {}
