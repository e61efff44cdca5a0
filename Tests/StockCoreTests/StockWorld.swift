// A stock with a shell and a disk of its own, both as plain as possible: staged changes are a list, committed
// ones another. The world records every answer, and can crash or run out of disk at any moment.

import BankModel
import Time

@testable import StockCore

final class StockWorld {
  static let fruits = Assortment.standard.fruits.map { ItemAmount($0.id, $0.initial) }

  private(set) var machine: StockMachine
  private(set) var answers: [RequestNumber: StockAnswer] = [:]
  private(set) var committed = Disk()
  private var staged = Disk()
  private var effects: [StockEffect] = []
  private var lastRequest: RequestNumber = 0
  private var clock: Int64 = 1_000

  /// The contents of a disk, as rows.
  struct Disk {
    var items: [ItemID] = []
    var changes: [StockChange] = []
    var orders: [OrderID: StoredOrder] = [:]

    mutating func write(_ entry: StockEntry) {
      items += entry.items
      changes += entry.changes
      switch entry.name {
      case .ordered(let id, let content, let outcome):
        precondition(orders[id] == nil, "order \(id) is written twice")
        orders[id] = StoredOrder(content: content, outcome: outcome, changes: entry.changes)
      case .wasReturned(let id): orders[id]?.returned = entry.changes
      case nil: break
      }
    }

    /// The stock by the ledger alone.
    var stored: StoredStock {
      var shelves = Dictionary(uniqueKeysWithValues: items.map { ($0, [LotDates?: Quantity]()) })
      for row in changes { shelves[row.item, default: [:]][row.dates, default: 0] += row.difference }
      let stocks = items.map { item in
        let lots = (shelves[item] ?? [:]).filter { $0.value != 0 }.map {
          Lot(dates: $0.key, quantity: $0.value)
        }
        return ItemStock(item: item, lots: lots.sorted { $0.comesBefore($1.dates) })
      }
      return StoredStock(items: stocks, sequence: Int64(changes.count), ledger: 7)
    }
  }

  init(_ items: [ItemAmount] = StockWorld.fruits) {
    machine = StockMachine(StoredStock(ledger: 7))
    process(.seedItems(items))
    commit()
  }

  func process(_ event: StockEvent) {
    clock += 1
    machine.apply(event, at: WallTime(milliseconds: clock), into: &effects)
    while !effects.isEmpty {
      switch effects.removeFirst() {
      case .lookUp(let id): process(.found(id, staged.orders[id]))
      case .stage(let entry): staged.write(entry)
      case .reply(let request, let answer):
        precondition(answers[request] == nil, "request \(request) is answered twice")
        answers[request] = answer
      }
    }
  }

  /// Sends a request, and does not wait.
  func ask(_ action: StockAction, as name: String? = nil) -> RequestNumber {
    lastRequest += 1
    process(.order(lastRequest, name.map { OrderID($0) }, action))
    return lastRequest
  }

  func querySnapshot() -> RequestNumber {
    lastRequest += 1
    process(.querySnapshot(lastRequest))
    return lastRequest
  }

  /// Sends a request, commits, and returns the answer.
  func order(_ action: StockAction, as name: String? = nil) -> StockAnswer? {
    let request = ask(action, as: name)
    commit()
    return answers[request]
  }

  func take(_ amounts: [(String, Quantity)], as name: String? = nil, today: DayNumber = 100) -> StockAnswer? {
    order(.take(amounts.map { ItemAmount(ItemID($0.0), $0.1) }, today: today), as: name)
  }

  func commit() {
    committed = staged
    process(.committed)
  }

  /// The disk is full: the store has forgotten what was staged.
  func refuseCommit() {
    staged = committed
    process(.commitRefused)
  }

  /// The process is killed, and the next one reads what is on disk.
  func crash() {
    staged = committed
    machine = StockMachine(committed.stored)
  }

  func present(_ item: String) -> Quantity? {
    machine.picture.items.first { $0.item.name == item }?.quantity
  }
}

extension StockAnswer {
  /// The rows of an answer for a change that was done.
  var rows: [StockChange]? { if case .done(let changes) = self { changes } else { nil } }

  var refusal: StockRefusal? { if case .refused(let refusal) = self { refusal } else { nil } }
}
