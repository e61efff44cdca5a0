// Owns which keys the product table has (`config/vending.json`), which of them each class of drinks needs, and how they
// become products. It must not know a machine, nor how many there are of anything.
// Invariant: what is read can be made: every product has the properties of its class and no others, names stand once,
// and money and measures are within their bounds. A file is taken as a whole or not at all.
// Failure: ConfigurationError with the first thing that is wrong, and its line.

import Arguments
import BankModel

/// The file of what a vending machine sells.
public enum ProductFile {
  /// Products in a file at most.
  static let longestList = 100
  /// Letters of a name at most.
  static let longestName = 40

  /// Reads a file.
  ///
  /// - Throws: ``ConfigurationError``; a file that is not there is ``ConfigurationError/Reason/notFound``.
  public static func load(path: String) throws(ConfigurationError) -> ProductTable {
    try decode(bytes: try ConfigurationFile.bytes(of: path), path: path)
  }

  /// Reads a product table from the bytes of a file.
  ///
  /// - Parameter path: the file's name for errors.
  public static func decode(bytes: [UInt8], path: String) throws(ConfigurationError) -> ProductTable {
    let root = try ConfigurationFile.root(of: bytes, path: path)
    let parts = try root.parts(needed: ["products"], open: ["customers_group"])
    let list = try root.part("products", parts)
    var products: [Product] = []
    var names: Set<String> = []
    for entry in try list.elements(atMost: longestList) { products.append(try product(entry, &names)) }
    if products.isEmpty { throw list.fail(.empty) }
    var group: String?
    if let value = parts["customers_group"], !value.isNull { group = try value.text(atMost: longestName) }
    return ProductTable(products, customersGroup: group)
  }

  private static func product(
    _ entry: ConfigurationReader, _ names: inout Set<String>
  ) throws(ConfigurationError) -> Product {
    let drink = DrinkReader(try entry.freeParts())
    let classReader = try entry.part("class", drink.parts)
    let className = try classReader.choice(DrinkReader.classes.keys.sorted())
    let own = DrinkReader.classes[className] ?? []
    let parts = try entry.parts(
      needed: ["id", "class", "brand", "ml", "price", "ko", "en", "emoji"] + own, open: ["shelf_life_days"])
    let idPart = try entry.part("id", parts)
    let id = ItemID(try idPart.text(atMost: StockLimits.itemLength))
    if !id.isValid { throw idPart.fail(.badName(id.name)) }
    let (koreanPart, englishPart) = (try entry.part("ko", parts), try entry.part("en", parts))
    let korean = try koreanPart.text(atMost: longestName)
    let english = try englishPart.text(atMost: longestName)
    let given = [(id.name, idPart), (korean, koreanPart), (english, englishPart)]
    for (name, reader) in given where names.contains(name) { throw reader.fail(.nameTwice(name)) }
    for (name, _) in given { names.insert(name) }
    var shelfLife = ProductTable.shelfLife
    if let value = parts["shelf_life_days"] { shelfLife = try value.wholeNumber(in: 0...36_500) }
    return Product(
      id: id, drinkClass: try drink.drinkClass(className, entry),
      brand: try entry.part("brand", parts).text(atMost: longestName),
      volume: try entry.part("ml", parts).wholeNumber(in: 1...100_000),
      price: try entry.part("price", parts).wholeNumber(in: 1...VendingLimits.price), name: korean,
      english: english, emoji: try entry.part("emoji", parts).text(atMost: 4), shelfLife: shelfLife)
  }
}

/// What a class of drinks needs to be told beside what every product is told.
private struct DrinkReader {
  /// The classes by name, with the keys of their own.
  static let classes: [String: [String]] = [
    "StrawberryMilk": ["low_fat", "permille"], "ChocolateMilk": ["low_fat", "permille"],
    "BananaMilk": ["low_fat", "permille"], "Coke": ["container", "flavour"],
    "Sprite": ["container", "low_sugar"],
    "Top": ["caffeine_mg", "degrees", "black"], "Cantata": ["caffeine_mg", "degrees", "style"],
    "Georgia": ["caffeine_mg", "degrees", "blend"], "Hot6": ["caffeine_mg", "edition"],
    "Monster": ["caffeine_mg", "taste"],
  ]

  let parts: [String: ConfigurationReader]

  init(_ parts: [String: ConfigurationReader]) { self.parts = parts }

  func drinkClass(_ name: String, _ entry: ConfigurationReader) throws(ConfigurationError) -> DrinkClass {
    switch name {
    case "StrawberryMilk": return .strawberryMilk(isLowFat: try lowFat(entry), permille: try permille(entry))
    case "ChocolateMilk": return .chocolateMilk(isLowFat: try lowFat(entry), permille: try permille(entry))
    case "BananaMilk": return .bananaMilk(isLowFat: try lowFat(entry), permille: try permille(entry))
    case "Coke":
      let flavour = try entry.part("flavour", parts).choice(Coke.Flavour.allCases.map(\.rawValue))
      return .coke(try container(entry), Coke.Flavour(rawValue: flavour) ?? .cherry)
    case "Sprite": return .sprite(try container(entry), isLowSugar: try entry.part("low_sugar", parts).bool())
    case "Top":
      let isBlack = try entry.part("black", parts).bool()
      return .top(caffeine: try caffeine(entry), temperature: try degrees(entry), isBlack: isBlack)
    case "Cantata":
      return .cantata(
        caffeine: try caffeine(entry), temperature: try degrees(entry), style: try word("style", entry))
    case "Georgia":
      return .georgia(
        caffeine: try caffeine(entry), temperature: try degrees(entry), blend: try word("blend", entry))
    case "Hot6": return .hot6(caffeine: try caffeine(entry), edition: try word("edition", entry))
    default: return .monster(caffeine: try caffeine(entry), taste: try word("taste", entry))
    }
  }

  private func lowFat(_ entry: ConfigurationReader) throws(ConfigurationError) -> Bool {
    try entry.part("low_fat", parts).bool()
  }

  private func permille(_ entry: ConfigurationReader) throws(ConfigurationError) -> Int64 {
    try entry.part("permille", parts).wholeNumber(in: 0...1_000)
  }

  private func caffeine(_ entry: ConfigurationReader) throws(ConfigurationError) -> Int64 {
    try entry.part("caffeine_mg", parts).wholeNumber(in: 0...100_000)
  }

  private func degrees(_ entry: ConfigurationReader) throws(ConfigurationError) -> Int64 {
    try entry.part("degrees", parts).wholeNumber(in: -50...100)
  }

  private func container(_ entry: ConfigurationReader) throws(ConfigurationError) -> Soda.Container {
    let name = try entry.part("container", parts).choice(Soda.Container.allCases.map(\.rawValue))
    return Soda.Container(rawValue: name) ?? .can
  }

  private func word(_ key: String, _ entry: ConfigurationReader) throws(ConfigurationError) -> String {
    try entry.part(key, parts).text(atMost: ProductFile.longestName)
  }
}

extension ConfigurationReader {
  /// Whether the value says nothing, as an absent key does.
  fileprivate var isNull: Bool { node.kind == .null }

  /// The values of an object by their keys, whatever these are; a key that stands twice is told later.
  fileprivate func freeParts() throws(ConfigurationError) -> [String: ConfigurationReader] {
    Dictionary(try freeMembers(), uniquingKeysWith: { first, _ in first })
  }

  /// A text that is one of a few.
  fileprivate func choice(_ choices: [String]) throws(ConfigurationError) -> String {
    let text = try self.text(atMost: ProductFile.longestName)
    guard choices.contains(text) else { throw fail(.notAChoice(text, choices)) }
    return text
  }
}
