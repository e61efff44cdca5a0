// Owns what the stock service answers. Every answer repeats the number of its request, and says whether another one
// follows.

import BankModel

/// What the stock service sends to a client.
public typealias StockServiceMessage = ServiceAnswer<StockResult>

/// A numbered answer of the stock service.
public typealias StockReply = NumberedReply<StockResult>

/// Everything the stock service can answer.
public enum StockResult: Sendable, Equatable {
  /// It was not done, and nothing was changed.
  case failure(StockFailure)
  /// It is done and on disk; these are the changes.
  case done([StockChange])
  /// There was too little of these; nothing was taken.
  case short([Shortage])
  /// The whole stock.
  case picture(StockPicture)
  /// Changes that followed what the viewer has seen, in order and without a gap.
  case changes([StockChange])
  /// What the branch keeps and makes.
  case assortment(Assortment)
  /// What an audit found.
  case audit(StockAuditReport)
  /// Orders that were answered, by their names; none behind the last.
  case orders([KeptOrder])

  private enum Kind: Int, CodingKey {
    case failure = 1, done, short, picture, changes, assortment, audit, orders
  }
}

extension StockResult: Codable {
  public func encode(to encoder: any Encoder) throws {
    var result = encoder.container(keyedBy: Kind.self)
    switch self {
    case .failure(let failure): try result.encode(failure, forKey: .failure)
    case .done(let changes): try result.encode(changes, forKey: .done)
    case .short(let shortages): try result.encode(shortages, forKey: .short)
    case .picture(let picture): try result.encode(picture, forKey: .picture)
    case .changes(let changes): try result.encode(changes, forKey: .changes)
    case .assortment(let assortment): try result.encode(assortment, forKey: .assortment)
    case .audit(let report): try result.encode(report, forKey: .audit)
    case .orders(let orders): try result.encode(orders, forKey: .orders)
    }
  }

  public init(from decoder: any Decoder) throws {
    let result = try decoder.container(keyedBy: Kind.self)
    switch try result.onlyKind() {
    case .failure: self = .failure(try result.decode(StockFailure.self, forKey: .failure))
    case .done: self = .done(try result.decode([StockChange].self, forKey: .done))
    case .short: self = .short(try result.decode([Shortage].self, forKey: .short))
    case .picture: self = .picture(try result.decode(StockPicture.self, forKey: .picture))
    case .changes: self = .changes(try result.decode([StockChange].self, forKey: .changes))
    case .assortment: self = .assortment(try result.decode(Assortment.self, forKey: .assortment))
    case .audit: self = .audit(try result.decode(StockAuditReport.self, forKey: .audit))
    case .orders: self = .orders(try result.decode([KeptOrder].self, forKey: .orders))
    }
  }
}

/// Why something asked of the stock was not done. Nothing was changed.
public struct StockFailure: Codable, Sendable, Equatable, Error {
  /// A reason that a script can rely on, by its ``name``.
  public enum Code: String, Sendable, Codable, CaseIterable {
    /// The stock has no such item; `subject` is its name.
    case unknownItem = "unknown_item"
    /// The request contradicts itself or a limit; `subject` is the item or the order.
    case badRequest = "bad_request"
    /// The name belongs to an order that asked for something else; `subject` is the name.
    case otherOrder = "other_order"
    /// The order was given back; `subject` is its name.
    case givenBack = "given_back"
    /// There would be more of an item than there may be; `subject` is the item.
    case overflow
    /// The amount of an item with dated lots cannot be set; `subject` is the item.
    case datedItem = "dated_item"
    /// There would be more lots than there may be; `subject` is the item.
    case tooManyLots = "too_many_lots"
    /// The disk is full.
    case diskFull = "disk_full"
    /// As much of this client's is being worked on as may be at a time.
    case crowded
    /// More has changed than could be told to somebody who follows and reads slowly; no more is told.
    case tooSlow = "too_slow"

    /// The code outside of messages, such as in the JSON error: one condition has one name, whichever part of the bank
    /// refuses. The raw value is the word of the messages, which never changes.
    public var name: String {
      switch self {
      case .unknownItem: "no_such_item"
      case .otherOrder: "key_conflict"
      default: rawValue
      }
    }
  }

  /// The reason.
  public var code: Code
  /// What it is about, and the particulars in English.
  public var subject, detail: String
  /// The same as a kind and its values, so that the client can say it in another language; nil where nobody knows more
  /// than the words.
  public var remark: Remark?

  public init(_ code: Code, subject: String = "", detail: String = "") {
    (self.code, self.subject, self.detail) = (code, subject, detail)
  }

  /// The same with particulars that can be said in any language.
  public init(_ code: Code, subject: String = "", remark: Remark) {
    self.init(code, subject: subject, detail: remark.description)
    self.remark = remark.kind == .quoted && remark.source == nil ? nil : remark
  }

  enum CodingKeys: Int, CodingKey { case code = 1, subject, detail, remark }
}

/// What an audit of the stock found.
public struct StockAuditReport: Codable, Sendable, Equatable {
  /// Items that are known, orders that were answered, and rows of the ledger.
  public var items, orders, changes: Int64
  /// Pieces by which the shelves differ from the ledger.
  public var difference: Int64
  /// Everything that is not as promised, a sentence each, in English.
  public var problems: [String]
  /// The same as kinds and their values, in the same order; nil for none, and from an older service.
  public var remarks: [Remark]?

  public init(items: Int64, orders: Int64, changes: Int64, difference: Int64, problems: [String]) {
    (self.items, self.orders, self.changes) = (items, orders, changes)
    (self.difference, self.problems) = (difference, problems)
  }

  /// What an audit has found, with problems that can be said in any language.
  public init(items: Int64, orders: Int64, changes: Int64, difference: Int64, remarks: [Remark]) {
    self.init(
      items: items, orders: orders, changes: changes, difference: difference,
      problems: remarks.map(\.description))
    self.remarks = remarks.isEmpty ? nil : remarks
  }

  enum CodingKeys: Int, CodingKey { case items = 1, orders, changes, difference, problems, remarks }
}

extension StockAuditReport {
  /// The problems as remarks, also those of an older service, which says them in English only.
  public var told: [Remark] {
    guard let remarks, remarks.count == problems.count else { return problems.map { Remark(quoting: $0) } }
    return remarks
  }
}
