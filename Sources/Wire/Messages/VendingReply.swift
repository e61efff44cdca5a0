// Owns what a vending machine answers. Every answer repeats the number of its request, and says whether another one
// follows.

import BankModel

/// What a vending machine sends to a client.
public typealias VendingServiceMessage = ServiceAnswer<VendingResult>

/// A numbered answer of a vending machine.
public typealias VendingReply = NumberedReply<VendingResult>

/// Everything a vending machine can answer.
public enum VendingResult: Sendable, Equatable {
  /// It was not done, and nothing was changed.
  case failure(VendingFailure)
  /// It is done and on disk.
  case done(MoneyChange)
  /// The machine as it is.
  case picture(VendingPicture)
  /// What has changed since what the viewer was told before.
  case news(VendingNews)
  /// Purchases, oldest first.
  case history([MoneyChange])
  /// Drinks were put in or taken out; these are the changes of the stock.
  case stocked([StockChange])
  /// What an audit found.
  case audit(VendingAuditReport)

  private enum Kind: Int, CodingKey { case failure = 1, done, picture, news, history, stocked, audit }
}

extension VendingResult: Codable {
  public func encode(to encoder: any Encoder) throws {
    var result = encoder.container(keyedBy: Kind.self)
    switch self {
    case .failure(let failure): try result.encode(failure, forKey: .failure)
    case .done(let change): try result.encode(change, forKey: .done)
    case .picture(let picture): try result.encode(picture, forKey: .picture)
    case .news(let news): try result.encode(news, forKey: .news)
    case .history(let purchases): try result.encode(purchases, forKey: .history)
    case .stocked(let changes): try result.encode(changes, forKey: .stocked)
    case .audit(let report): try result.encode(report, forKey: .audit)
    }
  }

  public init(from decoder: any Decoder) throws {
    let result = try decoder.container(keyedBy: Kind.self)
    switch try result.onlyKind() {
    case .failure: self = .failure(try result.decode(VendingFailure.self, forKey: .failure))
    case .done: self = .done(try result.decode(MoneyChange.self, forKey: .done))
    case .picture: self = .picture(try result.decode(VendingPicture.self, forKey: .picture))
    case .news: self = .news(try result.decode(VendingNews.self, forKey: .news))
    case .history: self = .history(try result.decode([MoneyChange].self, forKey: .history))
    case .stocked: self = .stocked(try result.decode([StockChange].self, forKey: .stocked))
    case .audit: self = .audit(try result.decode(VendingAuditReport.self, forKey: .audit))
    }
  }
}

/// Why something asked of a vending machine was not done. Nothing was changed.
public struct VendingFailure: Codable, Sendable, Equatable, Error {
  /// A reason that a script can rely on, by its ``name``.
  public enum Code: String, Sendable, Codable, CaseIterable {
    /// The machine sells no such product; `subject` is its name.
    case unknownProduct = "unknown_product"
    /// The request contradicts itself or a limit; `subject` is what it is about.
    case badRequest = "bad_request"
    /// The name belongs to a request of something else; `subject` is the name.
    case otherOrder = "other_order"
    /// The product costs more than there is; `subject` is the product.
    case tooLittleMoney = "too_little_money"
    /// There is none of the product, or not so many; `subject` is its name.
    case soldOut = "sold_out"
    /// All there is of the product has expired; `subject` is its name.
    case onlyExpired = "only_expired"
    /// There would be more money in the machine than there may be.
    case tillFull = "till_full"
    /// There would be more of a product, or of its lots, than there may be; `subject` is its name.
    case shelfFull = "shelf_full"
    /// The socket is for others: customers, or the manager.
    case wrongSide = "wrong_side"
    /// The stock service does not answer.
    case stockUnavailable = "stock_unavailable"
    /// The disk is full.
    case diskFull = "disk_full"
    /// As much is being worked on as may be at a time.
    case crowded
    /// More has changed than could be told to somebody who follows and reads slowly; no more is told.
    case tooSlow = "too_slow"

    /// The code outside of messages, such as in the JSON error: one condition has one name, whichever part of the bank
    /// refuses. The raw value is the word of the messages, which never changes.
    public var name: String {
      switch self {
      case .unknownProduct: "no_such_product"
      case .otherOrder: "key_conflict"
      default: rawValue
      }
    }
  }

  /// The reason.
  public var code: Code
  /// What it is about, and the particulars in English.
  public var subject, detail: String
  /// What the product costs, where that is the reason.
  public var price: Won?
  /// What is there, where that is the reason: won, or pieces.
  public var available: Int64?
  /// The particulars as a kind and its values, so that the client can say them in another language; nil where nobody knows
  /// more than the words.
  public var remark: Remark?

  public init(
    _ code: Code, subject: String = "", detail: String = "", price: Won? = nil, available: Int64? = nil
  ) {
    (self.code, self.subject, self.detail) = (code, subject, detail)
    (self.price, self.available) = (price, available)
  }

  /// The same with particulars that can be said in any language.
  public init(_ code: Code, subject: String = "", remark: Remark?, available: Int64? = nil) {
    self.init(code, subject: subject, detail: remark?.description ?? "", available: available)
    self.remark = remark?.kind == .quoted && remark?.source == nil ? nil : remark
  }

  enum CodingKeys: Int, CodingKey { case code = 1, subject, detail, price, available, remark }
}

/// What an audit of a vending machine found.
public struct VendingAuditReport: Codable, Sendable, Equatable {
  /// Rows of the ledger.
  public var changes: Int64
  /// The money as the rows tell it.
  public var account: MoneyAccount
  /// Purchases that were made, and those whose end is not known yet.
  public var purchases, unfinished: Int64
  /// Won by which the balance differs from what the rows say.
  public var difference: Won
  /// Everything that is not as promised, a sentence each, in English.
  public var problems: [String]
  /// The same as kinds and their values, in the same order; nil for none, and from an older machine.
  public var remarks: [Remark]?
  /// Which machine this is; the names of its orders at the stock are made of it.
  public var machine: Int64

  public init(
    changes: Int64, account: MoneyAccount, purchases: Int64, unfinished: Int64, difference: Won,
    problems: [String], machine: Int64
  ) {
    (self.machine, self.changes, self.account, self.purchases) = (machine, changes, account, purchases)
    (self.unfinished, self.difference, self.problems) = (unfinished, difference, problems)
  }

  /// What an audit has found, with problems that can be said in any language.
  public init(
    changes: Int64, account: MoneyAccount, purchases: Int64, unfinished: Int64, difference: Won,
    remarks: [Remark], machine: Int64
  ) {
    self.init(
      changes: changes, account: account, purchases: purchases, unfinished: unfinished,
      difference: difference, problems: remarks.map(\.description), machine: machine)
    self.remarks = remarks.isEmpty ? nil : remarks
  }

  enum CodingKeys: Int, CodingKey {
    case changes = 1, account, purchases, unfinished, difference, problems, machine, remarks
  }
}

extension VendingAuditReport {
  /// The problems as remarks, also those of an older service, which says them in English only.
  public var told: [Remark] {
    guard let remarks, remarks.count == problems.count else { return problems.map { Remark(quoting: $0) } }
    return remarks
  }
}
