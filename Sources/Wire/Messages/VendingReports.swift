// Data that a vending machine publishes: its products with their quantities, its balance, its purchases.
// The manager receives the lots, a customer the quantities.

import BankModel

/// One lot of a product.
public struct LotReport: Codable, Sendable, Equatable {
  /// Production date and last day of sale; nil for pieces that were added to the stock without dates, which do not
  /// expire.
  public var dates: LotDates?
  /// Number of pieces.
  public var quantity: Quantity
  /// Description of one piece from its drink class; empty without dates.
  public var description: String

  public init(dates: LotDates?, quantity: Quantity, description: String) {
    (self.dates, self.quantity, self.description) = (dates, quantity, description)
  }
  /// Field number of each property of a lot, in messages.
  enum CodingKeys: Int, CodingKey { case dates = 1, quantity, description }

  /// Description of the lot: in English composed from the product and the dates, in Korean ``description``.
  public func description(of product: ProductReport, _ phrases: StringCatalog) -> String {
    guard phrases.language == .english, let dates else { return description }
    return [
      phrases.brand(product.brand), "\(product.volume)ml", phrases.won(product.price), product.english,
      "made \(CalendarDate(dates.made).dashed)", "expires \(CalendarDate(dates.expires).dashed)",
    ].joined(separator: ", ")
  }
}

/// One product and its quantities.
public struct ProductReport: Codable, Sendable, Equatable {
  /// Name in commands.
  public var id: ItemID
  /// Kind of drink.
  public var kind: DrinkClass.Kind
  /// Manufacturer.
  public var brand: String
  /// Volume in millilitres.
  public var volume: Int64
  /// Price of one piece.
  public var price: Won
  /// Name in Korean and in English.
  public var name, english: String
  /// One character that serves as its icon.
  public var emoji: String
  /// Temperature at which the product is kept, in degrees Celsius; nil if it is not kept warm.
  public var temperature: Int64?
  /// Number of pieces that may be sold today, and of expired pieces.
  public var stock, expired: Quantity
  /// The lots; nil for customers.
  public var lots: [LotReport]?

  /// Report of a product and its stock.
  public init(_ product: Product, stock: Quantity, expired: Quantity, lots: [LotReport]? = nil) {
    id = product.id
    kind = product.drinkClass.kind
    brand = product.brand
    volume = product.volume
    price = product.price
    name = product.name
    english = product.english
    emoji = product.emoji
    temperature = product.drinkClass.temperature
    self.stock = stock
    self.expired = expired
    self.lots = lots
  }

  /// True if the product is kept warmer than `degrees` Celsius.
  public func isHot(above degrees: Int64 = Coffee.hotAbove) -> Bool {
    temperature.map { $0 > degrees } ?? false
  }

  /// Name in this language.
  public func name(in language: Language) -> String { language == .korean ? name : english }

  /// Field number of each property of a product, in messages.
  enum CodingKeys: Int, CodingKey {
    case id = 1, kind, brand, volume, price, name, english, emoji, temperature, stock, expired, lots
  }
}

/// One product and the number of its purchases.
public struct SalesReport: Codable, Sendable, Equatable {
  /// Name of the product.
  public var product: ItemID
  /// Number of purchases.
  public var count: Int64
  public init(product: ItemID, count: Int64) { (self.product, self.count) = (product, count) }
  /// Field number of each property of a product's number of purchases, in messages.
  enum CodingKeys: Int, CodingKey { case product = 1, count }
}

/// Snapshot of a machine.
public struct VendingSnapshot: Codable, Sendable, Equatable {
  /// Sequence number of the last change of the money in the snapshot; 0 before the first.
  public var sequence: Int64
  /// Won in the machine, and won that can be spent: the balance minus the prices of purchases in progress.
  public var balance, availableBalance: Won
  /// The day used to determine which pieces have expired.
  public var today: DayNumber
  /// The products, in display order: those with expired pieces in the answer to `expired`, and none in the answer to
  /// `balance`.
  public var products: [ProductReport]
  /// Number of purchases of each product. Products that were never bought are left out.
  public var sales: [SalesReport]
  /// The latest purchases, oldest first.
  public var recent: [MoneyChange]

  public init(
    sequence: Int64, balance: Won, availableBalance: Won, today: DayNumber, products: [ProductReport],
    sales: [SalesReport], recent: [MoneyChange]
  ) {
    (self.sequence, self.today) = (sequence, today)
    (self.balance, self.availableBalance) = (balance, availableBalance)
    (self.products, self.sales, self.recent) = (products, sales, recent)
  }

  /// True if one piece of a product can be bought now.
  public func isBuyable(_ product: ProductReport) -> Bool {
    product.stock > 0 && product.price <= availableBalance
  }
  /// Field number of each property of a vending machine's snapshot, in messages.
  enum CodingKeys: Int, CodingKey {
    case sequence = 1, balance, availableBalance, today, products, sales, recent
  }
}

/// Changes since the last message to a subscriber.
public struct VendingChanges: Codable, Sendable, Equatable {
  /// Sequence number of the last change of the money in this message.
  public var sequence: Int64
  /// Won in the machine, and won that can be spent.
  public var balance, availableBalance: Won
  /// The day used to determine which pieces have expired.
  public var today: DayNumber
  /// Products whose quantities have changed; all products if the day has changed.
  public var products: [ProductReport]
  /// New purchases, oldest first.
  public var purchases: [MoneyChange]

  public init(
    sequence: Int64, balance: Won, availableBalance: Won, today: DayNumber, products: [ProductReport],
    purchases: [MoneyChange]
  ) {
    (self.sequence, self.today) = (sequence, today)
    (self.balance, self.availableBalance) = (balance, availableBalance)
    (self.products, self.purchases) = (products, purchases)
  }
  /// Field number of each property of a vending machine's changes, in messages.
  enum CodingKeys: Int, CodingKey { case sequence = 1, balance, availableBalance, today, products, purchases }
}

extension VendingSnapshot {
  /// Maximum number of purchases in a snapshot.
  public static let recentLimit = 200

  /// Applies the changes that directly follow the snapshot.
  public mutating func apply(_ news: VendingChanges) {
    (sequence, balance, availableBalance, today) = (
      news.sequence, news.balance, news.availableBalance, news.today
    )
    for product in news.products {
      if let place = products.firstIndex(where: { $0.id == product.id }) { products[place] = product }
    }
    for purchase in news.purchases {
      guard let product = purchase.product else { continue }
      if let place = sales.firstIndex(where: { $0.product == product }) {
        sales[place].count += 1
      } else {
        sales.append(SalesReport(product: product, count: 1))
      }
    }
    recent = Array((recent + news.purchases).suffix(Self.recentLimit))
  }
}
