// Orders one by one: taken whole or not at all, stored under their names, given back, and refused by name.

import BankModel
import Testing

@testable import StockCore

@Suite("An order at the stock")
struct StockOrderTests {
  @Test("takes several items at once, a row of the ledger each")
  func takes() {
    let world = StockWorld()
    let rows = world.take([("mango", 2), ("kiwi", 1)], as: "a")?.rows
    #expect(rows?.map(\.difference) == [-2, -1])
    #expect(rows?.map(\.present) == [8, 9])
    #expect(rows?.map(\.sequence) == [6, 7])
    #expect(rows?.allSatisfy { $0.order == OrderID("a") && $0.kind == .taken } == true)
    #expect(world.machine.durableSequence == 7)
  }

  @Test("takes nothing if one item is short, and reports the shortage of each")
  func short() {
    let world = StockWorld()
    let answer = world.take([("banana", 1), ("strawberry", 16), ("kiwi", 11)], as: "a")
    #expect(
      answer
        == .short([
          Shortage(item: ItemID("strawberry"), needed: 16, available: 10),
          Shortage(item: ItemID("kiwi"), needed: 11, available: 10),
        ]))
    #expect(world.present("banana") == 10)
    #expect(world.committed.changes.count == 5)
  }

  @Test("gets the same answer again, also for a shortage since ended, also after a crash")
  func repeated() {
    let world = StockWorld()
    let taken = world.take([("banana", 2)], as: "a")
    let short = world.take([("strawberry", 16)], as: "b")
    _ = world.order(.change(ItemID("strawberry"), by: 100, dates: nil))
    for _ in 0..<2 {
      #expect(world.take([("banana", 2)], as: "a", today: 500) == taken)
      #expect(world.take([("strawberry", 16)], as: "b") == short)
      world.crash()
    }
    #expect(world.present("banana") == 8)
    #expect(world.take([("strawberry", 16)], as: "c")?.rows?.count == 1)
  }

  @Test("requested twice before it is on disk is taken once, with the same answer to both")
  func twiceInOneCommit() {
    let world = StockWorld()
    let action = StockAction.take([ItemAmount(ItemID("banana"), 3)], today: 1)
    let first = world.ask(action, as: "a")
    let second = world.ask(action, as: "a")
    #expect(world.answers[first] == nil && world.answers[second] == nil)
    world.commit()
    #expect(world.answers[first]?.rows?.count == 1)
    #expect(world.answers[first] == world.answers[second])
    #expect(world.present("banana") == 7)
  }

  @Test("is recognised by its amounts, in any order, and refused with others")
  func content() {
    let world = StockWorld()
    let taken = world.take([("mango", 2), ("kiwi", 1)], as: "a")
    #expect(world.take([("kiwi", 1), ("mango", 2)], as: "a") == taken)
    #expect(world.take([("kiwi", 2), ("mango", 2)], as: "a")?.refusal == .orderConflict(OrderID("a")))
    #expect(world.order(.set(ItemID("kiwi"), 3), as: "a")?.refusal == .orderConflict(OrderID("a")))
  }

  @Test("is given back once, whole, and takes nothing any more")
  func givenBack() {
    let world = StockWorld()
    _ = world.take([("mango", 2), ("kiwi", 1)], as: "a")
    let returned = world.order(.returnItems, as: "a")
    #expect(returned?.rows?.map(\.difference) == [2, 1])
    #expect(world.order(.returnItems, as: "a") == returned)
    world.crash()
    #expect(world.order(.returnItems, as: "a") == returned)
    #expect(world.take([("mango", 2), ("kiwi", 1)], as: "a")?.refusal == .wasReturned(OrderID("a")))
    #expect(world.present("mango") == 10 && world.present("kiwi") == 10)
  }

  @Test("given back before it came takes nothing when it comes late")
  func void() {
    let world = StockWorld()
    #expect(world.order(.returnItems, as: "a") == .done([]))
    #expect(world.order(.returnItems, as: "a") == .done([]))
    world.crash()
    #expect(world.take([("mango", 2)], as: "a")?.refusal == .wasReturned(OrderID("a")))
    #expect(world.present("mango") == 10)
  }

  @Test("that was short has nothing to give back; one that set an amount cannot be given back")
  func nothingToGiveBack() {
    let world = StockWorld()
    _ = world.take([("strawberry", 16)], as: "a")
    #expect(world.order(.returnItems, as: "a") == .done([]))
    _ = world.order(.set(ItemID("kiwi"), 3), as: "b")
    #expect(world.order(.returnItems, as: "b")?.refusal == .orderConflict(OrderID("b")))
  }

  @Test("is refused by name if it contradicts itself, and is not stored")
  func refused() {
    let world = StockWorld()
    let before = world.committed.orders
    #expect(world.take([("durian", 1)], as: "a")?.refusal == .unknownItem(ItemID("durian")))
    #expect(world.take([("딸기", 1)], as: "a")?.refusal == .unknownItem(ItemID("딸기")))
    for quantity in [0, -1, 1_000_001, .min, .max] as [Quantity] {
      #expect(world.take([("kiwi", quantity)], as: "a")?.refusal == .badQuantity(ItemID("kiwi"), quantity))
    }
    #expect(world.take([("kiwi", 1), ("kiwi", 2)], as: "a")?.refusal == .itemTwice(ItemID("kiwi")))
    #expect(world.take([], as: "a")?.refusal == .badItemCount(0))
    let many = (0..<33).map { ("item-\($0)", Quantity(1)) }
    #expect(world.take(many, as: "a")?.refusal == .badItemCount(33))
    #expect(world.take([("kiwi", 1)])?.refusal == .badOrder(""))
    #expect(world.order(.returnItems)?.refusal == .badOrder(""))
    for name in ["", "a b", "열쇠", String(repeating: "x", count: 65)] {
      #expect(world.take([("kiwi", 1)], as: name)?.refusal == .badOrder(name))
    }
    #expect(world.take([("kiwi", 1)], as: "a", today: -1)?.refusal == .badDates(ItemID("kiwi")))
    #expect(world.committed.orders == before)
  }

  @Test("waits for the disk, and is taken back if the disk is full")
  func fullDisk() {
    let world = StockWorld()
    let before = world.machine.picture
    let requests = [
      world.ask(.take([ItemAmount(ItemID("kiwi"), 4)], today: 1), as: "a"),
      world.ask(.change(ItemID("kiwi"), by: 9, dates: LotDates(made: 1, expires: 8))),
      world.ask(.take([ItemAmount(ItemID("strawberry"), 16)], today: 1), as: "b"),
    ]
    let querySnapshot = world.querySnapshot()
    world.process(.seedItems([ItemAmount(ItemID("cherry"), 3)]))
    #expect(requests.allSatisfy { world.answers[$0] == nil } && world.answers[querySnapshot] == nil)
    world.refuseCommit()
    #expect(requests.allSatisfy { world.answers[$0] == .refused(.diskFull) })
    #expect(world.answers[querySnapshot] == .snapshot(before))
    #expect(world.machine.picture == before)
    #expect(world.take([("cherry", 1)], as: "c")?.refusal == .unknownItem(ItemID("cherry")))
    #expect(world.take([("kiwi", 4)], as: "a")?.rows?.map(\.sequence) == [6])
  }
}
