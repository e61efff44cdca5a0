// The reserve of the stock and of the vending machine: clients do not notice a full disk as long as the
// reserve lasts, and nothing staged is lost.

import BankModel
import CSQLite
import Glibc
import QueueCore
import StockCore
import Testing
import Time
import VendingCore

@testable import Storage

@Suite("Room of the services")
struct ServiceDiskSpaceTests {
  @Test(
    "a stock uses a part of its reserve, repeats what the full disk took, and is short until room"
  )
  func stock() throws {
    let room = try StockFixture(.sqlite)
    let store = try #require(room.sqlite)
    #expect(store.reservedBytes == 0, "it was not requested")
    store.enableReserve()
    let held = store.reservedBytes
    #expect(held > 0 && !store.isLowOnSpace)
    let fault = FileFault(in: store.database, .log)
    _ = try room.ask(.take([ItemAmount(ItemID("kiwi"), 1)], today: 1), as: "a")
    let second = try room.ask(.take([ItemAmount(ItemID("kiwi"), 2)], today: 1), as: "b")
    fault.fillOnce()
    try room.commit()
    #expect(store.isLowOnSpace && store.reservedBytes < held)
    guard case .done(let rows)? = room.answers[second] else {
      Issue.record("\(room.answers)")
      return
    }
    #expect(rows.map(\.present) == [7])
    #expect(try store.order(OrderID("a"))?.outcome == .done && store.order(OrderID("b"))?.outcome == .done)
    store.refreshDiskSpace()
    #expect(!store.isLowOnSpace && store.reservedBytes >= held)
    #expect(try store.audit().problems == [])
    try store.close()
  }

  @Test("a stock without reserve reports a full disk, and continues when there is room")
  func stockWithNothingLeft() throws {
    let room = try StockFixture(.sqlite)
    let store = try #require(room.sqlite)
    store.enableReserve()
    let fault = FileFault(in: store.database, .log)
    fault.write = SQLITE_FULL
    #expect(storeError { _ = try room.take([("kiwi", 1)], as: "a") }?.kind == "diskFull")
    #expect(store.reservedBytes == 0 && !store.hasStagedChanges)
    fault.heal()
    try room.crash()
    #expect(try room.take([("kiwi", 1)], as: "a") != nil)
    #expect(try room.store.audit().problems == [])
  }

  @Test("while a stock is short, orders are done and given back, and all other changes are refused")
  func shortStock() throws {
    let room = try StockFixture(.sqlite)
    try room.process(.roomChanged(isLowOnSpace: true))
    #expect(try room.order(.set(ItemID("kiwi"), 3)) == .refused(.diskFull))
    #expect(try room.order(.change(ItemID("kiwi"), by: 3, dates: nil), as: "c") == .refused(.diskFull))
    guard case .done? = try room.take([("kiwi", 1)], as: "a"),
      case .done? = try room.order(.returnItems, as: "a")
    else {
      Issue.record("\(room.answers)")
      return
    }
    try room.process(.roomChanged(isLowOnSpace: false))
    guard case .done? = try room.order(.set(ItemID("kiwi"), 3), as: "d") else {
      Issue.record("\(room.answers)")
      return
    }
  }

  @Test("a vending machine writes again what the full disk took")
  func vending() throws {
    let scratch = Scratch()
    let store = try SQLiteVendingStore(path: "\(scratch.path)/vending.db")
    _ = try store.load(newMachine: 1)
    store.enableReserve()
    let held = store.reservedBytes
    #expect(held > 0)
    let fault = FileFault(in: store.database, .log)
    for sequence in 1...2 as ClosedRange<Int64> {
      let change = MoneyChange(
        sequence: sequence, kind: .inserted, amount: 100, balance: 100 * sequence,
        request: OrderID("r\(sequence)"),
        at: WallTime(milliseconds: 1))
      try store.stage(VendingEntry(change: change))
    }
    fault.fillOnce()
    try store.commit()
    #expect(store.isLowOnSpace && store.reservedBytes < held)
    #expect(try store.audit().changes == 2)
    store.refreshDiskSpace()
    #expect(!store.isLowOnSpace)
    #expect(try store.audit().problems == [])
    try store.close()
  }

  @Test("a limit of the size of files is a full disk, and not the end of the store")
  func limit() throws {
    let scratch = Scratch()
    let store = try SQLiteVendingStore(path: "\(scratch.path)/vending.db")
    _ = try store.load(newMachine: 1)
    let change = MoneyChange(
      sequence: 1, kind: .inserted, amount: 100, balance: 100, request: OrderID("r"),
      at: WallTime(milliseconds: 1))
    let fault = FileFault(in: store.database, .log)
    try store.stage(VendingEntry(change: change))
    fault.limitSize()
    #expect(storeError { try store.commit() }?.kind == "diskFull")
    fault.heal()
    try store.stage(VendingEntry(change: change))
    try store.commit()
    #expect(try store.audit().problems == [])
  }
}
