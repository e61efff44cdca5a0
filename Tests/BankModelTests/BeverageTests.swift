// The drinks as classes of three levels: the description of each, what it adds, and its line in a table.

import BankModel
import Testing

@Suite("The drinks")
struct BeverageTests {
  private let today = CalendarDate(text: "20260301")?.number ?? 0

  private func drink<Drink: Beverage>(_ id: String, as type: Drink.Type = Drink.self) throws -> Drink {
    let product = try #require(ProductTable.standard[ItemID(id)])
    let dates = try #require(product.dates(made: today))
    return try #require(BeverageFactory.make(product, dates) as? Drink)
  }

  @Test(
    "are described by brand, size, price, name and dates, and what their class adds",
    arguments: [
      ("strawberry-milk", "서울우유, 200ml, 900원, 딸기맛 우유, 20260301, 20260308, (1.0%)"),
      ("chocolate-milk", "서울우유, 200ml, 900원, 초코맛 우유, 20260301, 20260308, (1.0%)"),
      ("banana-milk", "서울우유, 200ml, 900원, 바나나맛 우유, 20260301, 20260308, (1.0%)"),
      ("coke", "팹시, 350ml, 3500원, 코카콜라, 20260301, 20260308"),
      ("sprite", "칠성사이다, 350ml, 3500원, 칠성사이다, 20260301, 20260308"),
      ("top", "맥심, 275ml, 1700원, 맥심TOP, 20260301, 20260308, 100mg"),
      ("cantata", "롯데칠성음료, 275ml, 1000원, 칸타타, 20260301, 20260308, 100mg"),
      ("georgia", "조지아, 275ml, 1000원, 조지아오리지널, 20260301, 20260308, 100mg"),
      ("hot6", "롯데칠성음료, 473ml, 1000원, 핫식스, 20260301, 20260308"),
      ("monster", "몬스터음료, 473ml, 1500원, 몬스터, 20260301, 20260308"),
    ])
  func descriptions(_ id: String, _ text: String) throws {
    let drink = try drink(id, as: Beverage.self)
    #expect(drink.description == text && "\(drink)" == text)
  }

  @Test("are milk, soda, coffee or energy drink, and each has a property of its own")
  func hierarchy() throws {
    let strawberry = try drink("strawberry-milk", as: StrawberryMilk.self)
    #expect((strawberry as Milk).isLowFat == false && strawberry.hasRealStrawberries)
    #expect(try drink("chocolate-milk", as: ChocolateMilk.self).isChocolaty(from: 10))
    #expect(try drink("chocolate-milk", as: ChocolateMilk.self).isChocolaty(from: 11) == false)
    #expect(try drink("banana-milk", as: BananaMilk.self).bananaMillilitres == 2)
    let coke = try drink("coke", as: Coke.self)
    #expect(coke.isCherry && (coke as Soda).isResealable == false)
    #expect(try drink("sprite", as: Sprite.self).isLowSugar == false)
    #expect(try drink("top", as: Top.self).hasMilk == false)
    #expect(try drink("cantata", as: Cantata.self).isSweet)
    #expect(try drink("georgia", as: Georgia.self).isOriginal)
    #expect(try drink("hot6", as: Hot6.self).isPower)
    let monster = try drink("monster", as: Monster.self)
    #expect(
      monster.isOriginal && (monster as EnergyDrink).isStrong(above: 139) && !monster.isStrong(above: 140))
    #expect(try drink("top", as: Coffee.self).caffeine == 100)
  }

  @Test("are hot if they are coffee above a threshold, 30 degrees by default")
  func hot() throws {
    let hot = try ProductTable.standard.products.filter { try drink($0.id.name, as: Beverage.self).isHot() }
    #expect(hot.map(\.id.name) == ["top", "cantata", "georgia"])
    let top = try drink("top", as: Beverage.self)
    #expect(top.isHot(above: 64) && !top.isHot(above: 65))
    #expect(try drink("hot6", as: Beverage.self).isHot(above: -300) == false)
  }

  @Test("expire after the date written on them, by default seven days after they were made")
  func expiry() throws {
    let milk = try drink("banana-milk", as: Beverage.self)
    #expect(milk.dates.expires == today + 7)
    #expect(!milk.isExpired(on: today + 7) && milk.isExpired(on: today + 8))
    let product = try #require(ProductTable.standard[ItemID("top")])
    #expect(product.dates(made: today, expires: today)?.expires == today)
    #expect(product.dates(made: today, expires: today - 1) == nil)
    #expect(product.dates(made: -1) == nil && product.dates(made: StockLimits.days.upperBound + 1) == nil)
  }

  @Test("cross threads, because they never change")
  func sendable() async throws {
    let milk = try drink("banana-milk", as: Beverage.self)
    let text = await Task.detached { milk.description }.value
    #expect(text == milk.description)
  }

  @Test("a new line of the table needs an existing class, and nothing else")
  func factory() {
    let product = Product(
      id: ItemID("let-s-be"), drinkClass: .top(caffeine: 80, temperature: 55, isBlack: false), brand: "롯데",
      volume: 175, price: 800, name: "레쓰비", english: "Let's Be", emoji: "☕", shelfLife: 30)
    let drink = BeverageFactory.make(product, LotDates(made: today, expires: today + 30))
    #expect(drink is Top && drink.isHot(above: 54))
    #expect(drink.description == "롯데, 175ml, 800원, 레쓰비, 20260301, 20260331, 80mg")
  }
}

@Suite("The calendar")
struct CalendarDateTests {
  @Test("knows the number of every day, and the day of every number")
  func roundTrip() {
    for number in stride(from: StockLimits.days.lowerBound, through: StockLimits.days.upperBound, by: 97) {
      let date = CalendarDate(number)
      #expect(date.number == number)
      #expect(CalendarDate(text: date.dashed) == date && CalendarDate(text: date.compact) == date)
    }
    #expect(CalendarDate(0).dashed == "1970-01-01")
    #expect(CalendarDate(text: "2000-02-29")?.number == 11_016)
    #expect(CalendarDate(StockLimits.days.upperBound).dashed == "9999-12-31")
    #expect(CalendarDate(-5).dashed == "1970-01-01" && CalendarDate(.max).dashed == "9999-12-31")
  }

  @Test(
    "has no invalid day",
    arguments: [
      "2026-02-29", "2100-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "1969-12-31", "2026-3-1",
      "20260230",
      "", "tomorrow", "2026/03/01", "2026-03-01 ", "２０２６０３０１", "-2026301",
    ])
  func nonsense(_ text: String) { #expect(CalendarDate(text: text) == nil) }
}
