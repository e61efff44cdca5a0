// Owns what a process needs of the machine's rules: an event and a moment go in, effects come out. It must not know how
// they decide. Invariant: `VendingStateMachine` conforms without a line of its own, so what is simulated with something
// around it is what runs in production.

import BankModel

/// The rules of a vending machine, as the process around them sees them.
public protocol VendingDecisions: Decisions where Event == VendingEvent, Effect == VendingEffect {
  /// Which machine this is.
  var machine: Int64 { get }
  /// Whether what the stock has said could not be written yet.
  var hasUnwritten: Bool { get }
  /// Purchases whose end is not known.
  var unfinishedCount: Int { get }
  /// The money, by what is on disk.
  var settledAccount: MoneyAccount { get }
  /// What can be spent, by what is on disk.
  var settledFree: Won { get }
  /// The name of a purchase's order at the stock; nil where nothing of it is under way.
  func stockOrder(of purchase: PurchaseNumber) -> OrderID?
}

extension VendingDecisions {
  /// Which machine this is.
  public var identity: Int64 { machine }
  /// What the stock has said cannot be asked for again: it is written when there is room.
  public var retry: VendingEvent? { hasUnwritten ? .retried : nil }
}

extension VendingEvent: StoreEvents {}
extension VendingStateMachine: VendingDecisions {}
