// Owns which keys the file of fruits, juices and recipes has (`config/stock.json`), and how they become an assortment.
// It must not know what is in stock, nor who sells it.
// Invariant: what is read keeps the rules of `Assortment`: names stand once, recipes name fruits that there are, amounts
// are at least 1. A file is taken as a whole or not at all.
// Failure: ConfigurationError with the first thing that is wrong, and its line.

import Arguments
import BankModel

/// The file of what a branch keeps and makes.
public enum AssortmentFile {
  /// Fruits or juices in a file at most.
  static let longestList = 128
  /// Letters of a name at most.
  static let longestName = 40

  /// Reads a file.
  ///
  /// - Throws: ``ConfigurationError``; a file that is not there is ``ConfigurationError/Reason/notFound``.
  public static func load(path: String) throws(ConfigurationError) -> Assortment {
    try decode(bytes: try ConfigurationFile.bytes(of: path), path: path)
  }

  /// Reads an assortment from the bytes of a file.
  ///
  /// - Parameter path: the file's name for errors.
  public static func decode(bytes: [UInt8], path: String) throws(ConfigurationError) -> Assortment {
    let root = try ConfigurationFile.root(of: bytes, path: path)
    var parts: [String: ConfigurationReader] = [:]
    try root.members(known: ["fruits", "juices"]) { key, value throws(ConfigurationError) in
      parts[key] = value
    }
    guard let fruitList = parts["fruits"] else { throw root.fail(.missing("fruits")) }
    guard let juiceList = parts["juices"] else { throw root.fail(.missing("juices")) }
    var fruits: [Fruit] = []
    var names = Names()
    for entry in try fruitList.elements(atMost: longestList) {
      fruits.append(try fruit(entry, &names))
    }
    if fruits.isEmpty { throw fruitList.fail(.empty) }
    var juices: [Juice] = []
    names = Names()
    for entry in try juiceList.elements(atMost: longestList) {
      juices.append(try juice(entry, of: fruits, &names))
    }
    return Assortment(fruits: fruits, juices: juices)
  }

  /// Names that have been given; each may be given once.
  private struct Names {
    private var given: Set<String> = []

    /// Takes the three names of one thing, which may be the same.
    mutating func take(_ names: [(String, ConfigurationReader)]) throws(ConfigurationError) {
      for (name, reader) in names where given.contains(name) { throw reader.fail(.nameTwice(name)) }
      for (name, _) in names { given.insert(name) }
    }
  }

  private static func fruit(
    _ entry: ConfigurationReader, _ names: inout Names
  ) throws(ConfigurationError) -> Fruit {
    let parts = try entry.parts(needed: ["id", "ko", "en", "emoji"], open: ["initial"])
    let (id, korean, english) = try self.names(parts, entry, &names)
    var initial: Quantity = 10
    if let value = parts["initial"] { initial = try value.wholeNumber(in: 0...StockLimits.quantity) }
    let emoji = try entry.part("emoji", parts).text(atMost: 4)
    return Fruit(id: id, korean: korean, english: english, emoji: emoji, initial: initial)
  }

  private static func juice(
    _ entry: ConfigurationReader, of fruits: [Fruit], _ names: inout Names
  ) throws(ConfigurationError) -> Juice {
    let parts = try entry.parts(needed: ["id", "ko", "en", "recipe"], open: [])
    let (id, korean, english) = try self.names(parts, entry, &names)
    return Juice(
      id: id, korean: korean, english: english,
      recipe: try recipe(try entry.part("recipe", parts), of: fruits))
  }

  private static func names(
    _ parts: [String: ConfigurationReader], _ entry: ConfigurationReader, _ names: inout Names
  ) throws(ConfigurationError) -> (ItemID, String, String) {
    let (idPart, koreanPart) = (try entry.part("id", parts), try entry.part("ko", parts))
    let englishPart = try entry.part("en", parts)
    let id = ItemID(try idPart.text(atMost: StockLimits.itemLength))
    if !id.isValid { throw idPart.fail(.badName(id.name)) }
    let korean = try koreanPart.text(atMost: longestName)
    let english = try englishPart.text(atMost: longestName)
    try names.take([(id.name, idPart), (korean, koreanPart), (english, englishPart)])
    return (id, korean, english)
  }

  private static func recipe(
    _ value: ConfigurationReader, of fruits: [Fruit]
  ) throws(ConfigurationError) -> [ItemAmount] {
    var recipe: [ItemAmount] = []
    for (name, amount) in try value.freeMembers() {
      let item = ItemID(name)
      guard fruits.contains(where: { $0.id == item }) else {
        let suggestion = Suggestions.nearest(to: name, among: fruits.map(\.id.name)).first
        throw amount.fail(.unknownFruit(name, suggestion: suggestion))
      }
      if recipe.contains(where: { $0.item == item }) { throw amount.fail(.duplicateKey) }
      recipe.append(ItemAmount(item, try amount.wholeNumber(in: 1...StockLimits.quantity)))
    }
    if recipe.isEmpty { throw value.fail(.empty) }
    if recipe.count > StockLimits.itemsPerOrder { throw value.fail(.tooMany(StockLimits.itemsPerOrder)) }
    return recipe
  }
}
