// Fixtures of the tests of the vending machine's stores: a machine around a store, whose stock answers as the
// test decides, which can crash, and whose store on disk is opened again from a copy of its files.

import BankModel
import QueueCore
import Time
import VendingCore

@testable import Storage

final class VendingFixture {
  static let prices: [ItemID: Won] = [ItemID("top"): 1_700, ItemID("hot6"): 1_000]

  let kind: StoreKind
  private(set) var store: any VendingStore<StoreError>
  private(set) var scratch = Scratch()
  private(set) var machine: VendingStateMachine
  private(set) var answers: [UInt64: VendingAnswer] = [:]
  /// Purchases that the stock is asked for.
  private(set) var requested: [PurchaseNumber] = []
  private var releasing: [PurchaseNumber] = []
  private var lastRequest: UInt64 = 0
  private var clock: Int64 = 1_700_000_000_000

  init(_ kind: StoreKind) throws {
    self.kind = kind
    store = kind == .memory ? MemoryVendingStore() : try SQLiteVendingStore(path: scratch.vending)
    machine = VendingStateMachine(try store.load(newMachine: 41), prices: Self.prices)
  }

  /// The store on disk; for tests that inspect it.
  var sqlite: SQLiteVendingStore? { store as? SQLiteVendingStore }

  func process(_ event: VendingEvent) throws {
    clock += 1
    var effects: [VendingEffect] = []
    machine.apply(event, at: WallTime(milliseconds: clock), into: &effects)
    for effect in effects {
      switch effect {
      case .lookUp(let id): try process(.found(id, try store.request(id)))
      case .stage(let entry): try store.stage(entry)
      case .reply(let request, let answer): answers[request] = answer
      case .take(let purchase, _): requested.append(purchase)
      case .release(let purchase): releasing.append(purchase)
      }
    }
  }

  @discardableResult
  func ask(_ action: VendingAction, as name: String) throws -> UInt64 {
    lastRequest += 1
    try process(.requested(lastRequest, OrderID(name), action))
    return lastRequest
  }

  /// The stock answers everything that it was asked.
  func stockAnswers(_ outcome: StockOutcome) throws {
    let purchases = requested
    requested = []
    for purchase in purchases { try process(.stockAnswered(purchase, outcome)) }
  }

  /// The stock has put everything back.
  func release() throws {
    let purchases = releasing
    releasing = []
    for purchase in purchases { try process(.released(purchase)) }
  }

  @discardableResult
  func insert(_ won: Won, as name: String) throws -> VendingAnswer? {
    let request = try ask(.insert(won), as: name)
    try commit()
    return answers[request]
  }

  @discardableResult
  func buy(_ product: String, as name: String, _ outcome: StockOutcome = .taken(nil)) throws -> VendingAnswer?
  {
    let request = try ask(.buy(ItemID(product)), as: name)
    try commit()
    try stockAnswers(outcome)
    try commit()
    return answers[request]
  }

  func commit() throws {
    guard machine.hasUncommittedChanges else { return }
    try store.commit()
    try process(.committed)
  }

  func refuse() throws {
    guard machine.hasUncommittedChanges else { return }
    store.rollBack()
    try process(.commitRefused)
  }

  /// The process is killed, and the next one opens what is on disk.
  func crash() throws {
    if let memory = store as? MemoryVendingStore {
      memory.crash()
    } else {
      let copy = scratch.copyAfterKill()
      store = try SQLiteVendingStore(path: copy.vending)
      scratch = copy
    }
    (requested, releasing) = ([], [])
    machine = VendingStateMachine(try store.load(newMachine: 42), prices: Self.prices)
    try process(.began)
  }
}

extension Scratch {
  var vending: String { "\(path)/vending.db" }
}
