// Format of the product table (`config/vending.json`), the keys of each class of drinks, and the conversion
// to products. A file is accepted completely or not at all.
// Invariant: every product has the common properties and those of its class, and no others. Names are unique. Money
// and measures are in range.

import BankModel

/// The file of the vending machine's products.
public enum ProductFile {
  /// Maximum number of products.
  static let longestList = 100
  /// Maximum length of a name, in characters.
  static let longestName = 40

  /// Reads a file. A missing file is ``ConfigurationError/Reason/notFound``.
  public static func load(path: String) throws(ConfigurationError) -> ProductTable {
    try decode(bytes: try ConfigurationFile.bytes(of: path), path: path)
  }

  /// Parses a product table; `path` is the file's name for errors.
  public static func decode(bytes: [UInt8], path: String) throws(ConfigurationError) -> ProductTable {
    let root = try ConfigurationFile.root(of: bytes, path: path)
    let parts = try root.parts(required: ["products"], open: ["customers_group"])
    let list = try root.part("products", parts)
    var products: [Product] = []
    var names: Set<String> = []
    for entry in try list.elements(atMost: longestList) { products.append(try product(entry, &names)) }
    if products.isEmpty { throw list.fail(.empty) }
    var group: String?
    if let value = parts["customers_group"], !value.isNull { group = try value.text(atMost: longestName) }
    return ProductTable(products, customersGroup: group)
  }

  /// Reads one product. Throws if `names` contains one of its names already, else adds them.
  private static func product(
    _ entry: ConfigurationReader, _ names: inout Set<String>
  ) throws(ConfigurationError) -> Product {
    let drink = DrinkReader(parts: try entry.partsWithAnyKey(), entry: entry)
    let className = try entry.part("class", drink.parts).choice(DrinkReader.classes.keys.sorted())
    let own = DrinkReader.classes[className] ?? []
    let parts = try entry.parts(
      required: ["id", "class", "brand", "ml", "price", "ko", "en", "emoji"] + own, open: ["shelf_life_days"])
    let (id, korean, english) = try entry.names(parts, atMost: longestName, &names)
    var shelfLife = ProductTable.shelfLife
    if let value = parts["shelf_life_days"] { shelfLife = try value.wholeNumber(in: 0...36_500) }
    return Product(
      id: id, drinkClass: try drink.drinkClass(className),
      brand: try entry.part("brand", parts).text(atMost: longestName),
      volume: try entry.part("ml", parts).wholeNumber(in: 1...100_000),
      price: try entry.part("price", parts).wholeNumber(in: 1...VendingLimits.price), name: korean,
      english: english, emoji: try entry.part("emoji", parts).text(atMost: 4), shelfLife: shelfLife)
  }
}

/// Reads the properties that depend on the class of a drink.
private struct DrinkReader {
  /// The classes by name, with their own keys.
  static let classes: [String: [String]] = [
    "StrawberryMilk": ["low_fat", "permille"], "ChocolateMilk": ["low_fat", "permille"],
    "BananaMilk": ["low_fat", "permille"], "Coke": ["container", "flavour"],
    "Sprite": ["container", "low_sugar"], "Top": ["caffeine_mg", "degrees", "black"],
    "Cantata": ["caffeine_mg", "degrees", "style"], "Georgia": ["caffeine_mg", "degrees", "blend"],
    "Hot6": ["caffeine_mg", "edition"], "Monster": ["caffeine_mg", "taste"],
  ]

  let parts: [String: ConfigurationReader]
  let entry: ConfigurationReader

  /// Reads the properties that drinks of the class with this name have.
  func drinkClass(_ name: String) throws(ConfigurationError) -> DrinkClass {
    switch name {
    case "StrawberryMilk": return .strawberryMilk(isLowFat: try bool("low_fat"), permille: try permille)
    case "ChocolateMilk": return .chocolateMilk(isLowFat: try bool("low_fat"), permille: try permille)
    case "BananaMilk": return .bananaMilk(isLowFat: try bool("low_fat"), permille: try permille)
    case "Coke":
      let flavour = try part("flavour").choice(Coke.Flavour.allCases.map(\.rawValue))
      return .coke(try container, Coke.Flavour(rawValue: flavour) ?? .cherry)
    case "Sprite": return .sprite(try container, isLowSugar: try bool("low_sugar"))
    case "Top":
      let isBlack = try bool("black")
      return .top(caffeine: try caffeine, temperature: try degrees, isBlack: isBlack)
    case "Cantata":
      return .cantata(caffeine: try caffeine, temperature: try degrees, style: try word("style"))
    case "Georgia":
      return .georgia(caffeine: try caffeine, temperature: try degrees, blend: try word("blend"))
    case "Hot6": return .hot6(caffeine: try caffeine, edition: try word("edition"))
    default: return .monster(caffeine: try caffeine, taste: try word("taste"))
    }
  }

  /// The value of a required key of the product.
  private func part(_ key: String) throws(ConfigurationError) -> ConfigurationReader {
    try entry.part(key, parts)
  }
  private func bool(_ key: String) throws(ConfigurationError) -> Bool { try part(key).bool() }
  /// A text of the product, at most as long as a name.
  private func word(_ key: String) throws(ConfigurationError) -> String {
    try part(key).text(atMost: ProductFile.longestName)
  }
  private func number(_ key: String, _ bounds: ClosedRange<Int64>) throws(ConfigurationError) -> Int64 {
    try part(key).wholeNumber(in: bounds)
  }
  /// Flavour content of a milk, in thousandths.
  private var permille: Int64 { get throws(ConfigurationError) { try number("permille", 0...1_000) } }
  /// Caffeine in milligrams.
  private var caffeine: Int64 { get throws(ConfigurationError) { try number("caffeine_mg", 0...100_000) } }
  /// Temperature of a coffee in degrees Celsius.
  private var degrees: Int64 { get throws(ConfigurationError) { try number("degrees", -50...100) } }
  /// Kind of container of a soda.
  private var container: Soda.Container {
    get throws(ConfigurationError) {
      let name = try part("container").choice(Soda.Container.allCases.map(\.rawValue))
      return Soda.Container(rawValue: name) ?? .can
    }
  }
}

extension ConfigurationReader {
  /// The values of an object by arbitrary keys. If a key is repeated, the first value is returned.
  /// `parts(required:open:)` reports the repetition.
  fileprivate func partsWithAnyKey() throws(ConfigurationError) -> [String: ConfigurationReader] {
    Dictionary(try membersWithAnyKey(), uniquingKeysWith: { first, _ in first })
  }

  /// The value as a text, which must be one of `choices`; throws for any other text.
  fileprivate func choice(_ choices: [String]) throws(ConfigurationError) -> String {
    let text = try self.text(atMost: ProductFile.longestName)
    guard choices.contains(text) else { throw fail(.notAChoice(text, choices)) }
    return text
  }
}
