// Answers of a vending machine. An answer contains the number of its request, and a flag that is true if
// another answer to that request follows.

import BankModel

/// Messages from a vending machine to a client.
public typealias VendingServiceMessage = ServiceServerMessage<VendingResult>

/// An answer of a vending machine with the number of its request.
public typealias VendingReply = NumberedReply<VendingResult>

/// Answers of a vending machine.
public enum VendingResult: Sendable, Equatable {
  /// The request failed; see ``VendingFailure``.
  case failure(VendingFailure)
  /// The request is done and on disk, with this change.
  case done(MoneyChange)
  /// Snapshot of the machine.
  case snapshot(VendingSnapshot)
  /// Changes since the last message to the subscriber.
  case news(VendingChanges)
  /// Purchases, oldest first.
  case history([MoneyChange])
  /// Drinks were added, removed or discarded, with these changes of the stock.
  case stocked([StockChange])
  /// Result of an audit.
  case audit(VendingAuditReport)

  /// Field number of each kind of answer.
  private enum Kind: Int, CodingKey { case failure = 1, done, snapshot, news, history, stocked, audit }
}

extension VendingResult: Codable {
  public func encode(to encoder: any Encoder) throws {
    var result = encoder.container(keyedBy: Kind.self)
    switch self {
    case .failure(let failure): try result.encode(failure, forKey: .failure)
    case .done(let change): try result.encode(change, forKey: .done)
    case .snapshot(let picture): try result.encode(picture, forKey: .snapshot)
    case .news(let news): try result.encode(news, forKey: .news)
    case .history(let purchases): try result.encode(purchases, forKey: .history)
    case .stocked(let changes): try result.encode(changes, forKey: .stocked)
    case .audit(let report): try result.encode(report, forKey: .audit)
    }
  }

  public init(from decoder: any Decoder) throws {
    let result = try decoder.container(keyedBy: Kind.self)
    switch try result.singleKind() {
    case .failure: self = .failure(try result.decode(VendingFailure.self, forKey: .failure))
    case .done: self = .done(try result.decode(MoneyChange.self, forKey: .done))
    case .snapshot: self = .snapshot(try result.decode(VendingSnapshot.self, forKey: .snapshot))
    case .news: self = .news(try result.decode(VendingChanges.self, forKey: .news))
    case .history: self = .history(try result.decode([MoneyChange].self, forKey: .history))
    case .stocked: self = .stocked(try result.decode([StockChange].self, forKey: .stocked))
    case .audit: self = .audit(try result.decode(VendingAuditReport.self, forKey: .audit))
    }
  }
}

/// Reason why a vending machine refused a request. Nothing was changed, except where a ``Code`` says otherwise.
public struct VendingFailure: Codable, Sendable, Equatable, Error {
  /// Reason of the failure. Scripts can rely on its ``name``.
  public enum Code: String, Sendable, Codable, CaseIterable {
    /// The machine sells no product of this name; `subject` is the name.
    case unknownProduct = "unknown_product"
    /// The request contradicts itself, or violates a limit; `subject` is the product or value concerned.
    case badRequest = "bad_request"
    /// The order name belongs to a request with another content; `subject` is the name.
    case orderConflict = "other_order"
    /// The product costs more than the available money; `subject` is the product.
    case tooLittleMoney = "too_little_money"
    /// Not enough pieces of the product are left; `subject` is its name.
    case soldOut = "sold_out"
    /// All remaining pieces of the product have expired; `subject` is its name.
    case onlyExpired = "only_expired"
    /// The money in the machine would exceed its limit.
    case balanceLimit = "till_full"
    /// The product, or its lots, would exceed their limit; `subject` is its name.
    case shelfFull = "shelf_full"
    /// A manager's request arrived on the customers' socket, or a customer's request on the manager's socket.
    case wrongSide = "wrong_side"
    /// The stock service does not answer, or lacks the product. It may still execute a manager's change that was sent
    /// to it.
    case stockUnavailable = "stock_unavailable"
    /// The disk is full.
    case diskFull = "disk_full"
    /// The maximum number of purchases is in progress, or this client has the maximum number of subscriptions.
    case crowded
    /// The subscriber reads more slowly than changes occur. It receives no further changes.
    case slowConsumer = "too_slow"

    /// Name of the code outside of messages, such as in JSON errors. Messages contain the raw value, which must not
    /// change.
    public var name: String {
      switch self {
      case .unknownProduct: "no_such_product"
      case .orderConflict: "key_conflict"
      case .tooLittleMoney: "insufficient_balance"
      case .onlyExpired: "product_expired"
      case .balanceLimit: "balance_limit_exceeded"
      case .shelfFull: "stock_limit_exceeded"
      case .wrongSide: "wrong_socket"
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
  /// Price of the product, if the price is the reason of the failure.
  public var price: Won?
  /// Available won or pieces, if they are the reason of the failure.
  public var available: Int64?
  /// Details as a kind and its values, for translation; nil if there is only text.
  public var messageDetail: MessageDetail?

  public init(
    _ code: Code, subject: String = "", detail: String = "", price: Won? = nil, available: Int64? = nil
  ) {
    (self.code, self.subject, self.detail) = (code, subject, detail)
    (self.price, self.available) = (price, available)
  }

  /// A failure with details that can be translated; ``detail`` is their English text.
  public init(_ code: Code, subject: String = "", messageDetail: MessageDetail?, available: Int64? = nil) {
    self.init(code, subject: subject, detail: messageDetail?.description ?? "", available: available)
    self.messageDetail = messageDetail?.kind == .literal && messageDetail?.source == nil ? nil : messageDetail
  }

  /// Field number of each property of a refusal by a vending machine, in messages.
  enum CodingKeys: Int, CodingKey { case code = 1, subject, detail, price, available, messageDetail }
}

/// Result of an audit of a vending machine.
public struct VendingAuditReport: Codable, Sendable, Equatable {
  /// Number of rows of the ledger.
  public var changes: Int64
  /// The sums of the money over all rows.
  public var account: MoneyAccount
  /// Number of completed purchases, and of those that are in progress or abandoned and not yet released.
  public var purchases, unfinished: Int64
  /// Difference between the balance and the sum of the rows, in won.
  public var difference: Won
  /// Violations of the invariants, one English sentence each.
  public var problems: [String]
  /// The violations as kinds and their values, in the same order; nil for none, and from an older machine.
  public var messageDetails: [MessageDetail]?
  /// Identity of the machine, which is part of its order names at the stock.
  public var machine: Int64

  public init(
    changes: Int64, account: MoneyAccount, purchases: Int64, unfinished: Int64, difference: Won,
    problems: [String], machine: Int64
  ) {
    (self.machine, self.changes, self.account, self.purchases) = (machine, changes, account, purchases)
    (self.unfinished, self.difference, self.problems) = (unfinished, difference, problems)
  }

  /// A result with problems that can be translated.
  public init(
    changes: Int64, account: MoneyAccount, purchases: Int64, unfinished: Int64, difference: Won,
    messageDetails: [MessageDetail], machine: Int64
  ) {
    self.init(
      changes: changes, account: account, purchases: purchases, unfinished: unfinished,
      difference: difference, problems: messageDetails.map(\.description), machine: machine)
    self.messageDetails = messageDetails.isEmpty ? nil : messageDetails
  }

  /// Field number of each property of the result of an audit of a vending machine, in messages.
  enum CodingKeys: Int, CodingKey {
    case changes = 1, account, purchases, unfinished, difference, problems, machine, messageDetails
  }
}

extension VendingAuditReport {
  /// The problems in translatable form. Those from an older machine are quoted English sentences.
  public var findings: [MessageDetail] {
    guard let messageDetails, messageDetails.count == problems.count else {
      return problems.map { MessageDetail(quoting: $0) }
    }
    return messageDetails
  }
}
