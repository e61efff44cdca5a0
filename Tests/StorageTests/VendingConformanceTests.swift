// The suite that every store of a vending machine must pass: the same questions after the same requests, with
// rollbacks and crashes. It uses only what the protocol guarantees.

import BankModel
import QueueCore
import Testing
import Time
import VendingCore

@testable import Storage

@Suite("Every store of the vending machine")
struct VendingConformanceTests {
  private let dates = LotDates(made: 20_778, expires: 20_785)

  @Test("starts empty, under a permanent name", arguments: StoreKind.allCases)
  func beginning(_ kind: StoreKind) throws {
    let room = try VendingFixture(kind)
    #expect(try room.store.load(newMachine: 9) == StoredVending(machine: 41))
    try room.crash()
    #expect(try room.store.load(newMachine: 9) == StoredVending(machine: 41))
    #expect(try room.store.purchases(after: 0, limit: 10) == [] && room.store.sales() == [])
    #expect(try room.store.audit() == VendingAudit())
  }

  @Test("keeps money, purchases and their dates over a crash", arguments: StoreKind.allCases)
  func kept(_ kind: StoreKind) throws {
    let room = try VendingFixture(kind)
    try room.insert(5_000, as: "a")
    let bought = try room.buy("top", as: "b", .taken(dates))
    try room.buy("hot6", as: "c")
    try room.buy("hot6", as: "d", .none(onlyExpired: true))
    try room.insert(1, as: "e")
    for _ in 0..<2 {
      let stored = try room.store.load(newMachine: 9)
      #expect(stored.account == MoneyAccount(balance: 2_301, inserted: 5_001, spent: 2_700))
      #expect(stored.sequence == 4 && stored.lastPurchase == 3 && stored.unfinished == [])
      let purchases = try room.store.purchases(after: 0, limit: 10)
      #expect(purchases.map(\.product?.name) == ["top", "hot6"] && purchases[0].dates == dates)
      #expect(try room.store.request(OrderID("b")).map { VendingAnswer(done: $0) } == bought)
      #expect(
        try room.store.sales() == [
          ProductSales(product: ItemID("hot6"), count: 1), ProductSales(product: ItemID("top"), count: 1),
        ])
      guard case .purchase(let refused)? = try room.store.request(OrderID("d")) else {
        Issue.record("d is not found")
        return
      }
      #expect(refused.state == .onlyExpired && refused.number == 3)
      let audit = try room.store.audit()
      #expect(audit.problems == [] && audit.purchases == 2 && audit.changes == 4 && audit.unfinished == 0)
      try room.crash()
    }
  }

  @Test("continues with what was left open", arguments: StoreKind.allCases)
  func unfinished(_ kind: StoreKind) throws {
    let room = try VendingFixture(kind)
    try room.insert(9_000, as: "a")
    for name in ["b", "c"] { try room.ask(.buy(ItemID("top")), as: name) }
    try room.commit()
    try room.process(.stockAnswered(2, .unavailable))
    try room.commit()
    try room.crash()
    #expect(try room.store.load(newMachine: 9).unfinished.map(\.state) == [.open, .releasing])
    #expect(room.requested == [1] && room.machine.durableAvailableBalance == 7_300)
    #expect(try room.store.audit().unfinished == 2)
    try room.stockAnswers(.taken(nil))
    try room.release()
    try room.commit()
    try room.crash()
    #expect(try room.store.load(newMachine: 9).unfinished == [])
    #expect(room.machine.durableAccount.spent == 1_700)
    #expect(try room.store.audit().problems == [])
  }

  @Test("shows what is staged, and forgets it on rollback and in a crash", arguments: StoreKind.allCases)
  func rollback(_ kind: StoreKind) throws {
    let room = try VendingFixture(kind)
    try room.insert(2_000, as: "fill")
    for isCrash in [false, true] {
      #expect(!room.store.hasStagedChanges)
      try room.ask(.insert(5), as: "a")
      try room.ask(.buy(ItemID("hot6")), as: "b")
      #expect(room.store.hasStagedChanges)
      #expect(try room.store.request(OrderID("a")) != nil && room.store.request(OrderID("b")) != nil)
      if isCrash { try room.crash() } else { try room.refuse() }
      #expect(try room.store.request(OrderID("a")) == nil && room.store.request(OrderID("b")) == nil)
      #expect(room.machine.durableAccount.balance == 2_000)
    }
    #expect(try room.store.audit().problems == [])
  }

  @Test("pages through the purchases", arguments: StoreKind.allCases)
  func pages(_ kind: StoreKind) throws {
    let room = try VendingFixture(kind)
    for number in 0..<20 {
      try room.insert(1_000, as: "i\(number)")
      try room.buy("hot6", as: "b\(number)")
    }
    #expect(
      try room.store.purchases(after: 0, limit: 7).map(\.sequence)
        == Array(stride(from: 2, through: 14, by: 2)))
    #expect(try room.store.purchases(after: 14, limit: 100).count == 13)
    #expect(
      try room.store.purchases(after: 40, limit: 7) == [] && room.store.purchases(after: 0, limit: 0) == [])
    #expect(try room.store.sales() == [ProductSales(product: ItemID("hot6"), count: 20)])
    try room.insert(5_000, as: "more")
    try room.buy("top", as: "another")
    let all = try room.store.purchases(after: 0, limit: 100)
    #expect(try room.store.latestPurchases(limit: 7) == Array(all.suffix(7)))
    #expect(try room.store.latestPurchases(limit: 100) == all && room.store.latestPurchases(limit: 0) == [])
  }

  @Test("refuses a second row of one name, and an end that comes twice", arguments: StoreKind.allCases)
  func twice(_ kind: StoreKind) throws {
    let room = try VendingFixture(kind)
    try room.insert(5_000, as: "a")
    try room.buy("top", as: "b")
    let at = WallTime(milliseconds: 1)
    let row = MoneyChange(
      sequence: 3, kind: .inserted, amount: 1, balance: 3_301, request: OrderID("a"), at: at)
    #expect(storeError { try room.store.stage(VendingEntry(change: row)) }?.kind == "damaged")
    var purchase = StoredPurchase(
      number: 1, request: OrderID("b"), product: ItemID("top"), price: 1_700, state: .bought, at: at)
    for state in [StoredPurchase.State.open, .releasing, .bought, .givenUp] {
      purchase.state = state
      #expect(storeError { try room.store.stage(VendingEntry(purchase: purchase)) }?.kind == "damaged")
    }
    (purchase.number, purchase.state) = (9, .bought)
    #expect(storeError { try room.store.stage(VendingEntry(purchase: purchase)) }?.kind == "damaged")
    #expect(!room.store.hasStagedChanges)
    #expect(try room.store.audit().problems == [])
  }

  @Test("agrees with the other stores over random histories", arguments: 1...12 as ClosedRange<UInt64>)
  func agreement(_ seed: UInt64) throws {
    let rooms = try StoreKind.allCases.map { try VendingFixture($0) }
    var chance = SeededGenerator(seed: seed)
    for step in 0..<200 {
      let (draw, won, name) = (chance.draw(0...19), chance.draw(1...4_000), "o\(chance.draw(0...60))")
      let dates = LotDates(made: won, expires: won + 2)
      for room in rooms {
        switch draw {
        case 0: try room.crash()
        case 1: try room.refuse()
        case 2...5: try room.commit()
        case 6...8: try room.stockAnswers(.taken(draw == 6 ? dates : nil))
        case 9: try room.stockAnswers(.none(onlyExpired: won > 2_000))
        case 10: try room.stockAnswers(.unavailable)
        case 11: try room.release()
        case 12: try room.ask(.giveChange, as: name)
        case 13...15: try room.ask(.insert(won), as: name)
        default: try room.ask(.buy(ItemID(won > 2_000 ? "top" : "hot6")), as: name)
        }
      }
      #expect(
        rooms[0].machine.durableAccount == rooms[1].machine.durableAccount, "seed \(seed), step \(step)")
      #expect(rooms[0].answers == rooms[1].answers, "seed \(seed), step \(step)")
    }
    for room in rooms { try room.commit() }
    #expect(
      try rooms[0].store.purchases(after: 0, limit: 999) == rooms[1].store.purchases(after: 0, limit: 999))
    #expect(try rooms[0].store.sales() == rooms[1].store.sales(), "seed \(seed)")
    let audits = try rooms.map { try $0.store.audit() }
    #expect(audits[0] == audits[1] && audits[0].problems == [], "seed \(seed)")
  }
}

extension VendingAnswer {
  /// The answer that a known request gets.
  fileprivate init?(done request: StoredRequest) {
    guard case .done(let change) = request else { return nil }
    self = .done(change)
  }
}
