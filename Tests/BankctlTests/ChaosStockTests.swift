// The check of the account of fruit: one flaw at a time is planted into clean evidence, and exactly that one
// must be found.
import BankModel
import Testing
import Time
import Wire

@testable import BankctlCommands
@testable import bank_chaos

@Suite("The account of the fruit in a chaos run")
struct ChaosStockTests {
  private static let banana = ItemID("banana")
  private static let mango = ItemID("mango")
  private static let kiwi = ItemID("kiwi")

  /// Two bananas, one mango with kiwi, and a customer with a shortage.
  private func clean() -> ChaosCheckResult.Evidence {
    var evidence = ChaosCheckResult.Evidence()
    let orders = [
      ChaosOrder(
        key: "a", count: 2, service: .juice, priority: .regular, amount: 0, account: 0, juice: "banana"),
      ChaosOrder(
        key: "b", count: 1, service: .juice, priority: .vip, amount: 0, account: 0, juice: "mango-kiwi"),
      ChaosOrder(
        key: "c", count: 1, service: .juice, priority: .vip, amount: 0, account: 0, juice: "mango-kiwi"),
    ]
    var number: Int64 = 1
    for order in orders {
      evidence.ledger.ask(order)
      let promise = AcknowledgedTickets(day: 1, first: number, last: number + order.count - 1)
      evidence.ledger.acknowledge(key: order.key, promise)
      for ticket in promise.first...promise.last { evidence.receipts.append(paper(order, ticket)) }
      number += order.count
    }
    evidence.receipts[3] = paper(
      orders[2], 4, .outOfStock, [Shortage(item: Self.mango, needed: 2, available: 1)])
    evidence.windows = [.juice: 1]
    evidence.shelves.recipes = [
      "banana": [ItemAmount(Self.banana, 2)],
      "mango-kiwi": [ItemAmount(Self.mango, 2), ItemAmount(Self.kiwi, 1)],
    ]
    evidence.shelves.before = [Self.banana: 5, Self.mango: 4, Self.kiwi: 9]
    evidence.shelves.delivered = [Self.banana: 3, Self.mango: -1]
    evidence.shelves.after = [Self.banana: 4, Self.mango: 1, Self.kiwi: 8]
    return evidence
  }

  private func paper(
    _ order: ChaosOrder, _ ticket: Int64, _ outcome: Outcome = .served, _ shortages: [Shortage] = []
  ) -> ReceiptReport {
    ReceiptReport(
      Receipt(
        sequence: ticket, day: 1, ticket: ticket, service: .juice, priority: order.priority, outcome: outcome,
        window: Window(service: .juice, place: 1), generation: 1, pid: 5, attempts: 1, amount: 0, account: 0,
        issuedAt: WallTime(milliseconds: 1), startedAt: WallTime(milliseconds: ticket * 10),
        finishedAt: WallTime(milliseconds: ticket * 10 + 5), itemName: order.juice ?? "", shortages: shortages
      ),
      ServiceDirectory())
  }

  @Test("what was there, and was brought, less what was drunk, is what is left")
  func nothing() {
    let account = ChaosCheckResult(clean())
    #expect(account.isClean, "\(account.violations)")
    #expect(account.juices == 3 && account.outOfStockCount == 1 && account.stockDifference == 0)
  }

  @Test("a piece that is missing, and one too many, are found by their fruit")
  func difference() {
    var evidence = clean()
    evidence.shelves.after?[Self.banana] = 2
    evidence.shelves.after?[Self.kiwi] = 9
    let account = ChaosCheckResult(evidence)
    #expect(account.stockDifference == 3)
    #expect(
      account.violations == [.stock(Self.banana, difference: -2), .stock(Self.kiwi, difference: 1)])
  }

  @Test("a juice that took nothing, and one that took twice, do not add up")
  func takes() {
    for ticket in [0, 3] {
      var evidence = clean()
      // The receipt contradicts what was done.
      let order = evidence.ledger.orders[ticket == 0 ? 0 : 2]
      let shortage = Shortage(item: Self.banana, needed: 2, available: 0)
      evidence.receipts[ticket] = paper(
        order, Int64(ticket) + 1, ticket == 0 ? .outOfStock : .served, ticket == 0 ? [shortage] : [])
      #expect(ChaosCheckResult(evidence).stockDifference == (ticket == 0 ? 2 : 3))
    }
  }

  @Test("a receipt of another juice, a cancelled one, and a shortage that does not exist are wrong")
  func receipts() {
    let wrong = ChaosViolation.wrongReceipt(ChaosTicket(day: 1, number: 4))
    var evidence = clean()
    for shortage in [
      nil, Shortage(item: Self.mango, needed: 2, available: 2),
      Shortage(item: Self.mango, needed: 3, available: 1),
      Shortage(item: Self.banana, needed: 2, available: 0),
    ] {
      evidence.receipts[3] = paper(evidence.ledger.orders[2], 4, .outOfStock, shortage.map { [$0] } ?? [])
      #expect(ChaosCheckResult(evidence).violations == [wrong])
    }
    evidence.receipts[3] = paper(evidence.ledger.orders[2], 4, .cancelled)
    #expect(ChaosCheckResult(evidence).violations == [wrong])
    evidence = clean()
    evidence.receipts[0].itemName = "mango-kiwi"
    #expect(
      ChaosCheckResult(evidence).violations.contains(.wrongReceipt(ChaosTicket(day: 1, number: 1))))
  }

  @Test("wrong counts sent to a watcher are a violation, and a stock without answer has its own")
  func watcher() {
    var evidence = clean()
    evidence.shelves.gaps = ["after change 3 came change 5"]
    #expect(ChaosCheckResult(evidence).violations == [.watch("after change 3 came change 5")])
    evidence = clean()
    evidence.shelves.after = nil
    #expect(ChaosCheckResult(evidence).isClean)
    for language in [Language.english, .korean] {
      let messages = MessageCatalog(language: language)
      #expect(messages.sentence(.stock(Self.banana, difference: -2)).contains("2"))
      #expect(messages.sentence(.stock(Self.banana, difference: 3)).contains("3"))
    }
  }
}
