// Samples of all messages to and from a vending machine. Every optional field is filled in once and left out
// once.

import BankModel
import Time

@testable import Wire

private let order = OrderID("x000000000000002a-00000001")
private let dates = LotDates(made: 20_778, expires: 20_785)
private let bought = MoneyChange(
  sequence: 3, kind: .bought, amount: 1_700, balance: 3_300, product: ItemID("top"), dates: dates,
  request: order, at: WallTime(milliseconds: 1_795_000_000_123))
private let inserted = MoneyChange(
  sequence: 1, kind: .inserted, amount: 5_000, balance: 5_000, request: OrderID("a"),
  at: WallTime(milliseconds: 0))
private let top = ProductTable.standard.products[5]
private let coke = ProductTable.standard.products[3]
private let reports = [
  ProductReport(
    top, stock: 3, expired: 2,
    lots: [
      LotReport(dates: dates, quantity: 3, description: "맥심, 275ml"),
      LotReport(dates: nil, quantity: 2, description: ""),
    ]),
  ProductReport(coke, stock: 0, expired: 0),
]

extension VendingMessage {
  static var vendingSamples: [Sample<VendingMessage>] {
    [
      Sample("vending-hello", .hello(Hello(version: 1, build: "a1b2c3", role: .client))),
      Sample(
        "vending-request", .request(VendingRequest(number: 7, order: order, command: .buy(ItemID("top"))))),
      Sample("vending-request-bare", .request(VendingRequest(number: 8, command: .querySnapshot))),
    ]
  }
}

extension VendingServiceMessage {
  static var vendingSamples: [Sample<VendingServiceMessage>] {
    [
      Sample("vending-service-welcome", .welcome(Welcome(version: 1, build: "a1b2c3"))),
      Sample(
        "vending-service-refused",
        .refused(Refusal(reason: .closing, version: 1, build: "dev", detail: "closing"))),
      Sample("vending-service-reply", .reply(VendingReply(number: 9, result: .done(bought), more: true))),
    ]
  }
}

extension VendingCommand {
  enum Case: String, CaseIterable {
    case querySnapshot = "look", follow, history, balance, insert, buy, giveChange, add, remove, stock,
      expired, discardExpired,
      audit
  }

  var itsCase: Case {
    switch self {
    case .querySnapshot: .querySnapshot
    case .follow: .follow
    case .history: .history
    case .balance: .balance
    case .insert: .insert
    case .buy: .buy
    case .giveChange: .giveChange
    case .add: .add
    case .remove: .remove
    case .stock: .stock
    case .expired: .expired
    case .discardExpired: .discardExpired
    case .audit: .audit
    }
  }

  static let samples: [Sample<VendingCommand>] = [
    Sample("vending-command-look", .querySnapshot), Sample("vending-command-follow", .follow),
    Sample("vending-command-history", .history(PurchasePage(after: 1_000_000, limit: 500))),
    Sample("vending-command-balance", .balance), Sample("vending-command-insert", .insert(1_000_000)),
    Sample("vending-command-buy", .buy(ItemID("hot6"))), Sample("vending-command-giveChange", .giveChange),
    Sample(
      "vending-command-add",
      .add(AddedDrinks(product: ItemID("top"), quantity: 12, made: 20_778, expires: 20_785))),
    Sample("vending-command-add-bare", .add(AddedDrinks(product: ItemID("top"), quantity: 1))),
    Sample("vending-command-remove", .remove(ItemAmount(ItemID("coke"), 2))),
    Sample("vending-command-stock", .stock), Sample("vending-command-expired", .expired),
    Sample("vending-command-discardExpired", .discardExpired), Sample("vending-command-audit", .audit),
  ]
}

extension VendingResult {
  enum Case: String, CaseIterable { case failure, done, snapshot, news, history, stocked, audit }

  var itsCase: Case {
    switch self {
    case .failure: .failure
    case .done: .done
    case .snapshot: .snapshot
    case .news: .news
    case .history: .history
    case .stocked: .stocked
    case .audit: .audit
    }
  }

  static let samples: [Sample<VendingResult>] = [
    Sample(
      "vending-result-failure",
      .failure(
        VendingFailure(.tooLittleMoney, subject: "top", detail: "too little", price: 1_700, available: 900))),
    Sample(
      "vending-result-failure-remark",
      .failure(
        VendingFailure(.badRequest, subject: "0", messageDetail: MessageDetail(.insertionRange, 1, 1_000_000))
      )),
    Sample(
      "vending-result-audit-remarks",
      .audit(
        VendingAuditReport(
          changes: 3, account: MoneyAccount(balance: 1, inserted: 6, spent: 2, returned: 3), purchases: 1,
          unfinished: 1, difference: 0, messageDetails: [MessageDetail(.purchaseMissing, 1, 2)], machine: 41))
    ),
    Sample("vending-result-failure-bare", .failure(VendingFailure(.soldOut, subject: "top"))),
    Sample("vending-result-done", .done(bought)), Sample("vending-result-done-bare", .done(inserted)),
    Sample(
      "vending-result-picture",
      .snapshot(
        VendingSnapshot(
          sequence: 3, balance: 3_300, availableBalance: 1_600, today: 20_780, products: reports,
          sales: [SalesReport(product: ItemID("top"), count: 1)], recent: [bought]))),
    Sample(
      "vending-result-picture-bare",
      .snapshot(
        VendingSnapshot(
          sequence: 0, balance: 0, availableBalance: 0, today: 0, products: [], sales: [], recent: []))),
    Sample(
      "vending-result-news",
      .news(
        VendingChanges(
          sequence: 3, balance: 3_300, availableBalance: 3_300, today: 20_780, products: reports,
          purchases: [bought]))),
    Sample("vending-result-history", .history([bought])),
    Sample(
      "vending-result-stocked",
      .stocked([
        StockChange(
          sequence: 9, item: ItemID("top"), kind: .added, dates: dates, difference: 12, lot: 12, present: 15,
          order: OrderID("m-a"), at: WallTime(milliseconds: 1))
      ])),
    Sample(
      "vending-result-audit",
      .audit(
        VendingAuditReport(
          changes: 3, account: MoneyAccount(balance: 1, inserted: 6, spent: 2, returned: 3), purchases: 1,
          unfinished: 1, difference: 0, problems: ["이상"], machine: 41))),
  ]
}
