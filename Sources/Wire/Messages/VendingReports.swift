// Owns how a vending machine shows itself: its products with what there is of them, its balance, its purchases.
// It knows no socket. The manager sees lots; a customer sees how many there are.

import BankModel

/// One lot of a product.
public struct LotReport: Codable, Sendable, Equatable {
  /// When they were made and until when they are good; nil where nothing expires.
  public var dates: LotDates?
  /// How many.
  public var quantity: Quantity
  /// One of them, described as its class does; empty where it has no dates.
  public var description: String

  public init(dates: LotDates?, quantity: Quantity, description: String) {
    (self.dates, self.quantity, self.description) = (dates, quantity, description)
  }
  enum CodingKeys: Int, CodingKey { case dates = 1, quantity, description }

  /// What tells one lot from another: in Korean the drink's own description, as the original has it; in English its words.
  public func description(of product: ProductReport, _ phrases: Phrasebook) -> String {
    guard phrases.language == .english, let dates else { return description }
    return [
      phrases.brand(product.brand), "\(product.volume)ml", phrases.won(product.price), product.english,
      "made \(CalendarDate(dates.made).dashed)", "good until \(CalendarDate(dates.expires).dashed)",
    ].joined(separator: ", ")
  }
}

/// One product and what there is of it.
public struct ProductReport: Codable, Sendable, Equatable {
  /// Its name in commands.
  public var id: ItemID
  /// Its kind among the drinks.
  public var kind: DrinkClass.Kind
  /// Who makes it.
  public var brand: String
  /// Millilitres.
  public var volume: Int64
  /// What one costs.
  public var price: Won
  /// What it is called, in Korean and in English.
  public var name, english: String
  /// One character as its picture.
  public var emoji: String
  /// How warm it is kept, in degrees Celsius; nil for whatever is not kept warm.
  public var temperature: Int64?
  /// How many may be sold today, and how many may not be sold any more.
  public var stock, expired: Quantity
  /// The lots; nil for whoever may not see them.
  public var lots: [LotReport]?

  /// What is told of a product and its stock.
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

  /// Whether it is kept warmer than this.
  public func isHot(above degrees: Int64 = Coffee.hotAbove) -> Bool {
    temperature.map { $0 > degrees } ?? false
  }

  /// What it is called.
  public func name(in language: Language) -> String { language == .korean ? name : english }

  enum CodingKeys: Int, CodingKey {
    case id = 1, kind, brand, volume, price, name, english, emoji, temperature, stock, expired, lots
  }
}

/// So many purchases of one product.
public struct SalesReport: Codable, Sendable, Equatable {
  /// Of what.
  public var product: ItemID
  /// How many.
  public var count: Int64
  public init(product: ItemID, count: Int64) { (self.product, self.count) = (product, count) }
  enum CodingKeys: Int, CodingKey { case product = 1, count }
}

/// A machine as it is.
public struct VendingPicture: Codable, Sendable, Equatable {
  /// The last change of the money that is part of the picture; 0 before the first.
  public var sequence: Int64
  /// Won in the machine, and those that are free: the balance without what purchases under way will cost.
  public var balance, free: Won
  /// The day that decides what has expired.
  public var today: DayNumber
  /// Every product, in the order in which they are shown.
  public var products: [ProductReport]
  /// How many of each product were ever bought; those that never were are left out.
  public var sales: [SalesReport]
  /// The latest purchases, oldest first.
  public var recent: [MoneyChange]

  public init(
    sequence: Int64, balance: Won, free: Won, today: DayNumber, products: [ProductReport],
    sales: [SalesReport], recent: [MoneyChange]
  ) {
    (self.sequence, self.balance, self.free, self.today) = (sequence, balance, free, today)
    (self.products, self.sales, self.recent) = (products, sales, recent)
  }

  /// Whether one of a product can be bought now.
  public func isBuyable(_ product: ProductReport) -> Bool { product.stock > 0 && product.price <= free }
  enum CodingKeys: Int, CodingKey { case sequence = 1, balance, free, today, products, sales, recent }
}

/// What has changed since a viewer was told last.
public struct VendingNews: Codable, Sendable, Equatable {
  /// The last change of the money that the news tell of.
  public var sequence: Int64
  /// Won in the machine, and those that are free.
  public var balance, free: Won
  /// The day that decides what has expired.
  public var today: DayNumber
  /// The products of which there are more or fewer now.
  public var products: [ProductReport]
  /// Purchases that were made since, oldest first.
  public var purchases: [MoneyChange]

  public init(
    sequence: Int64, balance: Won, free: Won, today: DayNumber, products: [ProductReport],
    purchases: [MoneyChange]
  ) {
    (self.sequence, self.balance, self.free, self.today) = (sequence, balance, free, today)
    (self.products, self.purchases) = (products, purchases)
  }
  enum CodingKeys: Int, CodingKey { case sequence = 1, balance, free, today, products, purchases }
}

extension VendingPicture {
  /// Purchases that a picture holds at most.
  public static let remembered = 200

  /// The picture after news that follow it.
  public mutating func apply(_ news: VendingNews) {
    (sequence, balance, free, today) = (news.sequence, news.balance, news.free, news.today)
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
    recent = Array((recent + news.purchases).suffix(Self.remembered))
  }
}
