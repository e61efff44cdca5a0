// The machine's rules with a full disk, on the store in memory: the report of it, the changes written when
// there is room again, and that nothing is written in part.

import BankModel
import QueueCore
import ServiceProcess
import Storage
import Testing
import Time
import VendingCore
import Wire

@testable import VendingMachine

@Suite("A machine whose disk is full")
struct VendingDriverTests {
  private static let full = StoreError.diskFull(detail: "test")

  private final class DriverFixture {
    let store = MemoryVendingStore()
    let driver: MachineDriver<VendingStateMachine, VendingPersistence>
    var answers: [UInt64: VendingAnswer] = [:]
    var taken: [PurchaseNumber] = []
    private var last: UInt64 = 0

    init() throws {
      let stored = try store.load(newMachine: 7)
      driver = MachineDriver(try VendingPersistence(store), VendingStateMachine(stored, .standard))
      driver.onReply = { [unowned self] in answers[$0] = $1 }
      driver.onEffect = { [unowned self] in if case .take(let purchase, _) = $0 { taken.append(purchase) } }
    }

    func moment(_ milliseconds: Int64) -> Moment {
      Moment(
        monotonic: MonotonicTime(nanoseconds: milliseconds * 1_000_000),
        wall: WallTime(milliseconds: milliseconds))
    }

    func ask(_ action: VendingAction, at milliseconds: Int64) -> UInt64 {
      last += 1
      driver.process(.requested(last, OrderID("r\(last)"), action), at: moment(milliseconds))
      return last
    }

    /// Two purchases whose drinks are taken, and of which only the intent is on disk.
    func buyTwoWithoutRoom() {
      _ = ask(.insert(10_000), at: 1)
      _ = ask(.buy(ItemID("top")), at: 1)
      _ = ask(.buy(ItemID("hot6")), at: 1)
      driver.commit(at: moment(1))
      for purchase in taken {
        driver.process(.stockAnswered(purchase, .taken(nil)), at: moment(2))
        store.failCommit(with: VendingDriverTests.full)
        driver.commit(at: moment(2))
      }
    }
  }

  @Test("shows no money, no purchase and no sale before it is on disk")
  func toldWithTheCommit() throws {
    let counter = try DriverFixture()
    let insertion = counter.ask(.insert(5_000), at: 1)
    #expect(counter.answers.isEmpty && counter.driver.machine.durableAccount.balance == 0)
    counter.driver.commit(at: counter.moment(1))
    #expect(counter.answers[insertion] != nil && counter.driver.machine.durableAccount.balance == 5_000)
    let purchase = counter.ask(.buy(ItemID("top")), at: 2)
    #expect(counter.taken.isEmpty, "the stock is asked when the intent is on disk")
    counter.driver.commit(at: counter.moment(2))
    counter.driver.process(.stockAnswered(counter.taken[0], .taken(nil)), at: counter.moment(3))
    #expect(
      counter.answers[purchase] == nil && counter.driver.persistence.recent.isEmpty
        && counter.driver.persistence.sales.isEmpty)
    #expect(counter.driver.machine.durableAccount.balance == 5_000)
    // A repeated request is answered no sooner.
    counter.driver.process(.requested(99, OrderID("r2"), .buy(ItemID("top"))), at: counter.moment(3))
    #expect(counter.answers[99] == nil)
    counter.driver.commit(at: counter.moment(3))
    #expect(counter.answers[purchase] != nil && counter.answers[99] == counter.answers[purchase])
    #expect(
      counter.driver.persistence.recent.count == 1 && counter.driver.persistence.sales[ItemID("top")] == 1)
  }

  @Test("refuses an audit for which there is no room, and continues")
  func audit() throws {
    let counter = try DriverFixture()
    counter.store.failAudit(with: .diskFull(detail: "no room to sort"))
    let refusal = VendingFailure(.diskFull, detail: "no room to sort")
    #expect(counter.driver.audit() == .failure(refusal) && counter.driver.failure == nil)
    let request = counter.ask(.insert(1_000), at: 1)
    counter.driver.commit(at: counter.moment(1))
    #expect(counter.answers[request] != nil)
    guard case .audit? = counter.driver.audit() else {
      Issue.record("no audit")
      return
    }
    counter.store.failAudit(with: .damaged(path: "memory", detail: "a page"))
    #expect(counter.driver.audit() == nil && counter.driver.failure != nil)
  }

  @Test("reports the full disk")
  func says() throws {
    let counter = try DriverFixture()
    let request = counter.ask(.insert(1_000), at: 1)
    counter.store.failCommit(with: Self.full)
    counter.driver.commit(at: counter.moment(1))
    let answer = try #require(counter.answers[request])
    #expect(answer == .refused(.diskFull))
    #expect(VendingResult(answer) == .failure(VendingFailure(VendingFailure.Code.diskFull)))
  }

  @Test("has a code for every refusal")
  func refusals() {
    let product = ItemID("top")
    let refusals: [(VendingRefusal, VendingFailure.Code)] = [
      (.badAmount(0), .badRequest), (.badRequest(""), .badRequest),
      (.unknownProduct(product), .unknownProduct),
      (.requestConflict(OrderID("a")), .orderConflict),
      (.tooLittleMoney(product, price: 2, available: 1), .tooLittleMoney), (.soldOut(product), .soldOut),
      (.onlyExpired(product), .onlyExpired), (.balanceLimit(balance: 1), .balanceLimit),
      (.stockUnavailable(product), .stockUnavailable), (.crowded, .crowded), (.diskFull, .diskFull),
    ]
    for (refusal, code) in refusals { #expect(VendingFailure(refusal).code == code) }
  }

  @Test("writes the stock's answer as soon as another change has found room")
  func retries() throws {
    let counter = try DriverFixture()
    counter.buyTwoWithoutRoom()
    #expect(counter.driver.machine.hasUnwritten)
    _ = counter.ask(.insert(1_000), at: 3)
    counter.driver.commit(at: counter.moment(3))
    let due = try #require(counter.driver.commitDue)
    #expect(due <= counter.moment(3).monotonic)
    counter.driver.commit(at: counter.moment(3))
    #expect(counter.store.committedChanges.count { $0.kind == .bought } == 2)
    #expect(counter.answers.count == 4)
    #expect(try counter.store.audit().problems.isEmpty)
  }

  @Test("writes nothing of a change that was refused in part")
  func isWhole() throws {
    let counter = try DriverFixture()
    counter.buyTwoWithoutRoom()
    // There is no room for the first of both, and there would be some for the second.
    counter.store.failStage(with: Self.full)
    counter.driver.commit(at: counter.moment(600))
    #expect(!counter.store.hasStagedChanges)
    #expect(counter.driver.failure == nil)
    counter.driver.commit(at: counter.moment(1_200))
    #expect(counter.store.committedChanges.count { $0.kind == .bought } == 2)
    #expect(try counter.store.audit().problems.isEmpty)
  }

  @Test(
    "reads as many purchases at its start as it shows, in a history of any length")
  func start() throws {
    let counter = try DriverFixture()
    for round in 1...150 as ClosedRange<Int64> {
      _ = counter.ask(.insert(5_000), at: round)
      for product in ["top", "hot6"] { _ = counter.ask(.buy(ItemID(product)), at: round) }
      counter.driver.commit(at: counter.moment(round))
      for purchase in counter.taken {
        counter.driver.process(.stockAnswered(purchase, .taken(nil)), at: counter.moment(round))
      }
      counter.taken = []
      _ = counter.ask(.giveChange, at: round)
      counter.driver.commit(at: counter.moment(round))
    }
    let watched = WatchedStore(counter.store)
    let persistence = try VendingPersistence(watched)
    let bought = counter.driver.persistence
    #expect(persistence.recent == bought.recent && persistence.recent.count == bought.recentLimit)
    #expect(watched.rowsRead == bought.recentLimit)
  }
}

/// A store that counts the purchases read from it.
private final class WatchedStore: VendingStore {
  private let store: MemoryVendingStore
  private(set) var rowsRead = 0

  init(_ store: MemoryVendingStore) { self.store = store }

  var hasStagedChanges: Bool { store.hasStagedChanges }

  func load(newMachine machine: Int64) throws(StoreError) -> StoredVending {
    try store.load(newMachine: machine)
  }
  func stage(_ entry: VendingEntry) throws(StoreError) { try store.stage(entry) }
  func commit() throws(StoreError) { try store.commit() }
  func rollBack() { store.rollBack() }
  func request(_ id: OrderID) throws(StoreError) -> StoredRequest? { try store.request(id) }
  func sales() throws(StoreError) -> [ProductSales] { try store.sales() }
  func audit() throws(StoreError) -> VendingAudit { try store.audit() }

  func purchases(after sequence: Int64, limit: Int) throws(StoreError) -> [MoneyChange] {
    let rows = try store.purchases(after: sequence, limit: limit)
    rowsRead += rows.count
    return rows
  }

  func latestPurchases(limit: Int) throws(StoreError) -> [MoneyChange] {
    let rows = try store.latestPurchases(limit: limit)
    rowsRead += rows.count
    return rows
  }
}
