// State machine of a vending machine's money. It receives an event and a time, and returns effects. The same events
// and times always have the same result.
//
// Path of a request. An invalid request is refused. A request whose name has a record gets the recorded answer again,
// and changes nothing. A request without a record is decided: an insertion or a return of money is one row of the
// ledger. A refusal, except that of a purchase whose intent was written, is not recorded.
//
// Path of a purchase. The intent is written first. When it is on disk, the stock is asked under a name that belongs to
// this intent alone. The stock's answer is recorded together with the end of the intent. If the stock has given the
// drink, one row of the ledger contains price and dates. A restarted machine asks the stock again under the same name,
// so a drink is taken once however often it is requested. If the stock refuses or does not answer, the intent is
// abandoned. The machine writes the abandoned intent before it answers the client, and then asks the stock until it has
// returned everything that it holds under the name. The money of an intent is reserved until its end, so that the same
// money does not pay for two drinks.
//
// Durability. Everything that was staged since the last `committed` event may still be lost. If the disk is full, the
// store and the machine both discard all of it. The stock's answers are kept, and written when there is space.
//
// Invariant: inserted money = balance + price of purchases + returned money; the balance is at least the price of all
// intents that wait for the stock.

import BankModel
import Time

/// State machine of a vending machine's money. It uses neither store nor clock.
public struct VendingStateMachine: Sendable {
  /// Identity of the machine; see ``StoredVending/machine``.
  public let machine: Int64
  /// Last purchase whose order name at the stock contains only its number; 0 for none.
  private let lastPlainPurchase: PurchaseNumber

  /// Money, purchases and sequence numbers of the machine. A failed commit restores the copy as of the last commit.
  struct State: Sendable {
    var account: MoneyAccount
    /// Sequence number of the last change, which may be staged.
    var sequence: Int64
    var lastPurchase: PurchaseNumber
    /// Unfinished intents, and abandoned ones that are not released yet.
    var unfinished: [PurchaseNumber: StoredPurchase]
    /// Price of all purchases that wait for the stock's answer.
    var reserved: Won
  }

  /// Current state, including staged changes.
  var state: State
  /// State as of the last commit.
  private var durable: State
  let prices: [ItemID: Won]
  /// Records of the requests that were staged since the last commit.
  var uncommittedRequests: [OrderID: StoredRequest] = [:]
  private var pendingLookups: [OrderID: [(request: RequestNumber, action: VendingAction)]] = [:]
  var waiting: [PurchaseNumber: [RequestNumber]] = [:]
  /// Answers of the stock that are not on disk yet.
  var outcomes: [PurchaseNumber: StockOutcome] = [:]
  /// Releases by the stock that are not on disk yet.
  var released: Set<PurchaseNumber> = []
  /// Answers that are sent after the next commit, each with the purchase that it ends; nil for none.
  private var pendingAnswers: [(request: RequestNumber, answer: VendingAnswer, purchase: PurchaseNumber?)] =
    []
  /// Effects to perform after all staged entries are on disk.
  private var afterCommit: [VendingEffect] = []
  private var hasStaged = false
  /// True while the remaining disk space is reserved for unfinished work.
  var isLowOnSpace = false

  /// A machine in the state that a store has loaded.
  ///
  /// - Parameter table: the products and their prices.
  public init(_ stored: StoredVending, _ table: ProductTable) {
    self.init(stored, prices: Dictionary(table.products.map { ($0.id, $0.price) }, uniquingKeysWith: { $1 }))
  }

  /// A machine in the state that a store has loaded.
  public init(_ stored: StoredVending, prices: [ItemID: Won]) {
    machine = stored.machine
    lastPlainPurchase = stored.lastPlainPurchase
    let open = stored.unfinished.filter { $0.state == .open }
    state = State(
      account: stored.account, sequence: stored.sequence, lastPurchase: stored.lastPurchase,
      unfinished: Dictionary(stored.unfinished.map { ($0.number, $0) }, uniquingKeysWith: { $1 }),
      reserved: open.reduce(0) { $0 + $1.price })
    durable = state
    self.prices = prices
  }

  /// The money that is on disk.
  public var durableAccount: MoneyAccount { durable.account }
  /// Sequence number of the last change that is on disk.
  public var durableSequence: Int64 { durable.sequence }
  /// Won that can be spent: the balance on disk, minus the price of purchases in progress.
  public var durableAvailableBalance: Won { durable.account.balance - durable.reserved }
  /// True if staged entries wait for a commit.
  public var hasUncommittedChanges: Bool { hasStaged }
  /// True if a result could not be written because the disk is full; retry with ``VendingEvent/retry``.
  public var hasUnwritten: Bool { !hasStaged && (!outcomes.isEmpty || !released.isEmpty) }
  /// Number of purchases that are in progress, or abandoned and not yet released by the stock.
  public var unfinishedCount: Int { state.unfinished.count }

  /// Order name at the stock of an unfinished purchase; nil for any other purchase.
  public func stockOrder(of purchase: PurchaseNumber) -> OrderID? {
    state.unfinished[purchase].map {
      Self.stockOrder(machine: machine, purchase: $0, lastPlain: lastPlainPurchase)
    }
  }

  /// Order name at the stock of a machine's purchase. Names sort in the order of the purchases. The name of a purchase
  /// after `lastPlain` also contains its start time, because a machine restored from an older copy assigns the same
  /// numbers again.
  ///
  /// - Parameter lastPlain: see ``StoredVending/lastPlainPurchase``.
  public static func stockOrder(
    machine: Int64, purchase: StoredPurchase, lastPlain: PurchaseNumber = 0
  ) -> OrderID {
    let plain = beginningOfOrders(of: machine) + hexadecimal(UInt64(purchase.number), 10)
    guard purchase.number > lastPlain else { return OrderID(plain) }
    return OrderID(plain + "-" + String(purchase.at.milliseconds, radix: 36))
  }

  /// Common prefix of the names of all orders of a machine.
  public static func beginningOfOrders(of machine: Int64) -> String {
    "v" + hexadecimal(UInt64(bitPattern: machine), 16) + "-"
  }

  /// The number in hexadecimal digits, with leading zeros up to this width.
  private static func hexadecimal(_ number: UInt64, _ width: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }

  /// Handles one event at a point in time. Appends effects, which the caller performs in order.
  public mutating func apply(_ event: VendingEvent, at now: WallTime, into effects: inout [VendingEffect]) {
    switch event {
    case .began: begin(into: &effects)
    case .requested(let request, let id, let action): handle(request, id, action, at: now, into: &effects)
    case .found(let id, let stored):
      for (request, action) in pendingLookups.removeValue(forKey: id) ?? [] {
        // The request may have been decided since the store looked it up.
        if let known = uncommittedRequests[id] ?? stored {
          repeated(known, id, action, for: request, into: &effects)
        } else {
          decide(action, id, for: request, at: now, into: &effects)
        }
      }
    case .stockAnswered(let number, let outcome):
      guard state.unfinished[number]?.state == .open, outcomes[number] == nil else { return }
      outcomes[number] = outcome
      recordOutcome(number, outcome, at: now, into: &effects)
    case .released(let number):
      guard state.unfinished[number]?.state == .releasing else { return }
      released.insert(number)
      recordRelease(number, into: &effects)
    case .retry:
      guard hasUnwritten else { return }
      for (number, outcome) in outcomes.sorted(by: { $0.key < $1.key }) {
        recordOutcome(number, outcome, at: now, into: &effects)
      }
      for number in released.sorted() { recordRelease(number, into: &effects) }
    case .roomChanged(let isLowOnSpace): self.isLowOnSpace = isLowOnSpace
    case .committed: commitStaged(into: &effects)
    case .commitRefused: rollBack(into: &effects)
    }
  }

  // MARK: - Requests

  /// Continues all unfinished purchases after the start of the process.
  private func begin(into effects: inout [VendingEffect]) {
    for purchase in state.unfinished.values.sorted(by: { $0.number < $1.number }) {
      let isOpen = purchase.state == .open
      effects.append(isOpen ? .take(purchase.number, purchase.product) : .release(purchase.number))
    }
  }

  /// Refuses an invalid request, answers one with a staged record, or looks up its name in the store.
  private mutating func handle(
    _ request: RequestNumber, _ id: OrderID, _ action: VendingAction, at now: WallTime,
    into effects: inout [VendingEffect]
  ) {
    guard id.isValid, id.text.utf8.count <= VendingLimits.requestLength else {
      return effects.append(.reply(request, .refused(.badRequest(id.text))))
    }
    if case .insert(let amount) = action, !VendingLimits.insertion.contains(amount) {
      return effects.append(.reply(request, .refused(.badAmount(amount))))
    }
    if let known = uncommittedRequests[id] {
      return repeated(known, id, action, for: request, into: &effects)
    }
    // One lookup per name: requests under the same name that arrive meanwhile use its result.
    pendingLookups[id, default: []].append((request, action))
    if pendingLookups[id]?.count == 1 { effects.append(.lookUp(id)) }
  }

  // MARK: - Staging and settling

  /// Adds an entry to the open transaction. After its commit `effect` is performed, such as the request to the stock.
  mutating func stage(
    _ entry: VendingEntry, then effect: VendingEffect? = nil, into effects: inout [VendingEffect]
  ) {
    hasStaged = true
    if let change = entry.change {
      state.account.apply(change)
      state.sequence = change.sequence
      precondition(
        state.account.difference == 0 && state.account.balance >= 0, "money is neither made nor lost")
      uncommittedRequests[change.request] = .done(change)
    } else if let purchase = entry.purchase {
      uncommittedRequests[purchase.request] = .purchase(purchase)
    }
    if let effect { afterCommit.append(effect) }
    effects.append(.stage(entry))
  }

  /// Answers a request, after the next commit if entries are staged. `purchase` is the purchase that ended with this
  /// answer: after a failed commit the request waits for its end again.
  mutating func answer(
    _ request: RequestNumber, _ answer: VendingAnswer, endOf purchase: PurchaseNumber? = nil,
    into effects: inout [VendingEffect]
  ) {
    if hasStaged {
      pendingAnswers.append((request, answer, purchase))
    } else {
      effects.append(.reply(request, answer))
    }
  }

  /// After a commit, sends the answers that waited for it, and returns the effects that had to follow it.
  private mutating func commitStaged(into effects: inout [VendingEffect]) {
    durable = state
    for (request, answer, _) in pendingAnswers { effects.append(.reply(request, answer)) }
    outcomes = outcomes.filter { state.unfinished[$0.key]?.state == .open }
    released = released.filter { state.unfinished[$0] != nil }
    effects += afterCommit
    clearUncommitted()
  }

  /// Restores the state of the last commit, and refuses the requests whose changes are lost.
  private mutating func rollBack(into effects: inout [VendingEffect]) {
    state = durable
    for (request, answer, purchase) in pendingAnswers {
      // The end of the purchase was undone, so its clients continue to wait.
      if let purchase, state.unfinished[purchase]?.state == .open {
        waiting[purchase, default: []].append(request)
      } else if answer.isValid(asOf: durable.sequence) {
        effects.append(.reply(request, answer))
      } else {
        effects.append(.reply(request, .refused(.diskFull)))
      }
    }
    for (purchase, requests) in waiting where state.unfinished[purchase] == nil {
      waiting[purchase] = nil
      for request in requests { effects.append(.reply(request, .refused(.diskFull))) }
    }
    clearUncommitted()
  }

  /// After a commit or a rollback, clears the entries, answers and effects that waited for the commit.
  private mutating func clearUncommitted() {
    hasStaged = false
    pendingAnswers.removeAll(keepingCapacity: true)
    afterCommit.removeAll(keepingCapacity: true)
    uncommittedRequests.removeAll(keepingCapacity: true)
  }
}

extension VendingAnswer {
  /// True if the answer is still valid after staged entries were discarded: it changed nothing, or its change
  /// is on disk.
  fileprivate func isValid(asOf sequence: Int64) -> Bool {
    switch self {
    case .done(let change): change.sequence <= sequence
    case .refused: true
    }
  }
}

/// Interface of the vending machine's state machine for the service process, so that tests can replace the machine.
public protocol VendingServiceMachine: PureStateMachine where Event == VendingEvent, Effect == VendingEffect {
  /// Identity of the machine.
  var machine: Int64 { get }
  /// True if an answer of the stock could not be written yet.
  var hasUnwritten: Bool { get }
  /// Number of purchases that are in progress, or abandoned and not yet released by the stock.
  var unfinishedCount: Int { get }
  /// The money that is on disk.
  var durableAccount: MoneyAccount { get }
  /// Money that can be spent, according to the state on disk.
  var durableAvailableBalance: Won { get }
  /// Order name at the stock of an unfinished purchase; nil for any other purchase.
  func stockOrder(of purchase: PurchaseNumber) -> OrderID?
}

extension VendingServiceMachine {
  /// Identity of the machine.
  public var identity: Int64 { machine }
  /// Event that stages unwritten answers of the stock again; nil if there are none.
  public var retry: VendingEvent? { hasUnwritten ? .retry : nil }
}

extension VendingEvent: StoreEvents {}
extension VendingStateMachine: VendingServiceMachine {}
