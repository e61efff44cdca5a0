// Operations of the stock's keeper: setting, adding, removing, lots with dates, throwing away what has
// expired.

import BankModel
import Testing

@testable import StockCore

@Suite("Keeping the stock")
struct StockKeepingTests {
  let kiwi = ItemID("kiwi")

  @Test("sets an amount, which has no effect if it is so already")
  func set() {
    let world = StockWorld()
    #expect(world.order(.set(kiwi, 0))?.rows?.map(\.difference) == [-10])
    #expect(world.order(.set(kiwi, 0)) == .done([]))
    #expect(world.order(.set(kiwi, 1_000_000))?.rows?.map(\.difference) == [1_000_000])
    #expect(world.order(.set(kiwi, 1_000_001))?.refusal == .badQuantity(kiwi, 1_000_001))
    #expect(world.order(.set(kiwi, -1))?.refusal == .badQuantity(kiwi, -1))
    #expect(world.order(.set(ItemID("x"), 1))?.refusal == .unknownItem(ItemID("x")))
  }

  @Test("adds and removes, never below 0 and never above the limit")
  func change() {
    let world = StockWorld()
    #expect(world.order(.change(kiwi, by: -10, dates: nil))?.rows?.map(\.present) == [0])
    #expect(
      world.order(.change(kiwi, by: -1, dates: nil))
        == .short([Shortage(item: kiwi, needed: 1, available: 0)]))
    #expect(world.order(.change(kiwi, by: 1_000_000, dates: nil))?.rows?.map(\.present) == [1_000_000])
    #expect(world.order(.change(kiwi, by: 1, dates: nil))?.refusal == .overflow(kiwi, present: 1_000_000))
    for difference in [0, .min, .max, 1_000_001, -1_000_001] as [Quantity] {
      #expect(
        world.order(.change(kiwi, by: difference, dates: nil))?.refusal == .badQuantity(kiwi, difference))
    }
  }

  @Test("a repeated change under a name changes once")
  func named() {
    let world = StockWorld()
    let answer = world.order(.change(kiwi, by: 5, dates: nil), as: "a")
    world.crash()
    #expect(world.order(.change(kiwi, by: 5, dates: nil), as: "a") == answer)
    #expect(world.present("kiwi") == 15)
  }

  @Test("items given back beyond the limit of a shelf are not stored")
  func returnOverflow() {
    let world = StockWorld()
    _ = world.take([("banana", 1), ("kiwi", 2)], as: "a")
    _ = world.order(.set(kiwi, 1_000_000))
    #expect(world.order(.returnItems, as: "a")?.refusal == .overflow(kiwi, present: 1_000_000))
    #expect(world.present("banana") == 9)
    _ = world.order(.set(kiwi, 0))
    #expect(world.order(.returnItems, as: "a")?.rows?.map(\.present) == [10, 2])
  }

  /// Three lots and five pieces without dates.
  private func dated() -> StockWorld {
    let world = StockWorld([ItemAmount(ItemID("top"), 5)])
    for (made, expires, quantity) in [(100, 107, 4), (98, 105, 2), (99, 105, 3)] as [(Int64, Int64, Int64)] {
      let dates = LotDates(made: made, expires: expires)
      #expect(world.order(.change(ItemID("top"), by: quantity, dates: dates))?.rows?.map(\.lot) == [quantity])
    }
    return world
  }

  @Test("the earliest to expire is taken first, then what never does")
  func lots() {
    let world = dated()
    let rows = world.take([("top", 12)], as: "a", today: 105)?.rows
    #expect(rows?.map(\.dates?.made) == [98, 99, 100, nil])
    #expect(rows?.map(\.difference) == [-2, -3, -4, -3])
    #expect(rows?.map(\.present) == [12, 9, 5, 2])
    #expect(world.order(.returnItems, as: "a")?.rows?.map(\.difference) == [2, 3, 4, 3])
    #expect(world.machine.picture == dated().machine.picture.at(world.machine.durableSequence))
  }

  @Test("expired pieces are not taken, and do not count")
  func expired() {
    let world = dated()
    #expect(world.take([("top", 9)], as: "a", today: 106)?.rows?.map(\.dates?.made) == [100, nil])
    #expect(
      world.take([("top", 1)], as: "b", today: 106)
        == .short([Shortage(item: ItemID("top"), needed: 1, available: 0)]))
    #expect(world.present("top") == 5)
    let discarded = world.order(.discardExpired(today: 106))
    #expect(discarded?.rows?.map(\.difference) == [-2, -3])
    #expect(world.order(.discardExpired(today: 106)) == .done([]))
    #expect(world.present("top") == 0)
  }

  @Test("removes from one lot, or from the earliest to expire on, expired or not")
  func removal() {
    let world = dated()
    let dates = LotDates(made: 99, expires: 105)
    #expect(
      world.order(.change(ItemID("top"), by: -4, dates: dates))
        == .short([Shortage(item: ItemID("top"), needed: 4, available: 3)]))
    #expect(world.order(.change(ItemID("top"), by: -3, dates: dates))?.rows?.map(\.lot) == [0])
    #expect(world.order(.change(ItemID("top"), by: -3, dates: nil))?.rows?.map(\.difference) == [-2, -1])
  }

  @Test("an item with dated lots is not set, and dates have to be days")
  func dates() {
    let world = dated()
    #expect(world.order(.set(ItemID("top"), 3))?.refusal == .itemHasDates(ItemID("top")))
    let wrong = [(-1, 5), (5, 4), (5, 2_932_897)].map { LotDates(made: $0.0, expires: $0.1) }
    for dates in wrong {
      let answer = world.order(.change(ItemID("top"), by: 1, dates: dates))
      #expect(answer?.refusal == .badDates(ItemID("top")))
    }
  }

  @Test("the number of lots is limited")
  func lotLimit() {
    let world = StockWorld([ItemAmount(ItemID("top"), 0)])
    for day in 0..<Int64(StockLimits.lots) {
      _ = world.ask(.change(ItemID("top"), by: 1, dates: LotDates(made: day, expires: day)))
    }
    world.commit()
    #expect(world.present("top") == Quantity(StockLimits.lots))
    let dates = LotDates(made: 0, expires: 1)
    #expect(world.order(.change(ItemID("top"), by: 1, dates: dates))?.refusal == .tooManyLots(ItemID("top")))
    let known = LotDates(made: 1, expires: 1)
    #expect(world.order(.change(ItemID("top"), by: 1, dates: known))?.rows?.count == 1)
  }

  @Test("adds new items and leaves known ones unchanged")
  func seedItems() {
    let world = StockWorld()
    _ = world.take([("kiwi", 3)], as: "a")
    world.process(
      .seedItems(StockWorld.fruits + [ItemAmount(ItemID("cherry"), 0), ItemAmount(ItemID("plum"), 2)]))
    world.commit()
    #expect(world.present("kiwi") == 7 && world.present("cherry") == 0 && world.present("plum") == 2)
    #expect(world.machine.picture.items.map(\.item.name).suffix(2) == ["cherry", "plum"])
  }
}

extension StockSnapshot {
  /// The same shelves at another place in the ledger.
  fileprivate func at(_ sequence: Int64) -> StockSnapshot {
    StockSnapshot(ledger: ledger, sequence: sequence, items: items)
  }
}
