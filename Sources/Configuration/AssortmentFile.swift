// Format of the file of fruits, juices and recipes (`config/stock.json`), and its conversion to an
// assortment.
// Invariant: names are unique among the fruits and among the juices, and recipes use fruits of the file. A file is
// accepted completely or not at all.

import Arguments
import BankModel

/// The file of fruits, juices and recipes.
public enum AssortmentFile {
  /// Maximum number of fruits, and of juices.
  static let longestList = 128
  /// Maximum length of a name, in characters.
  static let longestName = 40

  /// Reads a file. A missing file is ``ConfigurationError/Reason/notFound``.
  public static func load(path: String) throws(ConfigurationError) -> Assortment {
    try decode(bytes: try ConfigurationFile.bytes(of: path), path: path)
  }

  /// Parses an assortment; `path` is the file's name for errors.
  public static func decode(bytes: [UInt8], path: String) throws(ConfigurationError) -> Assortment {
    let root = try ConfigurationFile.root(of: bytes, path: path)
    let parts = try root.parts(required: ["fruits", "juices"], open: [])
    let (fruitList, juiceList) = (try root.part("fruits", parts), try root.part("juices", parts))
    var fruits: [Fruit] = []
    var names: Set<String> = []
    for entry in try fruitList.elements(atMost: longestList) { fruits.append(try fruit(entry, &names)) }
    if fruits.isEmpty { throw fruitList.fail(.empty) }
    var juices: [Juice] = []
    names = []
    for entry in try juiceList.elements(atMost: longestList) {
      juices.append(try juice(entry, of: fruits, &names))
    }
    return Assortment(fruits: fruits, juices: juices)
  }

  /// Reads one fruit. Throws if `names` contains one of its names already, else adds them.
  private static func fruit(
    _ entry: ConfigurationReader, _ names: inout Set<String>
  ) throws(ConfigurationError) -> Fruit {
    let parts = try entry.parts(required: ["id", "ko", "en", "emoji"], open: ["initial"])
    let (id, korean, english) = try entry.names(parts, atMost: longestName, &names)
    var initial: Quantity = 10
    if let value = parts["initial"] { initial = try value.wholeNumber(in: 0...StockLimits.quantity) }
    let emoji = try entry.part("emoji", parts).text(atMost: 4)
    return Fruit(id: id, korean: korean, english: english, emoji: emoji, initial: initial)
  }

  /// Reads one juice. Throws if `names` contains one of its names already, else adds them.
  private static func juice(
    _ entry: ConfigurationReader, of fruits: [Fruit], _ names: inout Set<String>
  ) throws(ConfigurationError) -> Juice {
    let parts = try entry.parts(required: ["id", "ko", "en", "recipe"], open: [])
    let (id, korean, english) = try entry.names(parts, atMost: longestName, &names)
    let recipe = try recipe(try entry.part("recipe", parts), of: fruits)
    return Juice(id: id, korean: korean, english: english, recipe: recipe)
  }

  /// Reads the recipe of one juice: names of `fruits`, each with its number of pieces.
  private static func recipe(
    _ value: ConfigurationReader, of fruits: [Fruit]
  ) throws(ConfigurationError) -> [ItemAmount] {
    var recipe: [ItemAmount] = []
    for (name, amount) in try value.membersWithAnyKey() {
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
