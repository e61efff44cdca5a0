// Contents of the stock: items, amounts, and lots with their dates.
// Invariant: the numbers of the coding keys are part of messages and never get a new meaning.

/// Number of pieces of an item.
public typealias Quantity = Int64

/// A calendar day: days since 1970-01-01.
public typealias DayNumber = Int64

/// Upper limits of the stock and its requests.
public enum StockLimits {
  /// Maximum number of pieces of one item.
  public static let quantity: Quantity = 1_000_000
  /// Maximum number of different items.
  public static let items = 256
  /// Maximum number of lots of all items together.
  public static let lots = 4_096
  /// Maximum number of items in one order.
  public static let itemsPerOrder = 32
  /// Maximum length of an item's name, in bytes.
  public static let itemLength = 40
  /// Maximum length of an order's name, in bytes.
  public static let orderLength = 64
  /// Maximum number of orders in one answer.
  public static let ordersPerPage: Int64 = 1_000
  /// Valid days of a lot: up to the year 9999.
  public static let days: ClosedRange<DayNumber> = 0...2_932_896
}

/// Name of an item: `strawberry`, `hot6`. A name in a request may be invalid; see ``isValid``.
public struct ItemID: RawRepresentable, Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
  /// The name as text.
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  /// Makes a name from any text; see ``isValid``.
  public init(_ name: String) { rawValue = name }

  /// Same as `rawValue`.
  public var name: String { rawValue }

  /// True if an item can have this name: lower-case letters, digits and `-`, a letter first, at most
  /// ``StockLimits/itemLength`` bytes.
  public var isValid: Bool {
    guard let first = name.utf8.first, name.utf8.count <= StockLimits.itemLength else { return false }
    return Self.isLetter(first)
      && name.utf8.allSatisfy { Self.isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
  }

  /// True for `a` to `z`.
  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
  /// Same as `name`.
  public var description: String { name }
  /// Ordered by name.
  public static func < (left: ItemID, right: ItemID) -> Bool { left.name < right.name }
}

/// A number of pieces of one item.
public struct ItemAmount: Hashable, Sendable, Codable {
  /// Name of the item.
  public var item: ItemID
  /// Number of pieces.
  public var quantity: Quantity

  public init(_ item: ItemID, _ quantity: Quantity) { (self.item, self.quantity) = (item, quantity) }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case item = 1
    case quantity = 2
  }
}

/// Production date and best-before date of the pieces of a lot.
public struct LotDates: Hashable, Sendable, Codable, Comparable {
  /// Day of production.
  public var made: DayNumber
  /// Last day on which the pieces may be sold.
  public var expires: DayNumber

  public init(made: DayNumber, expires: DayNumber) { (self.made, self.expires) = (made, expires) }

  /// True if both days are valid and production is not after expiry.
  public var isValid: Bool {
    StockLimits.days.contains(made) && StockLimits.days.contains(expires) && made <= expires
  }

  /// Ordered by expiry, then by production.
  public static func < (left: LotDates, right: LotDates) -> Bool {
    (left.expires, left.made) < (right.expires, right.made)
  }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case made = 1
    case expires = 2
  }
}

/// Pieces of one item with the same dates. A lot of an item that never expires, such as fruit, has no dates.
public struct Lot: Hashable, Sendable, Codable {
  /// Dates; nil if the item never expires.
  public var dates: LotDates?
  /// Number of pieces, at least 1.
  public var quantity: Quantity

  public init(dates: LotDates?, quantity: Quantity) { (self.dates, self.quantity) = (dates, quantity) }

  /// True if the last day of sale is before `today`.
  public func isExpired(on today: DayNumber) -> Bool { dates.map { $0.expires < today } ?? false }

  /// True if this lot is sold before a lot with the dates `other`. The lot that expires first is sold first, and a
  /// lot without dates last.
  public func comesBefore(_ other: LotDates?) -> Bool {
    guard let dates else { return false }
    return other.map { dates < $0 } ?? true
  }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case quantity = 1
    case dates = 2
  }
}

/// All lots of one item.
public struct ItemStock: Hashable, Sendable, Codable {
  /// Name of the item.
  public var item: ItemID
  /// The lots in the order in which they are sold. None is empty.
  public var lots: [Lot]

  public init(item: ItemID, lots: [Lot]) { (self.item, self.lots) = (item, lots) }

  /// Number of all pieces, including expired ones.
  public var quantity: Quantity { lots.reduce(0) { $0 + $1.quantity } }

  /// Number of pieces that may be sold on this day.
  public func quantity(on today: DayNumber) -> Quantity {
    lots.reduce(0) { $0 + ($1.isExpired(on: today) ? 0 : $1.quantity) }
  }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case item = 1
    case lots = 2
  }
}
