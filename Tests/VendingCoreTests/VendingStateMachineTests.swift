// The machine's rules one by one: money, purchases, refusals with their sentences, repeated requests, and a
// crash at every boundary of a purchase.

import BankModel
import Testing
import Time

@testable import VendingCore

@Suite("The machine's money")
struct VendingStateMachineTests {
  private let top = ItemID("top")

  private func filled(_ won: Won = 5_000, top count: Quantity = 3) -> VendingWorld {
    let world = VendingWorld()
    world.shelves[top] = count
    if won > 0 { _ = world.order(.insert(won), as: "fill") }
    return world
  }

  @Test("any amount from 1 to 1,000,000 is accepted, and no other")
  func amounts() {
    let world = VendingWorld()
    for (place, amount) in ([1, 1_000, 5_000, 1_000_000] as [Won]).enumerated() {
      #expect(world.order(.insert(amount), as: "a\(place)")?.change?.amount == amount)
    }
    for amount in [0, -1, 1_000_001, .min, .max] as [Won] {
      #expect(world.order(.insert(amount), as: "bad")?.refusal == .badAmount(amount))
    }
    #expect(world.committed.account == MoneyAccount(balance: 1_006_001, inserted: 1_006_001))
  }

  @Test("the till holds a thousand million won at most, and totals never overflow")
  func tillFull() {
    let account = MoneyAccount(balance: VendingLimits.balance - 5, inserted: VendingLimits.balance - 5)
    var machine = VendingStateMachine(StoredVending(machine: 1, account: account), prices: [:])
    var effects: [VendingEffect] = []
    for (number, amount) in ([6, 5] as [Won]).enumerated() {
      let name = OrderID("r\(number)")
      machine.apply(
        .requested(UInt64(number), name, .insert(amount)), at: WallTime(milliseconds: 1), into: &effects)
      machine.apply(.found(name, nil), at: WallTime(milliseconds: 1), into: &effects)
    }
    #expect(effects.contains(.reply(0, .refused(.balanceLimit(balance: VendingLimits.balance - 5)))))
    #expect(machine.hasUncommittedChanges)
    let full = MoneyAccount(balance: 0, inserted: .max, spent: .max)
    machine = VendingStateMachine(StoredVending(machine: 1, account: full), prices: [:])
    effects = []
    machine.apply(.requested(9, OrderID("r"), .insert(1)), at: WallTime(milliseconds: 1), into: &effects)
    machine.apply(.found(OrderID("r"), nil), at: WallTime(milliseconds: 1), into: &effects)
    #expect(effects.last == .reply(9, .refused(.balanceLimit(balance: 0))))
  }

  @Test("a purchase takes its price, and is in the history with its dates")
  func purchase() {
    let world = filled()
    let change = world.order(.buy(top), as: "b")?.change
    #expect(
      change?.kind == .bought && change?.amount == 1_700 && change?.balance == 3_300 && change?.product == top
    )
    #expect(world.shelves[top] == 2)
    #expect(world.committed.account == MoneyAccount(balance: 3_300, inserted: 5_000, spent: 1_700))
  }

  @Test("too little money, an unknown product, and an empty shelf change nothing and are reported")
  func refusals() {
    let world = filled(1_000, top: 0)
    #expect(world.order(.buy(top), as: "a")?.refusal == .tooLittleMoney(top, price: 1_700, available: 1_000))
    #expect(world.order(.buy(ItemID("tea")), as: "b")?.refusal == .unknownProduct(ItemID("tea")))
    #expect(world.order(.buy(ItemID("hot6")), as: "c")?.refusal == .soldOut(ItemID("hot6")))
    #expect(world.committed.changes.count == 1 && world.committed.account.balance == 1_000)
    let request = world.ask(.buy(ItemID("hot6")), as: "d")
    world.commit()
    world.process(.stockAnswered(2, .none(onlyExpired: true)))
    world.commit()
    #expect(world.answers[request]?.refusal == .onlyExpired(ItemID("hot6")))
    #expect(world.committed.account.balance == 1_000)
  }

  @Test("the balance is returned to the last won, also a balance of zero")
  func change() {
    let world = filled()
    _ = world.order(.buy(top), as: "b")
    #expect(world.order(.giveChange, as: "c")?.change?.amount == 3_300)
    #expect(world.order(.giveChange, as: "d")?.change?.amount == 0)
    #expect(
      world.committed.account == MoneyAccount(balance: 0, inserted: 5_000, spent: 1_700, returned: 3_300))
  }

  @Test("the price of a purchase in progress is neither spent twice nor returned")
  func reserved() {
    let world = filled(3_000)
    let first = world.ask(.buy(top), as: "a")
    world.commit()
    #expect(world.machine.durableAvailableBalance == 1_300)
    #expect(world.ask(.buy(top), as: "b") > first)
    #expect(world.answers[first + 1]?.refusal == .tooLittleMoney(top, price: 1_700, available: 1_300))
    let back = world.ask(.giveChange, as: "c")
    world.commit()
    #expect(world.answers[back]?.change?.amount == 1_300)
    world.stockAnswers()
    world.commit()
    #expect(world.answers[first]?.change?.balance == 0)
  }

  @Test("a request repeated under its name is answered, not repeated, and the name fits no other")
  func repeated() {
    let world = filled()
    let bought = world.order(.buy(top), as: "b")
    for _ in 0..<3 {
      #expect(world.order(.buy(top), as: "b") == bought)
      #expect(world.order(.insert(5_000), as: "fill")?.change?.sequence == 1)
      world.crash()
    }
    #expect(world.order(.insert(1), as: "fill")?.refusal == .requestConflict(OrderID("fill")))
    #expect(world.order(.insert(1), as: "b")?.refusal == .requestConflict(OrderID("b")))
    #expect(world.order(.buy(ItemID("hot6")), as: "b")?.refusal == .requestConflict(OrderID("b")))
    #expect(world.committed.changes.count == 2 && world.shelves[top] == 2)
    for name in ["", "a b", String(repeating: "x", count: 61), "é"] {
      #expect(world.order(.insert(1), as: name)?.refusal == .badRequest(name))
    }
  }

  @Test("a repeated purchase in progress is answered with its end")
  func waiting() {
    let world = filled()
    let requests = [world.ask(.buy(top), as: "b"), world.ask(.buy(top), as: "b")]
    world.commit()
    let third = world.ask(.buy(top), as: "b")
    world.stockAnswers()
    #expect(world.answers[third] == nil, "nothing is reported before it is on disk")
    world.commit()
    for request in requests + [third] { #expect(world.answers[request]?.change?.balance == 3_300) }
    #expect(world.shelves[top] == 2)
  }

  @Test("killed at every boundary, a purchase ends complete or without a trace", arguments: 0...5)
  func boundaries(_ boundary: Int) {
    let world = filled()
    _ = world.ask(.buy(top), as: "b")
    if boundary >= 1 { world.commit() }
    // The stock has done it, and the machine never receives the answer.
    if boundary == 2 { world.stockAnswers() }
    if boundary == 3 { world.stockAnswers(isLost: true) }
    if boundary >= 4 { world.stockAnswers() }
    if boundary >= 5 { world.commit() }
    world.crash()
    while !world.requested.isEmpty {
      world.stockAnswers()
      world.commit()
    }
    let isBought = boundary >= 1
    #expect(world.committed.account.balance == (isBought ? 3_300 : 5_000))
    #expect(world.shelves[top] == (isBought ? 2 : 3))
    // The client asks again.
    #expect(world.order(.buy(top), as: "b")?.change?.balance == 3_300)
    #expect(world.shelves[top] == 2)
  }

  @Test(
    "a silent stock ends the purchase; its drink is put back, and the name buys nothing")
  func unavailable() {
    let world = filled()
    let request = world.ask(.buy(top), as: "b")
    world.commit()
    world.stockAnswers(isLost: true)
    world.commit()
    #expect(world.answers[request]?.refusal == .stockUnavailable(top))
    #expect(world.shelves[top] == 2 && world.committed.account.balance == 5_000)
    world.crash()
    world.stockAnswers()
    world.commit()
    #expect(world.shelves[top] == 3)
    #expect(world.order(.buy(top), as: "b")?.refusal == .stockUnavailable(top))
    #expect(world.order(.buy(top), as: "c")?.change != nil)
  }

  @Test("a full disk refuses new requests, and the stock's answers are written when there is room")
  func fullDisk() {
    let world = filled()
    let insert = world.ask(.insert(1_000), as: "a")
    let bought = world.ask(.buy(top), as: "b")
    world.refuseCommit()
    #expect(world.answers[insert]?.refusal == .diskFull && world.answers[bought]?.refusal == .diskFull)
    #expect(world.requested.isEmpty && world.machine.durableAvailableBalance == 5_000)
    let again = world.ask(.buy(top), as: "b")
    world.commit()
    world.stockAnswers()
    world.refuseCommit()
    #expect(world.machine.hasUnwritten && world.answers[again] == nil)
    world.commit()
    #expect(world.answers[again]?.change?.balance == 3_300)
    #expect(!world.machine.hasUnwritten)
  }

  @Test("the number of purchases in progress is limited")
  func crowded() {
    let world = VendingWorld()
    for coin in 0..<2 { _ = world.order(.insert(1_000_000), as: "c\(coin)") }
    for number in 0..<VendingLimits.maxOpenPurchases { _ = world.ask(.buy(ItemID("hot6")), as: "p\(number)") }
    let last = world.ask(.buy(ItemID("hot6")), as: "last")
    world.commit()
    #expect(world.answers[last]?.refusal == .crowded)
  }

  @Test("the stock is asked under names that no other machine gives, in the order of the purchases")
  func names() {
    func name(_ machine: Int64, _ number: PurchaseNumber, at moment: Int64 = 9, lastPlain: PurchaseNumber = 0)
      -> String
    {
      let purchase = StoredPurchase(
        number: number, request: OrderID("r"), product: ItemID("top"), price: 1, state: .open,
        at: WallTime(milliseconds: moment))
      return VendingStateMachine.stockOrder(machine: machine, purchase: purchase, lastPlain: lastPlain).text
    }
    let names = [1, 2, 300, 70_000].map { name(5, $0) }
    #expect(names == names.sorted() && Set(names).count == 4)
    #expect(names.allSatisfy { OrderID($0).isValid })
    #expect(!names.contains(name(6, 1)))
    #expect(OrderID(name(.max, .max, at: .max)).isValid)
    // The same number of an older copy was given at another time; those from before names had one keep
    // theirs.
    #expect(!names.contains(name(5, 1, at: 10)))
    #expect(name(5, 2, lastPlain: 2) == "v0000000000000005-0000000002")
    #expect(name(5, 3, lastPlain: 2) != name(5, 3, lastPlain: 3))
  }
}
