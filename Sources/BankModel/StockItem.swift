// Owns what lies on the shelves of the stock: items, amounts, and lots with their dates. It knows no order, no disk and
// no calendar: a day is a number that is handed in. Everything here is a plain value, and says under which numbers its
// parts stand in messages; those are never given a new meaning.

/// So many pieces of an item.
public typealias Quantity = Int64

/// A day of the calendar: days since 1970-01-01.
public typealias DayNumber = Int64

/// What the stock holds and takes at most, in one place.
public enum StockLimits {
  /// Pieces of one item.
  public static let quantity: Quantity = 1_000_000
  /// Different items.
  public static let items = 256
  /// Lots of all items together.
  public static let lots = 4_096
  /// Items of one order.
  public static let itemsPerOrder = 32
  /// The longest name of an item, in bytes.
  public static let itemLength = 40
  /// The longest name of an order, in bytes.
  public static let orderLength = 64
  /// Orders in one answer that lists them.
  public static let ordersPerPage: Int64 = 1_000
  /// Days that a lot can be of: up to the year 9999.
  public static let days: ClosedRange<DayNumber> = 0...2_932_896
}

/// The name of an item: `strawberry`, `hot6`. Any text can be asked for; only a valid one can be kept.
public struct ItemID: RawRepresentable, Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
  /// The name as scripts write it.
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  /// An item of this name.
  public init(_ name: String) { rawValue = name }

  /// The name as scripts write it.
  public var name: String { rawValue }

  /// Whether an item can be called so: small letters, digits and `-`, at first a letter, at most
  /// ``StockLimits/itemLength`` bytes.
  public var isValid: Bool {
    guard let first = name.utf8.first, name.utf8.count <= StockLimits.itemLength else { return false }
    return Self.isLetter(first)
      && name.utf8.allSatisfy { Self.isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
  /// The name.
  public var description: String { name }
  /// By name.
  public static func < (left: ItemID, right: ItemID) -> Bool { left.name < right.name }
}

/// So many pieces of one item.
public struct ItemAmount: Hashable, Sendable, Codable {
  /// Of what.
  public var item: ItemID
  /// How many.
  public var quantity: Quantity

  public init(_ item: ItemID, _ quantity: Quantity) { (self.item, self.quantity) = (item, quantity) }

  enum CodingKeys: Int, CodingKey {
    case item = 1
    case quantity = 2
  }
}

/// When the pieces of a lot were made and until when they are good.
public struct LotDates: Hashable, Sendable, Codable, Comparable {
  /// The day on which they were made.
  public var made: DayNumber
  /// The last day on which they may be sold.
  public var expires: DayNumber

  public init(made: DayNumber, expires: DayNumber) { (self.made, self.expires) = (made, expires) }

  /// Whether both are days, in this order.
  public var isValid: Bool {
    StockLimits.days.contains(made) && StockLimits.days.contains(expires) && made <= expires
  }

  /// What expires earlier comes first, and of those the older.
  public static func < (left: LotDates, right: LotDates) -> Bool {
    (left.expires, left.made) < (right.expires, right.made)
  }

  enum CodingKeys: Int, CodingKey {
    case made = 1
    case expires = 2
  }
}

/// Pieces of one item with the same dates. What never expires, such as fruit, is one lot without dates.
public struct Lot: Hashable, Sendable, Codable {
  /// The dates; nil where nothing expires.
  public var dates: LotDates?
  /// Pieces, at least 1.
  public var quantity: Quantity

  public init(dates: LotDates?, quantity: Quantity) { (self.dates, self.quantity) = (dates, quantity) }

  /// Whether it may not be sold any more: its last day is before this one.
  public func isExpired(on today: DayNumber) -> Bool { dates.map { $0.expires < today } ?? false }

  /// Whether this lot is sold before one with other dates: the earliest to expire first, what never does last.
  public func comesBefore(_ other: LotDates?) -> Bool {
    guard let dates else { return false }
    return other.map { dates < $0 } ?? true
  }

  enum CodingKeys: Int, CodingKey {
    case quantity = 1
    case dates = 2
  }
}

/// Everything there is of one item.
public struct ItemStock: Hashable, Sendable, Codable {
  /// Of what.
  public var item: ItemID
  /// The lots in the order in which they are sold. None is empty.
  public var lots: [Lot]

  public init(item: ItemID, lots: [Lot]) { (self.item, self.lots) = (item, lots) }

  /// All pieces, those that have expired too.
  public var quantity: Quantity { lots.reduce(0) { $0 + $1.quantity } }

  /// The pieces that may be sold on a day.
  public func quantity(on today: DayNumber) -> Quantity {
    lots.reduce(0) { $0 + ($1.isExpired(on: today) ? 0 : $1.quantity) }
  }

  enum CodingKeys: Int, CodingKey {
    case item = 1
    case lots = 2
  }
}
