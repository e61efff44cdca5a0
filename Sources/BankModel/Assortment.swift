// The fruits in a bank's stock, and the juices with their recipes.
// Invariant of an assortment that was read from a file: no two fruits and no two juices have a name in common, and
// every recipe consists of fruits in the assortment. The Korean texts of the built-in assortment are those of the
// original juice maker app.

/// A fruit that is kept in stock.
public struct Fruit: Hashable, Sendable, Codable {
  /// Name in commands.
  public var id: ItemID
  /// Name in Korean.
  public var korean: String
  /// Name in English.
  public var english: String
  /// One character that represents the fruit.
  public var emoji: String
  /// Number of pieces when the fruit is first added to the stock.
  public var initial: Quantity

  public init(id: ItemID, korean: String, english: String, emoji: String, initial: Quantity) {
    (self.id, self.korean, self.english) = (id, korean, english)
    (self.emoji, self.initial) = (emoji, initial)
  }

  /// Name in this language.
  public func name(in language: Language) -> String { language == .korean ? korean : english }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case id = 1
    case korean, english, emoji, initial
  }
}

/// A juice and its recipe.
public struct Juice: Hashable, Sendable, Codable {
  /// Name in commands. Juices have a namespace of their own: `banana` is a fruit and a juice.
  public var id: ItemID
  /// Name in Korean.
  public var korean: String
  /// Name in English.
  public var english: String
  /// The fruits, in the order of the recipe; at least one.
  public var recipe: [ItemAmount]

  public init(id: ItemID, korean: String, english: String, recipe: [ItemAmount]) {
    (self.id, self.korean, self.english, self.recipe) = (id, korean, english, recipe)
  }

  /// Name in this language.
  public func name(in language: Language) -> String { language == .korean ? korean : english }

  /// Fruits of which `stock` has too few unexpired pieces to make `count` juices; empty if the stock suffices.
  public func shortages(for count: Quantity = 1, from stock: [ItemStock], today: DayNumber = 0) -> [Shortage]
  {
    recipe.compactMap { part in
      let available = stock.first { $0.item == part.item }?.quantity(on: today) ?? 0
      let (needed, overflow) = part.quantity.multipliedReportingOverflow(by: count)
      guard overflow || available < needed else { return nil }
      return Shortage(item: part.item, needed: overflow ? .max : needed, available: available)
    }
  }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case id = 1
    case korean, english, recipe
  }
}

/// All fruits and juices of a bank.
public struct Assortment: Hashable, Sendable, Codable {
  /// The fruits, in display order.
  public var fruits: [Fruit]
  /// The juices, in display order.
  public var juices: [Juice]

  public init(fruits: [Fruit], juices: [Juice]) { (self.fruits, self.juices) = (fruits, juices) }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case fruits = 1
    case juices = 2
  }

  /// Returns the fruit whose command name, Korean name or English name is `name`, or nil if there is none.
  public func fruit(called name: String) -> Fruit? {
    fruits.first { $0.id.name == name || $0.korean == name || $0.english == name }
  }

  /// Returns the juice whose command name, Korean name or English name is `name`, or nil if there is none.
  public func juice(called name: String) -> Juice? {
    juices.first { $0.id.name == name || $0.korean == name || $0.english == name }
  }

  /// The assortment of the original juice maker app; `config/stock.json` contains a copy.
  public static let standard: Assortment = {
    /// `id` is also the English name.
    func fruit(_ id: String, _ korean: String, _ emoji: String) -> Fruit {
      Fruit(id: ItemID(id), korean: korean, english: id, emoji: emoji, initial: 10)
    }
    func juice(_ id: String, _ korean: String, _ recipe: [(String, Quantity)]) -> Juice {
      Juice(
        id: ItemID(id), korean: korean, english: id + " juice",
        recipe: recipe.map { ItemAmount(ItemID($0.0), $0.1) })
    }
    return Assortment(
      fruits: [
        fruit("strawberry", "딸기", "🍓"), fruit("banana", "바나나", "🍌"), fruit("pineapple", "파인애플", "🍍"),
        fruit("kiwi", "키위", "🥝"), fruit("mango", "망고", "🥭"),
      ],
      juices: [
        juice("strawberry", "딸기쥬스", [("strawberry", 16)]), juice("banana", "바나나쥬스", [("banana", 2)]),
        juice("kiwi", "키위쥬스", [("kiwi", 3)]), juice("pineapple", "파인애플쥬스", [("pineapple", 2)]),
        juice("strawberry-banana", "딸바쥬스", [("strawberry", 10), ("banana", 1)]),
        juice("mango", "망고쥬스", [("mango", 3)]),
        juice("mango-kiwi", "망고키위쥬스", [("mango", 2), ("kiwi", 1)]),
      ])
  }()
}
