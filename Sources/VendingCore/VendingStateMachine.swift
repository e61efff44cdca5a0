// Owns the whole logic of a vending machine's money. It knows no input, no output, no clock and no chance: an event and
// a moment go in, effects come out, and the same history always has the same end.
//
// A request's way. Every request has a name. It is first looked up: whoever is known gets the answer that was given
// then, and changes nothing. Otherwise it is decided. Putting money in and giving it back are one row of the ledger.
//
// A purchase's way. Its intent is written first, and only when that is on disk the stock is asked, under a name that
// the intent alone has. What the stock has answered is booked: the price and the history in one row, together with the
// intent's end. A machine that begins again asks the stock again for every intent without an end, under the same name,
// so a drink is taken once however often it is asked for. Where the stock does not answer, the intent is given up: that
// is written before anybody hears of it, and the stock is asked until it has put back whatever the name holds.
// The money of an intent is kept back until its end, so nothing is sold twice for the same coin.
//
// What is durable. Everything since the last `committed` is *unsettled*. When the disk is full the store forgets all of
// it, and so does the machine; what the stock has said is not forgotten, and is written when there is room.
//
// Invariant, at all times: money put in = balance + price of purchases + given back; the balance covers every intent.

import BankModel
import Time

/// A vending machine's money as a pure state machine.
public struct VendingStateMachine: Sendable {
  /// Which machine this is; see ``StoredVending/machine``.
  public let machine: Int64
  private let lastPlainPurchase: PurchaseNumber

  struct State: Sendable {
    var account: MoneyAccount
    var sequence: Int64
    var lastPurchase: PurchaseNumber
    /// Intents without an end, and those that are given up and not released.
    var unfinished: [PurchaseNumber: StoredPurchase]
    var reserved: Won
  }

  var state: State
  private var settled: State
  let prices: [ItemID: Won]
  var unsettledRequests: [OrderID: StoredRequest] = [:]
  private var asking: [OrderID: [(request: RequestNumber, action: VendingAction)]] = [:]
  var waiting: [PurchaseNumber: [RequestNumber]] = [:]
  /// What the stock has said of purchases, until it is on disk.
  var outcomes: [PurchaseNumber: StockOutcome] = [:]
  /// Purchases that the stock has released, until that is on disk.
  var released: Set<PurchaseNumber> = []
  /// Answers that leave with the next commit, and the purchase whose end they tell.
  private var settling: [(request: RequestNumber, answer: VendingAnswer, purchase: PurchaseNumber?)] = []
  /// What is to be done when everything that is staged is on disk.
  private var afterCommit: [VendingEffect] = []
  private var hasStaged = false
  /// Whether what is left of the disk is for what was begun: money is given back, and no new business is taken.
  var isShort = false

  /// A machine as a store has kept it, with the prices of what it sells.
  ///
  /// - Parameter table: what the machine sells, and for how much.
  public init(_ stored: StoredVending, _ table: ProductTable) {
    self.init(stored, prices: Dictionary(table.products.map { ($0.id, $0.price) }, uniquingKeysWith: { $1 }))
  }

  /// A machine as its store has kept it.
  public init(_ stored: StoredVending, prices: [ItemID: Won]) {
    machine = stored.machine
    lastPlainPurchase = stored.lastPlainPurchase
    let open = stored.unfinished.filter { $0.state == .open }
    state = State(
      account: stored.account, sequence: stored.sequence, lastPurchase: stored.lastPurchase,
      unfinished: Dictionary(stored.unfinished.map { ($0.number, $0) }, uniquingKeysWith: { $1 }),
      reserved: open.reduce(0) { $0 + $1.price })
    settled = state
    self.prices = prices
  }

  /// The money that is on disk.
  public var settledAccount: MoneyAccount { settled.account }
  /// The last change that is on disk.
  public var settledSequence: Int64 { settled.sequence }
  /// Won that are free to be spent: what is on disk without what purchases under way will cost.
  public var settledFree: Won { settled.account.balance - settled.reserved }
  /// Whether anything waits to be written, or for what is written.
  public var isUnsettled: Bool { hasStaged }
  /// Whether something that has happened could not be written for want of room; say ``VendingEvent/retried``.
  public var hasUnwritten: Bool { !hasStaged && (!outcomes.isEmpty || !released.isEmpty) }
  /// Purchases whose end is not known.
  public var unfinishedCount: Int { state.unfinished.count }

  /// The name under which the stock is asked for a purchase that has not ended; nil for any other.
  public func stockOrder(of purchase: PurchaseNumber) -> OrderID? {
    state.unfinished[purchase].map {
      Self.stockOrder(machine: machine, purchase: $0, lastPlain: lastPlainPurchase)
    }
  }

  /// The name under which a machine asks the stock for a purchase. Names sort in the order of the purchases. They carry the
  /// moment at which the purchase was begun: in an older copy of the machine its number is given once more.
  ///
  /// - Parameter lastPlain: see ``StoredVending/lastPlainPurchase``.
  public static func stockOrder(
    machine: Int64, purchase: StoredPurchase, lastPlain: PurchaseNumber = 0
  ) -> OrderID {
    let plain = beginningOfOrders(of: machine) + hexadecimal(UInt64(purchase.number), 10)
    guard purchase.number > lastPlain else { return OrderID(plain) }
    return OrderID(plain + "-" + String(purchase.at.milliseconds, radix: 36))
  }

  /// What the names of all orders of a machine begin with.
  public static func beginningOfOrders(of machine: Int64) -> String {
    "v" + hexadecimal(UInt64(bitPattern: machine), 16) + "-"
  }

  private static func hexadecimal(_ number: UInt64, _ width: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }

  /// Lets one event happen at a moment. Effects are appended and are to be performed in order.
  public mutating func apply(_ event: VendingEvent, at now: WallTime, into effects: inout [VendingEffect]) {
    switch event {
    case .began: begin(into: &effects)
    case .asked(let request, let id, let action): hear(request, id, action, at: now, into: &effects)
    case .found(let id, let stored):
      for (request, action) in asking.removeValue(forKey: id) ?? [] {
        // A request that was decided a moment ago is not what the store has found.
        if let known = unsettledRequests[id] ?? stored {
          repeated(known, id, action, for: request, into: &effects)
        } else {
          decide(action, id, for: request, at: now, into: &effects)
        }
      }
    case .stockAnswered(let number, let outcome):
      guard state.unfinished[number]?.state == .open, outcomes[number] == nil else { return }
      outcomes[number] = outcome
      book(number, outcome, at: now, into: &effects)
    case .released(let number):
      guard state.unfinished[number]?.state == .releasing else { return }
      released.insert(number)
      bookRelease(number, into: &effects)
    case .retried:
      guard hasUnwritten else { return }
      for (number, outcome) in outcomes.sorted(by: { $0.key < $1.key }) {
        book(number, outcome, at: now, into: &effects)
      }
      for number in released.sorted() { bookRelease(number, into: &effects) }
    case .roomChanged(let isShort): self.isShort = isShort
    case .committed: settle(into: &effects)
    case .commitRefused: unsettle(into: &effects)
    }
  }

  // MARK: - Requests

  private func begin(into effects: inout [VendingEffect]) {
    for purchase in state.unfinished.values.sorted(by: { $0.number < $1.number }) {
      let isOpen = purchase.state == .open
      effects.append(isOpen ? .take(purchase.number, purchase.product) : .release(purchase.number))
    }
  }

  private mutating func hear(
    _ request: RequestNumber, _ id: OrderID, _ action: VendingAction, at now: WallTime,
    into effects: inout [VendingEffect]
  ) {
    guard id.isValid, id.text.utf8.count <= VendingLimits.requestLength else {
      return effects.append(.reply(request, .refused(.badRequest(id.text))))
    }
    if case .insert(let amount) = action, !VendingLimits.insertion.contains(amount) {
      return effects.append(.reply(request, .refused(.badAmount(amount))))
    }
    if let known = unsettledRequests[id] { return repeated(known, id, action, for: request, into: &effects) }
    // One question a name: whoever asks meanwhile hears the answer too.
    asking[id, default: []].append((request, action))
    if asking[id]?.count == 1 { effects.append(.lookUp(id)) }
  }

  // MARK: - Staging and settling

  mutating func stage(
    _ entry: VendingEntry, then effect: VendingEffect? = nil, into effects: inout [VendingEffect]
  ) {
    hasStaged = true
    if let change = entry.change {
      state.account.apply(change)
      state.sequence = change.sequence
      precondition(
        state.account.difference == 0 && state.account.balance >= 0, "money is neither made nor lost")
      unsettledRequests[change.request] = .done(change)
    } else if let purchase = entry.purchase {
      unsettledRequests[purchase.request] = .purchase(purchase)
    }
    if let effect { afterCommit.append(effect) }
    effects.append(.stage(entry))
  }

  /// Answers a request when everything that the answer may rest on is on disk.
  mutating func answer(
    _ request: RequestNumber, _ answer: VendingAnswer, endOf purchase: PurchaseNumber? = nil,
    into effects: inout [VendingEffect]
  ) {
    if hasStaged {
      settling.append((request, answer, purchase))
    } else {
      effects.append(.reply(request, answer))
    }
  }

  private mutating func settle(into effects: inout [VendingEffect]) {
    settled = state
    for (request, answer, _) in settling { effects.append(.reply(request, answer)) }
    outcomes = outcomes.filter { state.unfinished[$0.key]?.state == .open }
    released = released.filter { state.unfinished[$0] != nil }
    effects += afterCommit
    forgetUnsettled()
  }

  private mutating func unsettle(into effects: inout [VendingEffect]) {
    state = settled
    for (request, answer, purchase) in settling {
      // Whoever waited for the end of a purchase that goes on waits on.
      if let purchase, state.unfinished[purchase]?.state == .open {
        waiting[purchase, default: []].append(request)
      } else if answer.isTrue(asOf: settled.sequence) {
        effects.append(.reply(request, answer))
      } else {
        effects.append(.reply(request, .refused(.diskFull)))
      }
    }
    for (purchase, requests) in waiting where state.unfinished[purchase] == nil {
      waiting[purchase] = nil
      for request in requests { effects.append(.reply(request, .refused(.diskFull))) }
    }
    forgetUnsettled()
  }

  private mutating func forgetUnsettled() {
    hasStaged = false
    settling.removeAll(keepingCapacity: true)
    afterCommit.removeAll(keepingCapacity: true)
    unsettledRequests.removeAll(keepingCapacity: true)
  }
}

extension VendingAnswer {
  /// Whether it stands although what was staged since is forgotten: it changed nothing, or long ago.
  fileprivate func isTrue(asOf sequence: Int64) -> Bool {
    switch self {
    case .done(let change): change.sequence <= sequence
    case .refused: true
    }
  }
}

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
