// The production stores of the stock and of the vending machine, driven through random changes on a simulated
// volume, where the power is lost, writes are torn and fail, and the disk gets full. A store in memory is the
// model: after every crash the reopened store has the state before the commit in flight, or the one after it.

import BankModel
import QueueCore
import ServiceProcess
import StockCore
import StockService
import Storage
import Testing
import Time
import VendingCore
import VendingMachine

@testable import Simulator

/// A kind of service with its store on a disk, its store in memory, and the machine that makes the changes.
private protocol PersistedService: AnyObject {
  associatedtype Machine: PureStateMachine
  associatedtype Model: ServicePersistence
  where Model.Event == Machine.Event, Model.Effect == Machine.Effect
  associatedtype Store: DatabaseStore, EntryStore<Model.Entry, StoreError>
  associatedtype Contents: Equatable

  var machine: Machine { get set }
  var model: Model { get }
  /// The time of the next event.
  var clock: Int64 { get set }

  init() throws(StoreError)
  func open(on volume: SimulatedVolume) throws(StoreError) -> Store
  func contents(of store: Store) throws(StoreError) -> Contents
  func contentsOfModel() throws(StoreError) -> Contents
  /// A change of a machine that starts with the contents of the model.
  func entries(_ chance: inout SeededGenerator) throws(StoreError) -> [Model.Entry]
}

extension PersistedService {
  /// The changes of the machine for an event.
  func process(_ event: Machine.Event) throws(StoreError) -> [Model.Entry] {
    clock += 1
    var effects: [Machine.Effect] = []
    var entries: [Model.Entry] = []
    machine.apply(event, at: WallTime(milliseconds: clock), into: &effects)
    for effect in effects {
      switch try model.step(for: effect) {
      case .event(let event): entries += try process(event)
      case .stage(let entry): entries.append(entry)
      case .reply, .serviceEffect: break
      }
    }
    return entries
  }

  func store(_ entries: [Model.Entry], in store: any EntryStore<Model.Entry, StoreError>) throws(StoreError) {
    for entry in entries { try store.stage(entry) }
    try store.commit()
  }
}

@Suite("The services' databases on a simulated volume")
struct ServiceDatabaseTests {
  @Test("the stock's is whole after every loss of power", arguments: 1...10 as ClosedRange<UInt64>)
  func stock(seed: UInt64) throws { try history(of: PersistedStock.self, seed) }

  @Test("the vending machine's is whole after every loss of power", arguments: 1...10 as ClosedRange<UInt64>)
  func vending(seed: UInt64) throws { try history(of: PersistedMachine.self, seed) }

  @Test("a store that does not sync is found out")
  func isFoundOut() {
    for plantedBug in [PlantedBug.neverSyncs, .syncsOnlyAtCheckpoint] {
      let isCaught = (1...100 as ClosedRange<UInt64>).contains { seed in
        (try? history(of: PersistedStock.self, seed, plantedBug: plantedBug, isQuiet: true)) != true
      }
      #expect(isCaught, "\(plantedBug) was not caught")
    }
  }

  /// Runs one history; false if the state found after a crash is impossible.
  @discardableResult
  private func history<Service: PersistedService>(
    of service: Service.Type, _ seed: UInt64, plantedBug: PlantedBug? = nil, isQuiet: Bool = false
  ) throws -> Bool {
    var chance = SeededGenerator(seed: seed &* 77)
    let volume = SimulatedVolume(seed: seed)
    volume.plantedBug = plantedBug
    let service = try Service()
    var store: Service.Store?
    var doubt: [Service.Model.Entry]?
    defer { volume.endProcess(losingPower: false) { store = nil } }
    for life in 0..<12 {
      let isLast = life == 11
      if isLast {
        volume.calm()
      } else if chance.draw(0...3) == 0 {
        volume.callsUntilKill = Int(chance.draw(0...80))
      }
      do throws(StoreError) {
        let opened = try service.open(on: volume)
        store = opened
        opened.enableReserve()
        let found = try service.contents(of: opened)
        let before = try service.contentsOfModel()
        if found != before {
          try service.store(doubt ?? [], in: service.model.store)
          let after = try service.contentsOfModel()
          if !isQuiet { #expect(found == after, "seed \(seed), life \(life): neither before nor after") }
          if found != after { return false }
        }
        doubt = nil
        for _ in 0..<chance.draw(1...12) {
          if !isLast, chance.draw(0...9) == 0 { volume.callsUntilKill = Int(chance.draw(0...8)) }
          if !isLast, chance.draw(0...19) == 0 { volume.fail(chance.draw(0...1) == 0 ? .write : .sync) }
          volume.isFull = !isLast && chance.draw(0...9) == 0
          let entries = try service.entries(&chance)
          do throws(StoreError) {
            try service.store(entries, in: opened)
          } catch {
            guard case .diskFull = error else {
              doubt = entries
              throw error
            }
            opened.refreshDiskSpace()
            continue
          }
          try service.store(entries, in: service.model.store)
        }
        if chance.draw(0...2) == 0 { try store?.close() }
      } catch {
        switch error {
        case .failed where !isLast, .diskFull where !isLast: break
        default:
          if !isQuiet { Issue.record("seed \(seed), life \(life): \(error)") }
          return false
        }
      }
      volume.isFull = false
      volume.endProcess(losingPower: chance.draw(0...2) > 0) { store = nil }
    }
    return true
  }
}

private final class PersistedStock: PersistedService {
  struct Contents: Equatable {
    var stored: StoredStock
    var orders: [OrderRecord]
    var changes: [StockChange]
    var audit: StockAudit
  }

  let model: StockPersistence
  private let memory = MemoryStockStore()
  var machine = StockMachine(StoredStock(ledger: 7))
  var clock: Int64 = 1_700_000_000_000
  private var lastOrder = 0

  init() { model = StockPersistence(memory) }

  func open(on volume: SimulatedVolume) throws(StoreError) -> SQLiteStockStore {
    try SQLiteStockStore(path: "/stock.db", on: volume)
  }

  private func contents(_ store: any StockStore<StoreError>) throws(StoreError) -> Contents {
    Contents(
      stored: try store.load(newLedger: 7), orders: try store.orders(after: nil, limit: .max),
      changes: try store.changes(after: 0, limit: .max), audit: try store.audit())
  }

  func contents(of store: SQLiteStockStore) throws(StoreError) -> Contents { try contents(store) }
  func contentsOfModel() throws(StoreError) -> Contents { try contents(memory) }

  func entries(_ chance: inout SeededGenerator) throws(StoreError) -> [StockEntry] {
    machine = StockMachine(try memory.load(newLedger: 7))
    let items = Assortment.standard.fruits.map(\.id)
    var entries = try process(.seedItems(items.map { ItemAmount($0, 30) }))
    for _ in 0..<chance.draw(1...3) {
      lastOrder += 1
      let item = items[Int(chance.draw(0...Int64(items.count) - 1))]
      let action: StockAction =
        chance.draw(0...2) == 0
        ? .change(item, by: chance.draw(1...9), dates: nil)
        : .take([ItemAmount(item, chance.draw(1...9))], today: 100)
      entries += try process(.order(UInt64(lastOrder), OrderID("order-\(lastOrder)"), action))
    }
    return entries
  }
}

private final class PersistedMachine: PersistedService {
  struct Contents: Equatable {
    var stored: StoredVending
    var purchases: [MoneyChange]
    var sales: [ProductSales]
    var audit: VendingAudit
  }

  let model: VendingPersistence
  private let memory = MemoryVendingStore()
  private static let prices: [ItemID: Won] = [ItemID("top"): 1_700, ItemID("hot6"): 1_000]
  var machine = VendingStateMachine(StoredVending(machine: 7), prices: prices)
  var clock: Int64 = 1_700_000_000_000
  private var lastRequest = 0

  init() throws(StoreError) { model = try VendingPersistence(memory) }

  func open(on volume: SimulatedVolume) throws(StoreError) -> SQLiteVendingStore {
    try SQLiteVendingStore(path: "/vending.db", on: volume)
  }

  private func contents(_ store: any VendingStore<StoreError>) throws(StoreError) -> Contents {
    Contents(
      stored: try store.load(newMachine: 7), purchases: try store.purchases(after: 0, limit: .max),
      sales: try store.sales(), audit: try store.audit())
  }

  func contents(of store: SQLiteVendingStore) throws(StoreError) -> Contents { try contents(store) }
  func contentsOfModel() throws(StoreError) -> Contents { try contents(memory) }

  func entries(_ chance: inout SeededGenerator) throws(StoreError) -> [VendingEntry] {
    machine = VendingStateMachine(try memory.load(newMachine: 7), prices: Self.prices)
    var entries: [VendingEntry] = []
    for _ in 0..<chance.draw(1...3) {
      lastRequest += 1
      let action: VendingAction =
        switch chance.draw(0...4) {
        case 0, 1: .insert(1_000 * chance.draw(1...5))
        case 2: .giveChange
        default: .buy(ItemID(chance.draw(0...1) == 0 ? "top" : "hot6"))
        }
      entries += try process(.requested(UInt64(lastRequest), OrderID("request-\(lastRequest)"), action))
    }
    // Purchases that were open before are finished by the stock's answer.
    for purchase in try memory.load(newMachine: 7).unfinished where purchase.state == .open {
      guard chance.draw(0...1) == 0 else { continue }
      entries += try process(.stockAnswered(purchase.number, .taken(nil)))
    }
    return entries
  }
}
