// State machine of the stock. It receives an event and a time, and returns effects. The same events and times have the
// same result. The current day is part of the request.
//
// Path of an order. An invalid request is refused. A request with a name is looked up. A known order gets its first
// answer again and changes nothing; with another content, or after a return, the request is refused. An unknown order
// is done as a whole or not at all. The decision is staged, including the answer to a shortage of a named order, and
// the answer is sent after `committed`. A refusal is not stored.
//
// Durability. What was staged since the last `committed` event may still be lost. If the disk is full, the store and
// the machine both discard it, and the requests whose answers wait for the commit are refused.
//
// Invariant, for every item at all times: the sum of its ledger is the present quantity; no lot is below 0, no item
// above the limit.

import BankModel
import Time

/// State machine of the stock: decides requests and returns effects, which a driver performs. It uses neither store nor
/// clock.
public struct StockMachine: Sendable {
  /// Identity of the ledger.
  public let ledger: Int64
  /// Sequence number of the last change that is on disk.
  public private(set) var durableSequence: Int64

  /// One shelf for each known item, in the order of first use.
  var shelves: [Shelf] = []
  var shelfIndices: [ItemID: Int] = [:]
  /// Sequence number of the last decided change.
  var sequence: Int64
  var lotCount: Int

  /// Original state of the shelves that have changed since the last commit, by index.
  var shelvesBefore: [Int: Shelf] = [:]
  /// Number of shelves, not of lots, at the last commit. A rollback removes the shelves after them.
  private var lotCountBefore: Int
  /// Records of the orders that were staged since the last commit.
  var uncommittedOrders: [OrderID: StoredOrder] = [:]
  /// Requests that wait for the store's record of their order.
  private var pendingLookups: [OrderID: [(request: RequestNumber, action: StockAction)]] = [:]
  /// Answers that are sent after the next commit.
  private var pendingAnswers: [(request: RequestNumber, answer: StockAnswer)] = []
  /// Requests for a snapshot as of the next commit.
  private var pendingSnapshots: [RequestNumber] = []
  /// True if entries were staged since the last commit.
  private var hasStaged = false
  /// True while the remaining disk space is reserved for customers: items are taken and returned, and other changes by
  /// clients are refused.
  private var isLowOnSpace = false

  /// A machine in the state that a store has loaded.
  public init(_ stored: StoredStock) {
    ledger = stored.ledger
    sequence = stored.sequence
    durableSequence = stored.sequence
    shelves = stored.items.map { Shelf($0) }
    lotCount = stored.items.reduce(0) { $0 + $1.lots.count }
    lotCountBefore = shelves.count
    for (index, shelf) in shelves.enumerated() { shelfIndices[shelf.item] = index }
  }

  /// Handles one event at a point in time. Appends effects, which the caller performs in order.
  public mutating func apply(_ event: StockEvent, at now: WallTime, into effects: inout [StockEffect]) {
    switch event {
    case .seedItems(let amounts): seedItems(amounts, at: now, into: &effects)
    case .introduce(let request, _) where isLowOnSpace: answer(request, .refused(.diskFull), into: &effects)
    case .introduce(let request, let items): introduce(items, for: request, at: now, into: &effects)
    case .order(let request, let id, let action): handle(request, id, action, at: now, into: &effects)
    case .querySnapshot(let request):
      if hasStaged {
        pendingSnapshots.append(request)
      } else {
        effects.append(.reply(request, .snapshot(picture)))
      }
    case .found(let id, let stored):
      for (request, action) in pendingLookups.removeValue(forKey: id) ?? [] {
        // The order may have been decided since the store looked it up.
        if let known = uncommittedOrders[id] ?? stored {
          repeated(known, id, action, for: request, at: now, into: &effects)
        } else if isLowOnSpace, !action.isForCustomers {
          answer(request, .refused(.diskFull), into: &effects)
        } else {
          decide(action, id, for: request, at: now, into: &effects)
        }
      }
    case .roomChanged(let isLowOnSpace): self.isLowOnSpace = isLowOnSpace
    case .committed: commitStaged(into: &effects)
    case .commitRefused: rollBack(into: &effects)
    }
  }

  /// True if staged entries wait for a commit.
  public var hasUncommittedChanges: Bool { hasStaged }

  /// Snapshot of the current state. Clients may see only what is on disk: see ``hasUncommittedChanges``.
  public var picture: StockSnapshot {
    StockSnapshot(ledger: ledger, sequence: sequence, items: shelves.map(\.stock))
  }

  /// Refuses an invalid request, answers one with a staged record, or looks up its name in the store.
  private mutating func handle(
    _ request: RequestNumber, _ id: OrderID?, _ action: StockAction, at now: WallTime,
    into effects: inout [StockEffect]
  ) {
    if let refusal = objection(to: action, id) {
      effects.append(.reply(request, .refused(refusal)))
      return
    }
    guard let id else {
      if isLowOnSpace, !action.isForCustomers { return answer(request, .refused(.diskFull), into: &effects) }
      return decide(action, nil, for: request, at: now, into: &effects)
    }
    if let known = uncommittedOrders[id] {
      return repeated(known, id, action, for: request, at: now, into: &effects)
    }
    // One lookup per order: requests under the same name that arrive meanwhile use its result.
    pendingLookups[id, default: []].append((request, action))
    if pendingLookups[id]?.count == 1 { effects.append(.lookUp(id)) }
  }

  /// Answers a request whose name has a record: with the first answer, a return, or a refusal.
  private mutating func repeated(
    _ known: StoredOrder, _ id: OrderID, _ action: StockAction, for request: RequestNumber, at now: WallTime,
    into effects: inout [StockEffect]
  ) {
    if action == .returnItems { return returnItems(known, id, for: request, at: now, into: &effects) }
    if known.outcome == .void || known.returned != nil {
      return answer(request, .refused(.wasReturned(id)), into: &effects)
    }
    let isSame = known.content == action.content
    answer(request, isSame ? known.answer : .refused(.orderConflict(id)), into: &effects)
  }

  /// Adds an entry to the open transaction, and remembers the record of its order.
  mutating func stage(_ entry: StockEntry, into effects: inout [StockEffect]) {
    hasStaged = true
    if case .ordered(let id, let content, let outcome) = entry.name {
      uncommittedOrders[id] = StoredOrder(content: content, outcome: outcome, changes: entry.changes)
    }
    effects.append(.stage(entry))
  }

  /// Answers a request after everything that the answer depends on is on disk.
  mutating func answer(_ request: RequestNumber, _ answer: StockAnswer, into effects: inout [StockEffect]) {
    if hasStaged { pendingAnswers.append((request, answer)) } else { effects.append(.reply(request, answer)) }
  }

  /// After a commit, sends the answers that waited for it, and takes the present state as the one on disk.
  private mutating func commitStaged(into effects: inout [StockEffect]) {
    durableSequence = sequence
    lotCountBefore = shelves.count
    for (request, answer) in pendingAnswers { effects.append(.reply(request, answer)) }
    clearUncommitted(into: &effects)
  }

  /// Restores the state of the last commit, and refuses the requests whose answers waited for the next one.
  private mutating func rollBack(into effects: inout [StockEffect]) {
    for (index, shelf) in shelvesBefore where index < lotCountBefore { shelves[index] = shelf }
    for shelf in shelves[lotCountBefore...] { shelfIndices[shelf.item] = nil }
    shelves.removeSubrange(lotCountBefore...)
    lotCount = shelves.reduce(0) { $0 + $1.lots.count }
    sequence = durableSequence
    for (request, _) in pendingAnswers { effects.append(.reply(request, .refused(.diskFull))) }
    clearUncommitted(into: &effects)
  }

  /// After a commit or a rollback, clears the data kept for it, and sends the snapshots that waited.
  private mutating func clearUncommitted(into effects: inout [StockEffect]) {
    hasStaged = false
    pendingAnswers.removeAll(keepingCapacity: true)
    shelvesBefore.removeAll(keepingCapacity: true)
    uncommittedOrders.removeAll(keepingCapacity: true)
    for request in pendingSnapshots { effects.append(.reply(request, .snapshot(picture))) }
    pendingSnapshots.removeAll(keepingCapacity: true)
  }
}

extension StockAction {
  /// True for an action that takes or returns items, because an accepted customer or a purchase may wait for it.
  fileprivate var isForCustomers: Bool {
    switch self {
    case .take, .returnItems: true
    case .set, .change, .discardExpired: false
    }
  }
}

/// Interface of the stock's state machine for the service process, so that tests can replace the machine.
public protocol StockServiceMachine: PureStateMachine where Event == StockEvent, Effect == StockEffect {
  /// Identity of the ledger.
  var ledger: Int64 { get }
  /// Snapshot of the stock, including staged changes.
  var picture: StockSnapshot { get }
}

extension StockServiceMachine {
  /// Identity of the ledger.
  public var identity: Int64 { ledger }
}

extension StockEvent: StoreEvents {}
extension StockMachine: StockServiceMachine {}
