// Owns the whole logic of the stock. It knows no input, no output, no clock and no chance: an event and a moment go in,
// effects come out, and the same history always has the same end. The day on which something expires comes in with
// the request.
//
// An order's way. A request that contradicts itself is refused at once. One with a name is first looked up: whoever
// is known gets the answer that was given then, and changes nothing. Otherwise it is decided: all of it, or nothing.
// What was decided is staged, the answer of a shortage too, and the answer leaves with `committed`.
//
// What is durable. Everything since the last `committed` is *unsettled*. When the disk is full the store forgets all of
// it, and so does the stock: the shelves are as they were, and everybody who waits is refused.
//
// Invariant, for every item at all times: the sum of its ledger is what is present; no lot is ever below 0, no item
// above the limit.

import BankModel
import Time

/// The stock as a pure state machine.
public struct StockMachine: Sendable {
  /// Which ledger this is.
  public let ledger: Int64
  /// The last change that is on disk.
  public private(set) var settledSequence: Int64

  var shelves: [Shelf] = []
  var places: [ItemID: Int] = [:]
  /// The last change that was decided.
  var sequence: Int64
  var lotCount: Int

  /// Shelves as they were at the last commit, where they have changed since.
  var former: [Int: Shelf] = [:]
  private var formerCount: Int
  var unsettledOrders: [OrderID: StoredOrder] = [:]
  /// Requests that wait for what the store knows of their order.
  private var asking: [OrderID: [(request: RequestNumber, action: StockAction)]] = [:]
  /// Answers that leave with the next commit.
  private var settling: [(request: RequestNumber, answer: StockAnswer)] = []
  /// Requests that are shown the stock as of the next commit.
  private var looking: [RequestNumber] = []
  private var hasStaged = false
  /// Whether what is left of the disk is for those who are to be served: orders are done and given back, and nobody
  /// else changes anything.
  private var isShort = false

  /// The stock as a store has kept it.
  public init(_ stored: StoredStock) {
    ledger = stored.ledger
    sequence = stored.sequence
    settledSequence = stored.sequence
    shelves = stored.items.map { Shelf($0) }
    lotCount = stored.items.reduce(0) { $0 + $1.lots.count }
    formerCount = shelves.count
    for (place, shelf) in shelves.enumerated() { places[shelf.item] = place }
  }

  /// Lets one event happen at a moment. Effects are appended and are to be performed in order.
  public mutating func apply(_ event: StockEvent, at now: WallTime, into effects: inout [StockEffect]) {
    switch event {
    case .furnish(let amounts): furnish(amounts, at: now, into: &effects)
    case .introduce(let request, _) where isShort: answer(request, .refused(.diskFull), into: &effects)
    case .introduce(let request, let items): introduce(items, for: request, at: now, into: &effects)
    case .order(let request, let id, let action): hear(request, id, action, at: now, into: &effects)
    case .look(let request):
      if hasStaged { looking.append(request) } else { effects.append(.reply(request, .picture(picture))) }
    case .found(let id, let stored):
      for (request, action) in asking.removeValue(forKey: id) ?? [] {
        // An order that was decided a moment ago is not what the store has found.
        if let known = unsettledOrders[id] ?? stored {
          repeated(known, id, action, for: request, at: now, into: &effects)
        } else if isShort, !action.isForCustomers {
          answer(request, .refused(.diskFull), into: &effects)
        } else {
          decide(action, id, for: request, at: now, into: &effects)
        }
      }
    case .roomChanged(let isShort): self.isShort = isShort
    case .committed: settle(into: &effects)
    case .commitRefused: unsettle(into: &effects)
    }
  }

  /// Whether anything waits to be written, or for what is written.
  public var isUnsettled: Bool { hasStaged }

  /// The stock as it is. Only what is on disk is for others: see ``isUnsettled``.
  public var picture: StockPicture {
    StockPicture(ledger: ledger, sequence: sequence, items: shelves.map(\.stock))
  }

  private mutating func hear(
    _ request: RequestNumber, _ id: OrderID?, _ action: StockAction, at now: WallTime,
    into effects: inout [StockEffect]
  ) {
    if let refusal = objection(to: action, id) {
      effects.append(.reply(request, .refused(refusal)))
      return
    }
    guard let id else {
      if isShort, !action.isForCustomers { return answer(request, .refused(.diskFull), into: &effects) }
      return decide(action, nil, for: request, at: now, into: &effects)
    }
    if let known = unsettledOrders[id] {
      return repeated(known, id, action, for: request, at: now, into: &effects)
    }
    // One question an order: whoever asks meanwhile hears the answer too.
    asking[id, default: []].append((request, action))
    if asking[id]?.count == 1 { effects.append(.lookUp(id)) }
  }

  private mutating func repeated(
    _ known: StoredOrder, _ id: OrderID, _ action: StockAction, for request: RequestNumber, at now: WallTime,
    into effects: inout [StockEffect]
  ) {
    if action == .giveBack { return giveBack(known, id, for: request, at: now, into: &effects) }
    if known.outcome == .void || known.returned != nil {
      return answer(request, .refused(.givenBack(id)), into: &effects)
    }
    let isSame = known.content == action.content
    answer(request, isSame ? known.answer : .refused(.otherOrder(id)), into: &effects)
  }

  mutating func stage(_ entry: StockEntry, into effects: inout [StockEffect]) {
    hasStaged = true
    if case .ordered(let id, let content, let outcome) = entry.name {
      unsettledOrders[id] = StoredOrder(content: content, outcome: outcome, changes: entry.changes)
    }
    effects.append(.stage(entry))
  }

  /// Answers a request when everything that the answer may rest on is on disk.
  mutating func answer(_ request: RequestNumber, _ answer: StockAnswer, into effects: inout [StockEffect]) {
    if hasStaged { settling.append((request, answer)) } else { effects.append(.reply(request, answer)) }
  }

  private mutating func settle(into effects: inout [StockEffect]) {
    settledSequence = sequence
    formerCount = shelves.count
    for (request, answer) in settling { effects.append(.reply(request, answer)) }
    forgetUnsettled(into: &effects)
  }

  private mutating func unsettle(into effects: inout [StockEffect]) {
    for (place, shelf) in former where place < formerCount { shelves[place] = shelf }
    for shelf in shelves[formerCount...] { places[shelf.item] = nil }
    shelves.removeSubrange(formerCount...)
    lotCount = shelves.reduce(0) { $0 + $1.lots.count }
    sequence = settledSequence
    for (request, _) in settling { effects.append(.reply(request, .refused(.diskFull))) }
    forgetUnsettled(into: &effects)
  }

  private mutating func forgetUnsettled(into effects: inout [StockEffect]) {
    hasStaged = false
    settling.removeAll(keepingCapacity: true)
    former.removeAll(keepingCapacity: true)
    unsettledOrders.removeAll(keepingCapacity: true)
    for request in looking { effects.append(.reply(request, .picture(picture))) }
    looking.removeAll(keepingCapacity: true)
  }
}

extension StockAction {
  /// Whether somebody waits for it who was accepted before: a juice or a drink, or what is given back.
  fileprivate var isForCustomers: Bool {
    switch self {
    case .take, .giveBack: true
    case .set, .change, .discardExpired: false
    }
  }
}

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
