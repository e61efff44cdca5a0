// Messages from a client to the stock service. Decoding checks the form.
// The stock service checks names, amounts and limits, and answers with a failure.

import BankModel

/// Messages from a client to the stock service.
public typealias StockMessage = ServiceClientMessage<StockRequest>

/// A request to the stock service with its number.
public typealias StockRequest = ServiceRequest<StockCommand>

/// Requests to the stock service.
public enum StockCommand: Sendable, Equatable {
  /// Returns the fruits, the juices and their recipes.
  case assortment
  /// Returns a snapshot of the stock.
  case querySnapshot
  /// Subscribes to the stock. The service sends a snapshot and later changes. For a position in its present ledger,
  /// it sends the changes after that position instead, unless there are too many.
  case follow(StockPosition?)
  /// Takes all amounts or nothing; needs an order name. Pieces that have expired on the day `today` are not
  /// taken; nil for the service's day.
  case take([ItemAmount], today: DayNumber?)
  /// Returns the pieces that the order of this name has taken.
  case returnItems
  /// Sets the number of pieces of an item without dates.
  case set(ItemAmount)
  /// Adds or removes pieces. With dates, the change is made to the lot with these dates.
  case change(ItemAmount, LotDates?)
  /// Discards all lots that expired before a day; nil for the service's day.
  case discardExpired(today: DayNumber?)
  /// Checks the invariants.
  case audit
  /// Returns at most `limit` answered orders, sorted by name, that follow `after`; nil starts with the first.
  case orders(after: OrderID?, limit: Int64)
  /// Returns the answered orders among these; at most ``StockLimits/ordersPerPage`` are checked.
  case known([OrderID])
  /// Adds those of these items that are unknown, with no pieces.
  case introduce([ItemID])

  /// Field number of each kind of request.
  private enum Kind: Int, CodingKey {
    case assortment = 1, querySnapshot, follow, take, returnItems, set, change, discardExpired, audit, orders,
      known,
      introduce
  }
}

/// The last change that a subscriber of the stock has received, from which it continues after a lost connection.
public struct StockPosition: Codable, Sendable, Equatable {
  /// Identity of the ledger, and the sequence number of the last change received.
  public var ledger, sequence: Int64
  public init(ledger: Int64, sequence: Int64) { (self.ledger, self.sequence) = (ledger, sequence) }
  /// Field number of each property of a subscriber's position in the stock's ledger, in messages.
  enum CodingKeys: Int, CodingKey { case ledger = 1, sequence }
}

extension StockCommand: Codable {
  public func encode(to encoder: any Encoder) throws {
    var command = encoder.container(keyedBy: Kind.self)
    switch self {
    case .assortment: try command.encode(EmptyMessage(), forKey: .assortment)
    case .querySnapshot: try command.encode(EmptyMessage(), forKey: .querySnapshot)
    case .follow(let place): try command.encode(OptionalValue(value: place), forKey: .follow)
    case .take(let amounts, let today):
      try command.encode(TakeParameters(amounts: amounts, today: today), forKey: .take)
    case .returnItems: try command.encode(EmptyMessage(), forKey: .returnItems)
    case .set(let amount): try command.encode(amount, forKey: .set)
    case .change(let amount, let dates):
      try command.encode(ChangedLot(amount: amount, dates: dates), forKey: .change)
    case .discardExpired(let today): try command.encode(OptionalValue(value: today), forKey: .discardExpired)
    case .audit: try command.encode(EmptyMessage(), forKey: .audit)
    case .orders(let after, let limit):
      try command.encode(OrderPage(after: after, limit: limit), forKey: .orders)
    case .known(let names): try command.encode(names, forKey: .known)
    case .introduce(let items): try command.encode(items, forKey: .introduce)
    }
  }

  public init(from decoder: any Decoder) throws {
    let command = try decoder.container(keyedBy: Kind.self)
    switch try command.singleKind() {
    case .assortment: self = try command.emptyMessage(.assortment, .assortment)
    case .querySnapshot: self = try command.emptyMessage(.querySnapshot, .querySnapshot)
    case .returnItems: self = try command.emptyMessage(.returnItems, .returnItems)
    case .audit: self = try command.emptyMessage(.audit, .audit)
    case .follow: self = .follow(try command.decode(OptionalValue<StockPosition>.self, forKey: .follow).value)
    case .take:
      let taken = try command.decode(TakeParameters.self, forKey: .take)
      self = .take(taken.amounts, today: taken.today)
    case .set: self = .set(try command.decode(ItemAmount.self, forKey: .set))
    case .change:
      let changed = try command.decode(ChangedLot.self, forKey: .change)
      self = .change(changed.amount, changed.dates)
    case .introduce: self = .introduce(try command.decode([ItemID].self, forKey: .introduce))
    case .discardExpired:
      self = .discardExpired(
        today: try command.decode(OptionalValue<DayNumber>.self, forKey: .discardExpired).value)
    case .orders:
      let page = try command.decode(OrderPage.self, forKey: .orders)
      self = .orders(after: page.after, limit: page.limit)
    case .known: self = .known(try command.decode([OrderID].self, forKey: .known))
    }
  }
}

/// Content of the request `take`: the amounts of items, and the day by which expired pieces are excluded.
private struct TakeParameters: Codable {
  var amounts: [ItemAmount], today: DayNumber?
  /// Field number of each property of the content of the request `take`.
  enum CodingKeys: Int, CodingKey { case amounts = 1, today }
}

/// Content of the request `change`: the item with the number of pieces to add or remove, and the dates of the lot.
private struct ChangedLot: Codable {
  var amount: ItemAmount, dates: LotDates?
  /// Field number of each property of the content of the request `change`.
  enum CodingKeys: Int, CodingKey { case amount = 1, dates }
}

/// Content of the request `orders`: after which order the listed orders start, and how many are listed at most.
private struct OrderPage: Codable {
  var after: OrderID?, limit: Int64
  /// Field number of each property of the content of the request `orders`.
  enum CodingKeys: Int, CodingKey { case after = 1, limit }
}
