// Requests to the stock, its answers, and the changes in its ledger.
// Invariant: the raw values are part of the database and of messages, and never get a new meaning.

import Time

/// Name of a request to the stock. After an answer other than a refusal, and until the order is returned, the stock
/// answers a repeated request with the same name in the same way, and changes nothing.
public struct OrderID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The name as text.
  public let rawValue: String
  /// Same as `rawValue`.
  public var text: String { rawValue }

  public init(rawValue: String) { self.rawValue = rawValue }

  /// Makes a name from any text; see ``isValid``.
  public init(_ text: String) { rawValue = text }

  /// Order name of one ticket without the identity of the database: `3-17` for ticket 17 of day 3; see ``BankID``.
  public init(day: BusinessDay, ticket: TicketNumber) { rawValue = "\(day)-\(ticket)" }

  /// True if an order can have this name: 1 to ``StockLimits/orderLength`` bytes of visible ASCII.
  public var isValid: Bool {
    (1...StockLimits.orderLength).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// Same as `text`.
  public var description: String { text }
}

/// Generator of names for clients without names of their own: a random prefix, followed by a counter.
///
/// The names sort in the order of creation, so that an index of the names grows at one place for each client.
public struct OrderIDGenerator: Sendable {
  private let prefix: String
  private var created: UInt64 = 0

  /// Creates a generator whose names differ from those of other seeds.
  public init(seed: UInt64) { prefix = "x" + String(seed, radix: 16, digits: 16) + "-" }

  /// Returns a new order name.
  public mutating func next() -> OrderID {
    created &+= 1
    return OrderID(prefix + String(created, radix: 16, digits: 8))
  }
}

extension String {
  /// A number, padded with zeros to at least `digits` digits.
  package init(_ number: some BinaryInteger, radix: Int = 10, digits: Int) {
    let text = String(number, radix: radix)
    self = String(repeating: "0", count: Swift.max(0, digits - text.utf8.count)) + text
  }
}

/// A request that may change the stock.
public enum StockAction: Hashable, Sendable {
  /// Takes all amounts or nothing. Lots that expire first are taken first; expired pieces are not taken. Needs an
  /// order name.
  case take([ItemAmount], today: DayNumber)
  /// Returns to the stock the pieces that the order with this name has taken. An order that has not arrived yet takes
  /// nothing when it arrives. Needs an order name.
  case returnItems
  /// Sets the number of pieces of an item without dates.
  case set(ItemID, Quantity)
  /// Adds pieces, or removes them if the number is negative. If `dates` is not nil, the lot with these dates is
  /// changed. If it is nil, pieces are added to the lot without dates, or removed from the lots in the order in which
  /// they are sold.
  case change(ItemID, by: Quantity, dates: LotDates?)
  /// Discards all lots whose last day of sale is before `today`.
  case discardExpired(today: DayNumber)

  /// The request as one line of text. Two requests with the same order name are the same request if their lines are
  /// equal. The line of `take` does not contain the day.
  public var content: String {
    switch self {
    case .take(let amounts, _): "take" + amounts.map { " \($0.item)*\($0.quantity)" }.sorted().joined()
    case .returnItems: ""
    case .set(let item, let quantity): "set \(item)*\(quantity)"
    case .change(let item, let difference, let dates):
      "change \(item)*\(difference)" + (dates.map { " \($0.made)..\($0.expires)" } ?? "")
    case .discardExpired(let today): "discard \(today)"
    }
  }

  /// Parses the amounts in the ``content`` of a `take`, in the order of the line; nil for any other content.
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

/// One row of the stock's ledger: a change of a lot.
public struct StockChange: Hashable, Sendable, Codable {
  /// Reason for the change.
  public enum Kind: UInt8, NameCodable {
    /// Initial quantity of a new item.
    case initial = 1
    /// Pieces were added by a request to change the amount.
    case added = 2
    /// Pieces were removed by a request to change the amount.
    case removed = 3
    /// Pieces were taken by an order.
    case taken = 4
    /// Pieces taken by an order were returned.
    case returned = 5
    /// The number of pieces was set.
    case set = 6
    /// An expired lot was discarded.
    case discarded = 7

    /// Names in JSON, in the order of the raw values.
    public static let names = ["initial", "added", "removed", "taken", "returned", "set", "discarded"]
  }

  /// Position in the order of all changes, from 1, without a gap.
  public var sequence: Int64
  /// Item whose quantity changed.
  public var item: ItemID
  /// Reason for the change.
  public var kind: Kind
  /// Dates of the lot; nil for the lot without dates.
  public var dates: LotDates?
  /// Number of pieces added, or removed if negative.
  public var difference: Quantity
  /// Pieces in the lot after the change.
  public var lot: Quantity
  /// Pieces of the item after the change.
  public var present: Quantity
  /// Order that caused the change; nil if it had no name.
  public var order: OrderID?
  /// Time of the change.
  public var at: WallTime

  public init(
    sequence: Int64, item: ItemID, kind: Kind, dates: LotDates?, difference: Quantity, lot: Quantity,
    present: Quantity, order: OrderID?, at: WallTime
  ) {
    (self.sequence, self.item, self.kind) = (sequence, item, kind)
    (self.dates, self.difference, self.lot) = (dates, difference, lot)
    (self.present, self.order, self.at) = (present, order, at)
  }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case sequence = 1
    case item, kind, dates, difference, lot, present, order, at
  }
}

/// An order as the stock stores it, to answer a repeated request in the same way.
public struct OrderRecord: Hashable, Sendable, Codable {
  /// State of an order.
  public enum State: UInt8, Sendable, Codable, CaseIterable {
    /// The order has taken its pieces.
    case done = 1
    /// The stock had too few pieces, so the order has taken nothing.
    case short = 2
    /// The order was returned before it arrived, so it takes nothing.
    case void = 3
    /// The order has taken its pieces, and they were returned.
    case wasReturned = 4
  }

  /// Name of the order.
  public var id: OrderID
  /// The request; see ``StockAction/content``.
  public var content: String
  /// State of the order.
  public var state: State

  public init(id: OrderID, content: String, state: State) {
    (self.id, self.content, self.state) = (id, content, state)
  }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case id = 1
    case content, state
  }
}

/// An item of which the stock has too few pieces for a request.
public struct Shortage: Hashable, Sendable, Codable {
  /// Name of the missing item.
  public var item: ItemID
  /// Pieces that were requested.
  public var needed: Quantity
  /// Pieces that could have been taken.
  public var available: Quantity

  public init(item: ItemID, needed: Quantity, available: Quantity) {
    (self.item, self.needed, self.available) = (item, needed, available)
  }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case item = 1
    case needed, available
  }
}

/// Reason why the stock refused a request. Nothing was changed, and nothing was stored.
public enum StockRefusal: Hashable, Sendable {
  case unknownItem(ItemID)
  /// An amount outside the limits of the request.
  case badQuantity(ItemID, Quantity)
  case itemTwice(ItemID)
  /// The order has no items or too many, or the stock would have too many items.
  case badItemCount(Int)
  /// The order has no name, or an invalid one.
  case badOrder(String)
  /// Invalid days, or days in the wrong order.
  case badDates(ItemID)
  /// The name belongs to an order with another content.
  case orderConflict(OrderID)
  /// The order was returned, so it holds no pieces and can take none.
  case wasReturned(OrderID)
  /// The item would exceed ``StockLimits/quantity`` pieces.
  case overflow(ItemID, present: Quantity)
  /// The item has lots with dates, so its amount cannot be set.
  case itemHasDates(ItemID)
  /// The stock would exceed ``StockLimits/lots`` lots.
  case tooManyLots(ItemID)
  case diskFull
}

/// Snapshot of the whole stock at one position in its ledger.
public struct StockSnapshot: Hashable, Sendable, Codable {
  /// Identity of the ledger in which `sequence` counts.
  public var ledger: Int64
  /// Number of the last change that the snapshot contains; 0 before the first.
  public var sequence: Int64
  /// All items, in the order in which they were added.
  public var items: [ItemStock]

  public init(ledger: Int64, sequence: Int64, items: [ItemStock]) {
    (self.ledger, self.sequence, self.items) = (ledger, sequence, items)
  }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case ledger = 1
    case sequence, items
  }
}

/// Result of a request to the stock.
public enum StockAnswer: Hashable, Sendable {
  /// The request is done and on disk, with these changes; empty if nothing had to change.
  case done([StockChange])
  /// The stock has too few pieces of these items; nothing was taken.
  case short([Shortage])
  case refused(StockRefusal)
  case snapshot(StockSnapshot)
}
