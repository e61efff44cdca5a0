// Fixtures of the tests of the stock's stores: a stock with its machine around a store, which can crash, and
// whose store on disk is opened again from a copy of its files.

import BankModel
import QueueCore
import StockCore
import Time

@testable import Storage

final class StockFixture {
  let kind: StoreKind
  private(set) var store: any StockStore<StoreError>
  private(set) var scratch = Scratch()
  private(set) var machine: StockMachine
  private(set) var answers: [UInt64: StockAnswer] = [:]
  private var lastRequest: UInt64 = 0
  private var clock: Int64 = 1_700_000_000_000

  init(_ kind: StoreKind) throws {
    self.kind = kind
    store = kind == .memory ? MemoryStockStore() : try SQLiteStockStore(path: scratch.stock)
    machine = StockMachine(try store.load(newLedger: 41))
    try process(.seedItems(Assortment.standard.fruits.map { ItemAmount($0.id, $0.initial) }))
    try commit()
  }

  /// The store on disk; for tests that inspect it.
  var sqlite: SQLiteStockStore? { store as? SQLiteStockStore }

  func process(_ event: StockEvent) throws {
    clock += 1
    var effects: [StockEffect] = []
    machine.apply(event, at: WallTime(milliseconds: clock), into: &effects)
    for effect in effects {
      switch effect {
      case .lookUp(let id): try process(.found(id, try store.order(id)))
      case .stage(let entry): try store.stage(entry)
      case .reply(let request, let answer): answers[request] = answer
      }
    }
  }

  @discardableResult
  func ask(_ action: StockAction, as name: String? = nil) throws -> UInt64 {
    lastRequest += 1
    try process(.order(lastRequest, name.map { OrderID($0) }, action))
    return lastRequest
  }

  func order(_ action: StockAction, as name: String? = nil) throws -> StockAnswer? {
    let request = try ask(action, as: name)
    try commit()
    return answers[request]
  }

  func take(_ amounts: [(String, Quantity)], as name: String) throws -> StockAnswer? {
    try order(.take(amounts.map { ItemAmount(ItemID($0.0), $0.1) }, today: 100), as: name)
  }

  func commit() throws {
    try store.commit()
    try process(.committed)
  }

  /// The process is killed, and the next one opens what is on disk.
  func crash() throws {
    if let memory = store as? MemoryStockStore {
      memory.crash()
    } else {
      let copy = scratch.copyAfterKill()
      store = try SQLiteStockStore(path: copy.stock)
      scratch = copy
    }
    machine = StockMachine(try store.load(newLedger: 42))
  }
}

extension Scratch {
  var stock: String { "\(path)/stock.db" }
}
