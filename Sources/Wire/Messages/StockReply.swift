// Answers of the stock service. An answer contains the number of its request, and a flag that is true if
// another answer to that request follows.

import BankModel

/// Messages from the stock service to a client.
public typealias StockServiceMessage = ServiceServerMessage<StockResult>

/// An answer of the stock service with the number of its request.
public typealias StockReply = NumberedReply<StockResult>

/// Answers of the stock service.
public enum StockResult: Sendable, Equatable {
  /// The request failed, and nothing was changed.
  case failure(StockFailure)
  /// The request is done and on disk, with these changes.
  case done([StockChange])
  /// There are too few pieces of these items; nothing was taken or removed.
  case short([Shortage])
  /// Snapshot of the stock.
  case snapshot(StockSnapshot)
  /// The changes that follow those sent to the subscriber before, in order and without a gap.
  case changes([StockChange])
  /// The fruits, the juices and their recipes.
  case assortment(Assortment)
  /// Result of an audit.
  case audit(StockAuditReport)
  /// Answered orders. Those of the answer to `orders` are sorted by name, and there are none after the last order.
  case orders([OrderRecord])

  /// Field number of each kind of answer.
  private enum Kind: Int, CodingKey {
    case failure = 1, done, short, snapshot, changes, assortment, audit, orders
  }
}

extension StockResult: Codable {
  public func encode(to encoder: any Encoder) throws {
    var result = encoder.container(keyedBy: Kind.self)
    switch self {
    case .failure(let failure): try result.encode(failure, forKey: .failure)
    case .done(let changes): try result.encode(changes, forKey: .done)
    case .short(let shortages): try result.encode(shortages, forKey: .short)
    case .snapshot(let picture): try result.encode(picture, forKey: .snapshot)
    case .changes(let changes): try result.encode(changes, forKey: .changes)
    case .assortment(let assortment): try result.encode(assortment, forKey: .assortment)
    case .audit(let report): try result.encode(report, forKey: .audit)
    case .orders(let orders): try result.encode(orders, forKey: .orders)
    }
  }

  public init(from decoder: any Decoder) throws {
    let result = try decoder.container(keyedBy: Kind.self)
    switch try result.singleKind() {
    case .failure: self = .failure(try result.decode(StockFailure.self, forKey: .failure))
    case .done: self = .done(try result.decode([StockChange].self, forKey: .done))
    case .short: self = .short(try result.decode([Shortage].self, forKey: .short))
    case .snapshot: self = .snapshot(try result.decode(StockSnapshot.self, forKey: .snapshot))
    case .changes: self = .changes(try result.decode([StockChange].self, forKey: .changes))
    case .assortment: self = .assortment(try result.decode(Assortment.self, forKey: .assortment))
    case .audit: self = .audit(try result.decode(StockAuditReport.self, forKey: .audit))
    case .orders: self = .orders(try result.decode([OrderRecord].self, forKey: .orders))
    }
  }
}

/// Reason why the stock refused a request. Nothing was changed.
public struct StockFailure: Codable, Sendable, Equatable, Error {
  /// Reason of the failure. Scripts can rely on its ``name``.
  public enum Code: String, Sendable, Codable, CaseIterable {
    /// The stock has no item of this name; `subject` is the name.
    case unknownItem = "unknown_item"
    /// The request contradicts itself, or violates a limit; `subject` is the item or the order.
    case badRequest = "bad_request"
    /// The order name belongs to an order with another content; `subject` is the name.
    case orderConflict = "other_order"
    /// The order was returned; `subject` is its name.
    case wasReturned = "given_back"
    /// The item would exceed its limit of pieces; `subject` is the item.
    case overflow
    /// The amount of an item with dated lots cannot be set; `subject` is the item.
    case itemHasDates = "dated_item"
    /// The stock would exceed its limit of lots; `subject` is the item.
    case tooManyLots = "too_many_lots"
    /// The disk is full.
    case diskFull = "disk_full"
    /// This client has the maximum number of subscriptions.
    case crowded
    /// The subscriber reads more slowly than changes occur. It receives no further changes.
    case slowConsumer = "too_slow"

    /// Name of the code outside of messages, such as in JSON errors. Messages contain the raw value, which must not
    /// change.
    public var name: String {
      switch self {
      case .unknownItem: "no_such_item"
      case .orderConflict: "key_conflict"
      case .wasReturned: "order_released"
      case .overflow: "quantity_limit_exceeded"
      case .itemHasDates: "item_has_expiry"
      case .tooManyLots: "lot_limit_exceeded"
      case .crowded: "too_many_requests"
      case .slowConsumer: "slow_consumer"
      default: rawValue
      }
    }
  }

  /// Reason of the failure.
  public var code: Code
  /// Subject of the failure, and details in English.
  public var subject, detail: String
  /// Details as a kind and its values, for translation; nil if there is only text.
  public var messageDetail: MessageDetail?

  public init(_ code: Code, subject: String = "", detail: String = "") {
    (self.code, self.subject, self.detail) = (code, subject, detail)
  }

  /// A failure with details that can be translated; ``detail`` is their English text.
  public init(_ code: Code, subject: String = "", messageDetail: MessageDetail) {
    self.init(code, subject: subject, detail: messageDetail.description)
    self.messageDetail = messageDetail.kind == .literal && messageDetail.source == nil ? nil : messageDetail
  }

  /// Field number of each property of a refusal by the stock, in messages.
  enum CodingKeys: Int, CodingKey { case code = 1, subject, detail, messageDetail }
}

/// Result of an audit of the stock.
public struct StockAuditReport: Codable, Sendable, Equatable {
  /// Number of known items, answered orders, and rows of the ledger.
  public var items, orders, changes: Int64
  /// Difference between the stock and its ledger, in pieces.
  public var difference: Int64
  /// Violations of the invariants, one English sentence each.
  public var problems: [String]
  /// The violations as kinds and their values, in the same order; nil for none, and from an older service.
  public var messageDetails: [MessageDetail]?

  public init(items: Int64, orders: Int64, changes: Int64, difference: Int64, problems: [String]) {
    (self.items, self.orders, self.changes) = (items, orders, changes)
    (self.difference, self.problems) = (difference, problems)
  }

  /// A result with problems that can be translated.
  public init(items: Int64, orders: Int64, changes: Int64, difference: Int64, messageDetails: [MessageDetail])
  {
    self.init(
      items: items, orders: orders, changes: changes, difference: difference,
      problems: messageDetails.map(\.description))
    self.messageDetails = messageDetails.isEmpty ? nil : messageDetails
  }

  /// Field number of each property of the result of an audit of the stock, in messages.
  enum CodingKeys: Int, CodingKey { case items = 1, orders, changes, difference, problems, messageDetails }
}

extension StockAuditReport {
  /// The problems in translatable form. Those from an older service are quoted English sentences.
  public var findings: [MessageDetail] {
    guard let messageDetails, messageDetails.count == problems.count else {
      return problems.map { MessageDetail(quoting: $0) }
    }
    return messageDetails
  }
}
