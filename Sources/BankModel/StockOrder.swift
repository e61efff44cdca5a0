// Owns the words of a conversation with the stock: what can be asked of it, what it answers, and what a
// change of it is. The raw values stand in the database and in messages: they are never given a new meaning.

import Time

/// A name under which the stock is asked. The same name again gets the same answer and changes nothing.
public struct OrderID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The name, such as `3-17` for ticket 17 of day 3.
  public let rawValue: String
  /// The same.
  public var text: String { rawValue }

  public init(rawValue: String) { self.rawValue = rawValue }

  /// An order of this name; any text can be handed in, only a valid one is taken.
  public init(_ text: String) { rawValue = text }

  /// The order of one ticket: `3-17` for ticket 17 of day 3. Whoever serves the ticket asks under this name.
  public init(day: BusinessDay, ticket: TicketNumber) { rawValue = "\(day)-\(ticket)" }

  /// Whether an order can be called so: 1 to ``StockLimits/orderLength`` bytes of visible ASCII.
  public var isValid: Bool {
    (1...StockLimits.orderLength).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// The name.
  public var description: String { text }
}

/// Names for orders whose asker has none of its own: drawn once, then counted.
///
/// They sort in the order in which they were given, so a store that keeps them sorted writes to one place and not to a
/// different one for each order.
public struct OrderNames: Sendable {
  private let beginning: String
  private var given: UInt64 = 0

  /// Names that nobody gives who was made from another seed.
  public init(seed: UInt64) { beginning = "x" + String(seed, radix: 16, digits: 16) + "-" }

  /// The next name.
  public mutating func next() -> OrderID {
    given &+= 1
    return OrderID(beginning + String(given, radix: 16, digits: 8))
  }
}

extension String {
  /// A number, with zeros before it where it has fewer digits than wanted.
  package init(_ number: some BinaryInteger, radix: Int = 10, digits: Int) {
    let text = String(number, radix: radix)
    self = String(repeating: "0", count: Swift.max(0, digits - text.utf8.count)) + text
  }
}

/// Something that changes the stock, or would.
public enum StockAction: Hashable, Sendable {
  /// Take all of it or nothing, the earliest to expire first, nothing that has expired. Needs an order's name.
  case take([ItemAmount], today: DayNumber)
  /// Put back what the order of this name has taken. An order that was never heard of is not taken any more when it
  /// comes late. Needs an order's name.
  case giveBack
  /// An item without dates shall have so many pieces.
  case set(ItemID, Quantity)
  /// So many pieces more, or fewer where the number is negative. With dates: in that lot.
  case change(ItemID, by: Quantity, dates: LotDates?)
  /// Throw away everything that has expired before a day.
  case discardExpired(today: DayNumber)

  /// What is asked for, as one line: two orders of one name are the same where these are. The day on which it is asked
  /// is no part of it.
  public var content: String {
    switch self {
    case .take(let amounts, _): "take" + amounts.map { " \($0.item)*\($0.quantity)" }.sorted().joined()
    case .giveBack: ""
    case .set(let item, let quantity): "set \(item)*\(quantity)"
    case .change(let item, let difference, let dates):
      "change \(item)*\(difference)" + (dates.map { " \($0.made)..\($0.expires)" } ?? "")
    case .discardExpired(let today): "discard \(today)"
    }
  }

  /// The amounts of a ``content`` that takes, in the order of their names; nil for any other.
  public static func amounts(inContent content: String) -> [ItemAmount]? {
    let words = content.split(separator: " ")
    guard words.first == "take" else { return nil }
    return words.dropFirst().compactMap { word in
      guard let star = word.lastIndex(of: "*"), let quantity = Quantity(word[word.index(after: star)...])
      else { return nil }
      return ItemAmount(ItemID(String(word[..<star])), quantity)
    }
  }
}

/// One row of the stock's ledger: a lot of an item became more or less.
public struct StockChange: Hashable, Sendable, Codable {
  /// Why.
  public enum Kind: UInt8, Named {
    /// It was there when the item was first heard of.
    case initial = 1
    case added = 2
    /// Pieces were removed by whoever keeps the stock.
    case removed = 3
    case taken = 4
    /// What an order had taken was given back.
    case returned = 5
    case set = 6
    case discarded = 7

    /// The names in JSON, in the order of the numbers.
    public static let names = ["initial", "added", "removed", "taken", "returned", "set", "discarded"]
  }

  /// The place in the order of all changes, from 1, without a gap.
  public var sequence: Int64
  /// Of what.
  public var item: ItemID
  /// Why.
  public var kind: Kind
  /// The lot; nil for the one without dates.
  public var dates: LotDates?
  /// So many more, or fewer; never 0.
  public var difference: Quantity
  /// Pieces in the lot afterwards.
  public var lot: Quantity
  /// Pieces of the item afterwards.
  public var present: Quantity
  /// The order that brought the change about; nil where it had no name.
  public var order: OrderID?
  /// When.
  public var at: WallTime

  public init(
    sequence: Int64, item: ItemID, kind: Kind, dates: LotDates?, difference: Quantity, lot: Quantity,
    present: Quantity, order: OrderID?, at: WallTime
  ) {
    (self.sequence, self.item, self.kind) = (sequence, item, kind)
    (self.dates, self.difference, self.lot) = (dates, difference, lot)
    (self.present, self.order, self.at) = (present, order, at)
  }

  enum CodingKeys: Int, CodingKey {
    case sequence = 1
    case item, kind, dates, difference, lot, present, order, at
  }
}

/// An order as the stock remembers it.
public struct KeptOrder: Hashable, Sendable, Codable {
  /// What became of it.
  public enum State: UInt8, Sendable, Codable, CaseIterable {
    /// It was done, and what it took is gone.
    case done = 1
    case short = 2
    /// It was given back before anybody had heard of it; it is never done.
    case void = 3
    /// It was done, and what it took was given back.
    case givenBack = 4
  }

  /// The name.
  public var id: OrderID
  /// What was asked for; see ``StockAction/content``.
  public var content: String
  /// What became of it.
  public var state: State

  public init(id: OrderID, content: String, state: State) {
    (self.id, self.content, self.state) = (id, content, state)
  }

  enum CodingKeys: Int, CodingKey {
    case id = 1
    case content, state
  }
}

/// What is missing of one item.
public struct Shortage: Hashable, Sendable, Codable {
  /// Of what.
  public var item: ItemID
  /// So many were asked for.
  public var needed: Quantity
  /// So many could have been taken.
  public var available: Quantity

  public init(item: ItemID, needed: Quantity, available: Quantity) {
    (self.item, self.needed, self.available) = (item, needed, available)
  }

  enum CodingKeys: Int, CodingKey {
    case item = 1
    case needed, available
  }
}

/// Why something asked of the stock was not done. Nothing was changed, and nothing is remembered of it.
public enum StockRefusal: Hashable, Sendable {
  case unknownItem(ItemID)
  /// An amount of 0, a negative one, or more than there can be.
  case badQuantity(ItemID, Quantity)
  case itemTwice(ItemID)
  /// An order of no items, or of too many.
  case badItemCount(Int)
  /// The order has no name, or one that no order can have.
  case badOrder(String)
  /// Dates that are no days, or in the wrong order.
  case badDates(ItemID)
  /// The name belongs to an order that asked for something else.
  case otherOrder(OrderID)
  /// The order was given back, so it holds nothing and takes nothing any more.
  case givenBack(OrderID)
  /// There would be more of the item than ``StockLimits/quantity``.
  case overflow(ItemID, present: Quantity)
  /// The item has lots with dates, so its amount cannot be set.
  case datedItem(ItemID)
  /// There would be more lots than ``StockLimits/lots``.
  case tooManyLots(ItemID)
  case diskFull
}

/// The stock as a whole, at one place in the order of its changes.
public struct StockPicture: Hashable, Sendable, Codable {
  /// Which ledger the sequence counts: a database that was made anew has another.
  public var ledger: Int64
  /// The last change that is part of the picture; 0 before the first.
  public var sequence: Int64
  /// Every item, in the order in which they were first heard of.
  public var items: [ItemStock]

  public init(ledger: Int64, sequence: Int64, items: [ItemStock]) {
    (self.ledger, self.sequence, self.items) = (ledger, sequence, items)
  }

  enum CodingKeys: Int, CodingKey {
    case ledger = 1
    case sequence, items
  }
}

/// What became of something that was asked of the stock.
public enum StockAnswer: Hashable, Sendable {
  /// It is done and on disk; these are the changes, none where nothing had to change.
  case done([StockChange])
  /// There was too little of these; nothing was taken.
  case short([Shortage])
  /// Nothing was changed.
  case refused(StockRefusal)
  case picture(StockPicture)
}
