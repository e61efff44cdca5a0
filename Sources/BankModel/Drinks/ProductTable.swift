// Table of the vending machine's products. `config/vending.json` is a copy of the built-in table.
// Invariant of a table that was read from a file: no name occurs twice.

/// The products of a vending machine.
public struct ProductTable: Hashable, Sendable {
  /// Default number of days from production to the last day of sale.
  public static let shelfLife: Int64 = 7
  /// The products, in display order.
  public var products: [Product]
  /// Unix group whose members may connect to the customers' socket; nil if only the owner of the bank may.
  public var customersGroup: String?

  public init(_ products: [Product], customersGroup: String? = nil) {
    (self.products, self.customersGroup) = (products, customersGroup)
  }

  /// The product with this name in commands, or nil.
  public subscript(id: ItemID) -> Product? { products.first { $0.id == id } }

  /// The products of the original vending machine app.
  public static let standard: ProductTable = {
    /// `name` is the Korean name.
    func product(
      _ id: String, _ drinkClass: DrinkClass, _ brand: String, _ volume: Int64, _ price: Won, _ name: String,
      _ english: String, _ emoji: String
    ) -> Product {
      Product(
        id: ItemID(id), drinkClass: drinkClass, brand: brand, volume: volume, price: price, name: name,
        english: english, emoji: emoji)
    }
    return ProductTable([
      product(
        "strawberry-milk", .strawberryMilk(isLowFat: false, permille: 10), "서울우유", 200, 900, "딸기맛 우유",
        "strawberry milk", "🍓"),
      product(
        "chocolate-milk", .chocolateMilk(isLowFat: false, permille: 10), "서울우유", 200, 900, "초코맛 우유",
        "chocolate milk", "🍫"),
      product(
        "banana-milk", .bananaMilk(isLowFat: false, permille: 10), "서울우유", 200, 900, "바나나맛 우유", "banana milk",
        "🍌"),
      product("coke", .coke(.can, .cherry), "팹시", 350, 3500, "코카콜라", "Coca-Cola", "🥤"),
      product("sprite", .sprite(.can, isLowSugar: false), "칠성사이다", 350, 3500, "칠성사이다", "Chilsung Cider", "🍋"),
      product(
        "top", .top(caffeine: 100, temperature: 65, isBlack: true), "맥심", 275, 1700, "맥심TOP", "Maxim T.O.P",
        "☕"),
      product(
        "cantata", .cantata(caffeine: 100, temperature: 65, style: "sweet americano"), "롯데칠성음료", 275, 1000,
        "칸타타", "Cantata", "🫖"),
      product(
        "georgia", .georgia(caffeine: 100, temperature: 65, blend: "original"), "조지아", 275, 1000, "조지아오리지널",
        "Georgia Original", "🟤"),
      product("hot6", .hot6(caffeine: 140, edition: "power"), "롯데칠성음료", 473, 1000, "핫식스", "Hot6", "🔋"),
      product(
        "monster", .monster(caffeine: 140, taste: "original"), "몬스터음료", 473, 1500, "몬스터", "Monster", "👾"),
    ])
  }()
}
