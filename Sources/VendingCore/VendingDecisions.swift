// Owns what a process needs of the machine's rules: an event and a moment go in, effects come out. It must not know how
// they decide. Invariant: `VendingStateMachine` conforms without a line of its own, so what is simulated with something
// around it is what runs in production.

import BankModel

/// The rules of a vending machine, as the process around them sees them.
public protocol VendingDecisions {
  /// Lets one event happen at a moment. Effects are appended and are to be performed in order.
  mutating func apply(_ event: VendingEvent, at now: WallTime, into effects: inout [VendingEffect])

  /// Which machine this is.
  var machine: Int64 { get }
  /// Whether anything is staged that is not on disk.
  var isUnsettled: Bool { get }
  /// Whether what the stock has said could not be written yet.
  var hasUnwritten: Bool { get }
  /// Purchases whose end is not known.
  var unfinishedCount: Int { get }
  /// The money, by what is on disk.
  var settledAccount: MoneyAccount { get }
  /// The last change that is on disk.
  var settledSequence: Int64 { get }
  /// What can be spent, by what is on disk.
  var settledFree: Won { get }
  /// The name of a purchase's order at the stock; nil where nothing of it is under way.
  func stockOrder(of purchase: PurchaseNumber) -> OrderID?
}

extension VendingStateMachine: VendingDecisions {}
