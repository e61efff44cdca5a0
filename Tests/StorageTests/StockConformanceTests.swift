// The suite that every store of the stock must pass: the same questions after the same orders, with rollbacks
// and crashes. It uses only what the protocol guarantees.

import BankModel
import QueueCore
import StockCore
import Testing
import Time

@testable import Storage

@Suite("Every store of the stock")
struct StockConformanceTests {
  @Test("starts with its initial items, as rows of the ledger", arguments: StoreKind.allCases)
  func beginning(_ kind: StoreKind) throws {
    let room = try StockFixture(kind)
    let rows = try room.store.changes(after: 0, limit: 100)
    #expect(rows.map(\.sequence) == [1, 2, 3, 4, 5])
    #expect(
      rows.allSatisfy { $0.kind == .initial && $0.difference == 10 && $0.order == nil && $0.dates == nil })
    #expect(rows.map(\.item.name) == ["strawberry", "banana", "pineapple", "kiwi", "mango"])
    let before = room.machine.picture
    try room.crash()
    #expect(room.machine.picture == before)
    #expect(room.machine.ledger == 41)
    #expect(try room.store.audit().problems == [])
    #expect(try room.store.audit().changes == 5)
  }

  @Test("returns an order as it was answered, also after a crash", arguments: StoreKind.allCases)
  func orders(_ kind: StoreKind) throws {
    let room = try StockFixture(kind)
    let taken = try room.take([("mango", 2), ("kiwi", 1)], as: "a")
    let short = try room.take([("strawberry", 16), ("banana", 11), ("mango", 1)], as: "b")
    let set = try room.order(.set(ItemID("kiwi"), 9), as: "c")
    let returned = try room.order(.returnItems, as: "a")
    #expect(try room.order(.returnItems, as: "d") == .done([]))
    for _ in 0..<2 {
      #expect(try room.take([("strawberry", 16), ("banana", 11), ("mango", 1)], as: "b") == short)
      #expect(try room.order(.set(ItemID("kiwi"), 9), as: "c") == set)
      #expect(try room.order(.returnItems, as: "a") == returned)
      let order = try room.store.order(OrderID("a"))
      #expect(taken == order.map { .done($0.changes) })
      #expect(try room.store.order(OrderID("d"))?.outcome == .void)
      #expect(try room.store.order(OrderID("e")) == nil)
      try room.crash()
    }
    #expect(try room.store.audit() == audit(items: 5, orders: 4, changes: 9))
    let listed = try room.store.orders(after: nil, limit: 3)
    #expect(listed.map(\.id.text) == ["a", "b", "c"])
    #expect(listed.map(\.state) == [.wasReturned, .short, .done])
    #expect(
      listed.map(\.content) == ["take kiwi*1 mango*2", "take banana*11 mango*1 strawberry*16", "set kiwi*9"])
    let rest = try room.store.orders(after: OrderID("c"), limit: 3)
    #expect(rest == [OrderRecord(id: OrderID("d"), content: "", state: .void)])
    #expect(try room.store.orders(after: OrderID("d"), limit: 3) == [])
  }

  private func audit(items: Int64, orders: Int64, changes: Int64) -> StockAudit {
    var audit = StockAudit()
    (audit.items, audit.orders, audit.changes) = (items, orders, changes)
    return audit
  }

  @Test("shows what is staged, and forgets it on rollback and in a crash", arguments: StoreKind.allCases)
  func rollback(_ kind: StoreKind) throws {
    let room = try StockFixture(kind)
    #expect(!room.store.hasStagedChanges)
    for isCrash in [false, true] {
      try room.ask(.take([ItemAmount(ItemID("kiwi"), 3)], today: 1), as: "a")
      try room.process(.seedItems([ItemAmount(ItemID("cherry"), 4)]))
      #expect(room.store.hasStagedChanges)
      #expect(try room.store.order(OrderID("a"))?.changes.count == 1)
      #expect(try room.store.changes(after: 5, limit: 9).map(\.difference) == [-3, 4])
      if isCrash {
        try room.crash()
      } else {
        room.store.rollBack()
        try room.process(.commitRefused)
      }
      #expect(!room.store.hasStagedChanges)
      #expect(try room.store.order(OrderID("a")) == nil)
      #expect(try room.store.changes(after: 5, limit: 9) == [])
      #expect(try room.store.audit().problems == [])
    }
    _ = try room.take([("kiwi", 3)], as: "a")
    try room.process(.seedItems([ItemAmount(ItemID("cherry"), 4)]))
    try room.commit()
    try room.crash()
    #expect(room.machine.picture.items.map(\.quantity) == [10, 10, 10, 7, 10, 4])
  }

  @Test("keeps lots in the order in which they are sold", arguments: StoreKind.allCases)
  func lots(_ kind: StoreKind) throws {
    let room = try StockFixture(kind)
    for (made, expires) in [(5, 9), (0, 0), (3, 9), (7, 8)] as [(Int64, Int64)] {
      _ = try room.order(.change(ItemID("kiwi"), by: 2, dates: LotDates(made: made, expires: expires)))
    }
    let before = room.machine.picture
    #expect(before.items[3].lots.map(\.dates?.expires) == [0, 8, 9, 9, nil])
    try room.crash()
    #expect(room.machine.picture == before)
    _ = try room.order(.take([ItemAmount(ItemID("kiwi"), 5)], today: 8), as: "a")
    _ = try room.order(.discardExpired(today: 9))
    let left = room.machine.picture
    try room.crash()
    #expect(room.machine.picture == left)
    #expect(left.items[3].lots.map(\.dates?.made) == [5, nil])
    #expect(try room.store.audit().problems == [])
  }

  @Test("pages through the ledger", arguments: StoreKind.allCases)
  func pages(_ kind: StoreKind) throws {
    let room = try StockFixture(kind)
    for number in 0..<30 { try room.ask(.change(ItemID("kiwi"), by: 1, dates: nil), as: "o\(number)") }
    try room.commit()
    #expect(try room.store.changes(after: 5, limit: 7).map(\.sequence) == Array(6...12))
    #expect(try room.store.changes(after: 35, limit: 7) == [])
    #expect(try room.store.changes(after: -4, limit: 2).map(\.sequence) == [1, 2])
    #expect(try room.store.changes(after: 0, limit: 0) == [])
    #expect(try room.store.changes(after: 6, limit: 1).first?.order == OrderID("o1"))
  }

  @Test(
    "refuses a second order of the same name, and an order given back twice", arguments: StoreKind.allCases)
  func twice(_ kind: StoreKind) throws {
    let room = try StockFixture(kind)
    _ = try room.take([("kiwi", 1)], as: "a")
    let at = WallTime(milliseconds: 1)
    let again = StockEntry(name: .ordered(OrderID("a"), content: "", .void), at: at)
    #expect(storeError { try room.store.stage(again) }?.kind == "damaged")
    _ = try room.order(.returnItems, as: "a")
    for name in ["a", "b"] {
      let entry = StockEntry(name: .wasReturned(OrderID(name)), at: at)
      #expect(storeError { try room.store.stage(entry) }?.kind == "damaged")
    }
    #expect(!room.store.hasStagedChanges)
    #expect(try room.store.audit().problems == [])
  }

  @Test("agrees with the other stores over random histories", arguments: 1...12 as ClosedRange<UInt64>)
  func agreement(_ seed: UInt64) throws {
    let rooms = try StoreKind.allCases.map { try StockFixture($0) }
    var chance = SeededGenerator(seed: seed)
    for step in 0..<200 {
      let (draw, item) = (chance.draw(0...19), rooms[0].machine.picture.items[Int(chance.draw(0...4))].item)
      let (quantity, name) = (chance.draw(1...6), "o\(chance.draw(0...60))")
      let dates = LotDates(made: quantity, expires: quantity + 2)
      for room in rooms {
        switch draw {
        case 0: try room.crash()
        case 1...4: try room.commit()
        case 5...7: try room.ask(.returnItems, as: name)
        case 8: try room.ask(.set(item, quantity), as: name)
        case 9...11: try room.ask(.change(item, by: quantity, dates: draw == 9 ? nil : dates), as: name)
        case 12: try room.ask(.discardExpired(today: quantity))
        default: try room.ask(.take([ItemAmount(item, quantity)], today: 4), as: name)
        }
      }
      #expect(rooms[0].machine.picture == rooms[1].machine.picture, "seed \(seed), step \(step)")
      #expect(rooms[0].answers == rooms[1].answers, "seed \(seed), step \(step)")
    }
    for room in rooms { try room.commit() }
    let audits = try rooms.map { try $0.store.audit() }
    #expect(audits[0] == audits[1] && audits[0].problems == [], "seed \(seed)")
  }
}
