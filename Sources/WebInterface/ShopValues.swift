// Conversion of reports of the stock and the vending machine into the values of pages.
// Invariant: no value makes this process trap.
import BankModel
import WebPages
import Wire

extension JuicePage {
  init(_ assortment: Assortment?, _ picture: StockSnapshot?, isOpen: Bool, _ language: Language) {
    let assortment = assortment ?? .standard
    let items = picture?.items ?? []
    /// Pieces of a fruit in stock; 0 for an unknown fruit.
    func available(_ item: ItemID) -> Quantity { items.first { $0.item == item }?.quantity ?? 0 }
    self.init(
      fruits: FruitRow.rows(assortment, picture, language),
      juices: assortment.juices.map { juice in
        JuiceRow(
          id: juice.id, name: juice.name(in: language),
          recipe: juice.recipe.map { part in
            RecipePart(
              fruit: part.item,
              name: assortment.fruits.first { $0.id == part.item }?.name(in: language) ?? part.item.name,
              needed: part.quantity, available: available(part.item))
          }, isAvailable: isOpen && juice.shortages(from: items).isEmpty)
      }, isOpen: isOpen)
  }
}

extension FruitRow {
  /// Rows of all fruits of the assortment, or of the built-in one if it is unknown, with the amounts of the snapshot.
  static func rows(_ assortment: Assortment?, _ picture: StockSnapshot?, _ language: Language) -> [FruitRow] {
    let items = picture?.items ?? []
    return (assortment ?? .standard).fruits.map { fruit in
      FruitRow(
        id: fruit.id, name: fruit.name(in: language), emoji: fruit.emoji,
        quantity: items.first { $0.item == fruit.id }?.quantity ?? 0)
    }
  }
}

extension DrinkRow {
  init(_ product: ProductReport, _ picture: VendingSnapshot, _ language: Language) {
    self.init(
      id: product.id, name: product.name(in: language), brand: product.brand, volume: product.volume,
      price: product.price, stock: product.stock, expired: product.expired,
      isBuyable: picture.isBuyable(product), isHot: product.isHot(), kind: product.kind)
  }
}

extension PurchaseRow {
  /// The row of a purchase; nil for any other change of money.
  init?(_ change: MoneyChange, _ picture: VendingSnapshot, _ language: Language) {
    guard change.kind == .bought, let product = change.product else { return nil }
    self.init(
      number: change.sequence, product: product,
      name: picture.products.first { $0.id == product }?.name(in: language) ?? product.name,
      price: change.amount, time: change.at.milliseconds)
  }
}

extension VendingAdminPage {
  init(_ picture: VendingSnapshot, isOpen: Bool, _ language: Language) {
    self.init(
      shelves: picture.products.map { product in
        DrinkShelf(
          drink: DrinkRow(product, picture, language),
          lots: (product.lots ?? []).map { lot in
            DrinkLot(
              made: lot.dates?.made, expires: lot.dates?.expires, quantity: lot.quantity,
              description: lot.description(of: product, StringCatalog(language)),
              isExpired: lot.dates.map { $0.expires < picture.today } ?? false)
          }, sold: picture.sales.first { $0.product == product.id }?.count ?? 0)
      }, balance: picture.balance, today: picture.today, isOpen: isOpen)
  }
}
