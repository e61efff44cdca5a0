// The stock's rules with its disk, on a store in memory that fails on request.

import BankModel
import QueueCore
import ServiceProcess
import StockCore
import Storage
import Testing
import Time
import Wire

@testable import StockService

@Suite("The stock with its disk")
struct StockDriverTests {
  private final class DriverFixture {
    let store = MemoryStockStore()
    let driver: MachineDriver<StockMachine, StockPersistence>
    var answers: [UInt64: StockAnswer] = [:]
    var troubles: [StoreError?] = []

    init() throws {
      driver = MachineDriver(StockPersistence(store), StockMachine(try store.load(newLedger: 1)))
      driver.onReply = { [unowned self] in answers[$0] = $1 }
      driver.onDiskFull = { [unowned self] in troubles.append($0) }
      driver.process(.seedItems([ItemAmount(ItemID("kiwi"), 10)]), at: at)
      driver.commit(at: at)
      _ = driver.persistence.takeCommitted()
    }

    let at = Moment(monotonic: MonotonicTime(nanoseconds: 5), wall: WallTime(milliseconds: 5))

    func take(_ request: UInt64, _ order: String, _ quantity: Quantity = 1) {
      driver.process(
        .order(request, OrderID(order), .take([ItemAmount(ItemID("kiwi"), quantity)], today: 1)), at: at)
    }
  }

  @Test("answers nothing before the commit, and publishes what was committed")
  func commits() throws {
    let counter = try DriverFixture()
    counter.take(1, "a")
    #expect(counter.answers.isEmpty && counter.driver.persistence.takeCommitted().isEmpty)
    counter.driver.commit(at: counter.at)
    #expect(counter.answers.count == 1)
    #expect(counter.driver.persistence.takeCommitted().map(\.difference) == [-1])
    #expect(counter.driver.persistence.takeCommitted().isEmpty)
  }

  @Test(
    "a view, a repeated order and a refusal for a shortage are answered with the commit, too")
  func toldWithTheCommit() throws {
    let counter = try DriverFixture()
    counter.take(1, "a")
    counter.driver.process(.querySnapshot(2), at: counter.at)
    counter.take(3, "a")
    counter.take(4, "b", 10)
    #expect(counter.answers.isEmpty && counter.driver.machine.durableSequence == 1)
    counter.driver.commit(at: counter.at)
    #expect(counter.answers.count == 4 && counter.answers[3] == counter.answers[1])
    guard case .snapshot(let picture) = counter.answers[2] else {
      Issue.record("no snapshot in \(counter.answers)")
      return
    }
    #expect(picture.items.first?.quantity == 9 && picture.sequence == counter.driver.machine.durableSequence)
    // What is rolled back was never shown.
    counter.take(5, "c")
    counter.driver.process(.querySnapshot(6), at: counter.at)
    counter.store.failCommit(with: .diskFull(detail: "test"))
    counter.driver.commit(at: counter.at)
    #expect(counter.answers[6] == counter.answers[2])
  }

  @Test("a full disk refuses the requests, is reported once, and is over with the next commit")
  func fullDisk() throws {
    let counter = try DriverFixture()
    for round in 1...2 as ClosedRange<UInt64> {
      counter.take(round, "a")
      counter.store.failCommit(with: .diskFull(detail: "test"))
      counter.driver.commit(at: counter.at)
      #expect(counter.answers[round] == .refused(.diskFull))
    }
    #expect(counter.troubles == [.diskFull(detail: "test")])
    counter.take(3, "a")
    counter.driver.commit(at: counter.at)
    #expect(counter.troubles == [.diskFull(detail: "test"), nil])
    guard case .done(let rows)? = counter.answers[3] else {
      Issue.record("\(counter.answers)")
      return
    }
    #expect(rows.map(\.sequence) == [2] && rows.map(\.present) == [9])
    #expect(counter.driver.persistence.takeCommitted() == rows)
    guard case .audit(let report)? = counter.driver.answer(.audit) else {
      Issue.record("no audit")
      return
    }
    #expect(report.problems == [])
  }

  @Test("a question for which the disk has no room is refused, and nothing else is wrong")
  func fullWhileReading() throws {
    let counter = try DriverFixture()
    counter.store.failAudit(with: .diskFull(detail: "no room to sort"))
    let refusal = StockFailure(.diskFull, detail: "no room to sort")
    #expect(counter.driver.answer(.audit) == .failure(refusal) && counter.driver.failure == nil)
    counter.take(1, "a")
    counter.driver.commit(at: counter.at)
    #expect(counter.answers.count == 1)
    guard case .audit? = counter.driver.answer(.audit) else {
      Issue.record("no audit")
      return
    }
    counter.store.failAudit(with: .damaged(path: "memory", detail: "a page"))
    #expect(counter.driver.answer(.audit) == nil && counter.driver.failure != nil)
  }

  @Test("after a failed commit nothing is answered and nothing is done any more")
  func failedDisk() throws {
    let counter = try DriverFixture()
    counter.take(1, "a")
    counter.store.failCommit(with: .failed(path: "memory", detail: "fsync"))
    counter.driver.commit(at: counter.at)
    #expect(counter.driver.failure == .failed(path: "memory", detail: "fsync"))
    counter.take(2, "b")
    counter.driver.commit(at: counter.at)
    #expect(counter.answers.isEmpty)
    #expect(counter.driver.answer(.audit) == nil)
  }

  @Test("a stock that has no room for its shelves does not open")
  func noShelves() throws {
    let store = MemoryStockStore()
    let driver = MachineDriver(StockPersistence(store), StockMachine(try store.load(newLedger: 1)))
    store.failCommit(with: .diskFull(detail: "test"))
    let now = Moment(monotonic: MonotonicTime(nanoseconds: 0), wall: WallTime(milliseconds: 0))
    driver.seedItems([ItemAmount(ItemID("kiwi"), 3)], at: now)
    guard case .diskFull? = driver.failure else {
      Issue.record("\(String(describing: driver.failure))")
      return
    }
    #expect(try store.changes(after: 0, limit: 10) == [])
  }

  @Test("every refusal has a code of its own, the full disk too")
  func refusals() {
    let item = ItemID("kiwi")
    let refusals: [(StockRefusal, StockFailure.Code)] = [
      (.unknownItem(item), .unknownItem), (.badQuantity(item, 0), .badRequest),
      (.itemTwice(item), .badRequest),
      (.badItemCount(0), .badRequest), (.badOrder(""), .badRequest), (.badDates(item), .badRequest),
      (.orderConflict(OrderID("a")), .orderConflict), (.wasReturned(OrderID("a")), .wasReturned),
      (.overflow(item, present: 1), .overflow), (.itemHasDates(item), .itemHasDates),
      (.tooManyLots(item), .tooManyLots), (.diskFull, .diskFull),
    ]
    for (refusal, code) in refusals {
      guard case .failure(let failure) = StockResult(.refused(refusal)) else {
        Issue.record("\(refusal) is not a failure")
        continue
      }
      #expect(failure.code == code)
    }
  }

  @Test("a flood of orders is committed in portions")
  func portions() throws {
    let counter = try DriverFixture()
    for number in 1...5_000 as ClosedRange<UInt64> { counter.take(number, "o\(number)", 11) }
    #expect(counter.answers.count == 4_096)
    counter.driver.commit(at: counter.at)
    #expect(counter.answers.count == 5_000)
  }
}
