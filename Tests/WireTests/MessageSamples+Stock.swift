// Samples of all messages to and from the stock service, and between a supervised service and the
// coordinator. Every optional field is filled in once and left out once.

import BankModel
import Time

@testable import Wire

private let order = OrderID("3-17")
private let dates = LotDates(made: 20_778, expires: 20_785)
private let change = StockChange(
  sequence: 1_000_001, item: ItemID("top"), kind: .taken, dates: dates, difference: -2, lot: 1, present: 5,
  order: order, at: WallTime(milliseconds: 1_795_000_000_123))
private let bareChange = StockChange(
  sequence: 1, item: ItemID("mango"), kind: .initial, dates: nil, difference: 10, lot: 10, present: 10,
  order: nil, at: WallTime(milliseconds: 0))
private let refusal = Refusal(reason: .crowded, version: 1, build: "dev", detail: "full")

extension StockMessage {
  enum Case: String, CaseIterable { case hello, request }

  var itsCase: Case {
    switch self {
    case .hello: .hello
    case .request: .request
    }
  }

  static var samples: [Sample<StockMessage>] {
    [
      Sample("stock-hello", .hello(Hello(version: 1, build: "a1b2c3", role: .client))),
      Sample(
        "stock-request",
        .request(
          StockRequest(
            number: 7, order: order, command: .take([ItemAmount(ItemID("strawberry"), 16)], today: 20_780)))),
      Sample("stock-request-bare", .request(StockRequest(number: 8, command: .querySnapshot))),
    ]
  }
}

extension StockServiceMessage {
  enum Case: String, CaseIterable { case welcome, refused, reply }

  var itsCase: Case {
    switch self {
    case .welcome: .welcome
    case .refused: .refused
    case .reply: .reply
    }
  }

  static var samples: [Sample<StockServiceMessage>] {
    [
      Sample("stock-service-welcome", .welcome(Welcome(version: 1, build: "a1b2c3"))),
      Sample("stock-service-refused", .refused(refusal)),
      Sample("stock-service-reply", .reply(StockReply(number: 9, result: .done([bareChange]), more: true))),
    ]
  }
}

extension StockCommand {
  enum Case: String, CaseIterable {
    case assortment, querySnapshot = "look", follow, take, returnItems = "giveBack", set, change,
      discardExpired, audit, orders, known,
      introduce
  }

  var itsCase: Case {
    switch self {
    case .assortment: .assortment
    case .querySnapshot: .querySnapshot
    case .follow: .follow
    case .take: .take
    case .returnItems: .returnItems
    case .set: .set
    case .change: .change
    case .discardExpired: .discardExpired
    case .audit: .audit
    case .orders: .orders
    case .known: .known
    case .introduce: .introduce
    }
  }

  static let samples: [Sample<StockCommand>] = [
    Sample("stock-command-assortment", .assortment),
    Sample("stock-command-look", .querySnapshot),
    Sample("stock-command-follow", .follow(StockPosition(ledger: -7, sequence: 1_000_000))),
    Sample("stock-command-follow-bare", .follow(nil)),
    Sample(
      "stock-command-take",
      .take([ItemAmount(ItemID("mango"), 2), ItemAmount(ItemID("kiwi"), 1)], today: 20_780)),
    Sample("stock-command-take-bare", .take([], today: nil)),
    Sample("stock-command-giveBack", .returnItems),
    Sample("stock-command-set", .set(ItemAmount(ItemID("kiwi"), 1_000_000))),
    Sample("stock-command-change", .change(ItemAmount(ItemID("top"), -3), dates)),
    Sample("stock-command-change-bare", .change(ItemAmount(ItemID("딸기"), 3), nil)),
    Sample("stock-command-discardExpired", .discardExpired(today: 20_780)),
    Sample("stock-command-discardExpired-bare", .discardExpired(today: nil)),
    Sample("stock-command-audit", .audit),
    Sample("stock-command-orders", .orders(after: order, limit: 500)),
    Sample("stock-command-orders-bare", .orders(after: nil, limit: 1)),
    Sample("stock-command-known", .known([order, OrderID("x-1")])),
    Sample("stock-command-known-bare", .known([])),
    Sample("stock-command-introduce", .introduce([ItemID("top"), ItemID("hot6")])),
  ]
}

extension StockResult {
  enum Case: String, CaseIterable { case failure, done, short, snapshot, changes, assortment, audit, orders }

  var itsCase: Case {
    switch self {
    case .failure: .failure
    case .done: .done
    case .short: .short
    case .snapshot: .snapshot
    case .changes: .changes
    case .assortment: .assortment
    case .audit: .audit
    case .orders: .orders
    }
  }

  static let samples: [Sample<StockResult>] = [
    Sample(
      "stock-result-failure", .failure(StockFailure(.unknownItem, subject: "durian", detail: "no such item"))),
    Sample("stock-result-done", .done([change, bareChange])),
    Sample("stock-result-done-bare", .done([])),
    Sample(
      "stock-result-short", .short([Shortage(item: ItemID("strawberry"), needed: 16, available: 10)])),
    Sample(
      "stock-result-picture",
      .snapshot(
        StockSnapshot(
          ledger: 41, sequence: 12,
          items: [
            ItemStock(
              item: ItemID("top"), lots: [Lot(dates: dates, quantity: 3), Lot(dates: nil, quantity: 1)]),
            ItemStock(item: ItemID("kiwi"), lots: []),
          ]))),
    Sample("stock-result-changes", .changes([change])),
    Sample(
      "stock-result-failure-remark",
      .failure(
        StockFailure(
          .overflow, subject: "kiwi", messageDetail: MessageDetail(.quantityLimit, 999_999, 1_000_000)))),
    Sample(
      "stock-result-audit-remarks",
      .audit(
        StockAuditReport(
          items: 5, orders: 3, changes: 12, difference: 1,
          messageDetails: [MessageDetail(.itemQuantityDiffers, "kiwi", 3, 4)]))),
    Sample("stock-result-assortment", .assortment(.standard)),
    Sample(
      "stock-result-audit",
      .audit(StockAuditReport(items: 5, orders: 3, changes: 12, difference: 2, problems: ["이상"]))),
    Sample(
      "stock-result-orders",
      .orders([
        OrderRecord(id: order, content: "take mango*3", state: .wasReturned),
        OrderRecord(id: OrderID("x-1"), content: "", state: .void),
      ])),
    Sample("stock-result-orders-bare", .orders([])),
  ]
}

private let bankMark = BankIdentity(
  bankID: 4_096, opening: 3, openedAt: WallTime(milliseconds: 1_700_000_000_000))

extension ServiceProcessMessage {
  enum Case: String, CaseIterable { case hello, ready, failed, beat, database }

  var itsCase: Case {
    switch self {
    case .hello: .hello
    case .ready: .ready
    case .failed: .failed
    case .beat: .beat
    case .database: .database
    }
  }

  static let samples: [Sample<ServiceProcessMessage>] = [
    Sample("worker-hello", .hello(Hello(version: 1, build: "a1b2c3", role: .stock))),
    Sample("worker-ready", .ready),
    Sample("worker-failed", .failed(Failure(.damaged, subject: "/srv/bank/stock.db", detail: "cut"))),
    Sample("worker-beat", .beat(300)),
    Sample("worker-database", .database(DatabaseIdentity(identity: 300, bank: bankMark))),
    Sample("worker-hello-vending", .hello(Hello(version: 1, build: "a1b2c3", role: .vending))),
    Sample("worker-hello-page", .hello(Hello(version: 1, build: "a1b2c3", role: .web))),
    Sample("worker-beat-progress", .beat(ServiceProcessMessage.progress)),
    Sample("worker-beat-worked", .beat(ServiceProcessMessage.worked)),
    Sample("worker-database-bare", .database(DatabaseIdentity(identity: -7, bank: nil))),
  ]
}

extension SupervisorMessage {
  enum Case: String, CaseIterable { case welcome, refused, check, close, bank }

  var itsCase: Case {
    switch self {
    case .welcome: .welcome
    case .refused: .refused
    case .check: .check
    case .close: .close
    case .bank: .bank
    }
  }

  static let samples: [Sample<SupervisorMessage>] = [
    Sample(
      "supervisor-welcome",
      .welcome(
        ServiceProcessSettings(
          name: "stock", generation: 3, language: .korean, logPath: "/srv/bank/logs/stock.log",
          logLimit: 10_485_760, logKeep: 3))),
    Sample("supervisor-refused", .refused(refusal)),
    Sample("supervisor-check", .check(300)),
    Sample("supervisor-close", .close),
    Sample("supervisor-bank", .bank(bankMark)),
  ]
}
