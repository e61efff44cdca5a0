// The terms of the stock: valid names, the recognition of a repeated order, and the shortages of a juice.

import BankModel
import Testing

@Suite("The terms of the stock")
struct StockModelTests {
  @Test("an item's name is small letters, digits and dashes, at first a letter")
  func itemNames() {
    for name in ["a", "hot6", "strawberry-milk", String(repeating: "x", count: 40)] {
      #expect(ItemID(name).isValid, "\(name)")
    }
    for name in ["", "6hot", "-a", "Kiwi", "a b", "키위", "a\0", String(repeating: "x", count: 41)] {
      #expect(!ItemID(name).isValid, "\(name)")
    }
  }

  @Test("an order's name is visible ASCII, and a random one is valid and different each time")
  func orderNames() {
    for name in ["1", "3-17", "!~", String(repeating: "x", count: 64)] { #expect(OrderID(name).isValid) }
    for name in ["", " ", "a b", "a\n", "é", String(repeating: "x", count: 65)] {
      #expect(!OrderID(name).isValid)
    }
    var (names, others) = (OrderIDGenerator(seed: 1), OrderIDGenerator(seed: .max))
    let given = (0..<1_000).map { _ in names.next() }
    #expect((given + [others.next()]).allSatisfy(\.isValid) && Set(given + [others.next()]).count == 1_001)
    #expect(given.map(\.text) == given.map(\.text).sorted())
  }

  @Test("an order is recognised by its contents, not by the order of its items or the day")
  func contents() {
    let (a, b) = (ItemAmount(ItemID("a-1"), 3), ItemAmount(ItemID("b"), 1_000_000))
    let content = StockAction.take([b, a], today: 5).content
    #expect(content == "take a-1*3 b*1000000")
    #expect(content == StockAction.take([a, b], today: 9).content)
    #expect(StockAction.amounts(inContent: content) == [a, b])
    let dates = LotDates(made: 1, expires: 8)
    let others: [StockAction] = [
      .set(a.item, 3), .change(a.item, by: 3, dates: nil), .change(a.item, by: 3, dates: dates),
      .change(a.item, by: -3, dates: dates), .discardExpired(today: 3), .returnItems,
    ]
    #expect(Set(others.map(\.content)).count == others.count)
    #expect(others.allSatisfy { StockAction.amounts(inContent: $0.content) == nil })
  }

  @Test("lots are sold by their last day, then by age, and what never expires comes last")
  func order() {
    let dates: [LotDates?] = [
      nil, LotDates(made: 2, expires: 9), LotDates(made: 1, expires: 9), LotDates(made: 3, expires: 8),
    ]
    let lots = dates.map { Lot(dates: $0, quantity: 1) }.sorted { $0.comesBefore($1.dates) }
    #expect(lots.map(\.dates?.made) == [3, 1, 2, nil])
    #expect(lots.map { $0.isExpired(on: 9) } == [true, false, false, false])
    let stock = ItemStock(item: ItemID("a"), lots: lots)
    #expect(stock.quantity == 4 && stock.quantity(on: 9) == 3 && stock.quantity(on: 10) == 1)
  }

  @Test("the built-in assortment keeps its own rules")
  func standard() {
    let standard = Assortment.standard
    #expect(standard.fruits.map(\.initial) == [10, 10, 10, 10, 10])
    #expect(standard.juices.count == 7)
    let fruits = Set(standard.fruits.map(\.id))
    for juice in standard.juices {
      #expect(
        !juice.recipe.isEmpty && juice.recipe.allSatisfy { fruits.contains($0.item) && $0.quantity > 0 })
    }
    #expect(standard.juice(called: "딸바쥬스")?.id == ItemID("strawberry-banana"))
    #expect(standard.fruit(called: "pineapple")?.korean == "파인애플")
    #expect(standard.fruit(called: "durian") == nil)
  }

  @Test("a juice reports what is missing on a fresh store")
  func shortages() throws {
    let stock = Assortment.standard.fruits.map {
      ItemStock(item: $0.id, lots: [Lot(dates: nil, quantity: $0.initial)])
    }
    let strawberry = try #require(Assortment.standard.juice(called: "strawberry"))
    #expect(
      strawberry.shortages(from: stock) == [Shortage(item: ItemID("strawberry"), needed: 16, available: 10)])
    let mango = try #require(Assortment.standard.juice(called: "mango"))
    #expect(mango.shortages(for: 3, from: stock).isEmpty)
    #expect(mango.shortages(for: 4, from: stock).map(\.needed) == [12])
    #expect(mango.shortages(for: .max, from: stock).map(\.needed) == [.max])
    #expect(mango.shortages(from: []).map(\.available) == [0])
  }
}
