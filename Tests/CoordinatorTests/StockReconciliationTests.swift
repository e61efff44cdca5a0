// The audit's comparison of tickets with the stock's orders, on stores in memory: every kind of difference,
// harmless ones that only look like one, and an answer that never comes.

import BankModel
import Glibc
import Posix
import QueueCore
import StockCore
import Storage
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("Tickets compared with orders")
struct StockReconciliationTests {
  private final class Shop {
    let queue = MemoryStore()
    var orders: [OrderID: OrderRecord] = [:]
    var dayCounters: DayCounters
    /// The stock's report about its own ledger.
    var ledger = StockAuditReport(items: 5, orders: 0, changes: 0, difference: 0, problems: [])
    var questions: [StockCommand] = []
    /// Called after each answer, while other clients continue.
    var meanwhile: ((Shop, StockCommand) throws -> Void)?

    init() throws {
      dayCounters = try queue.load(now: WallTime(milliseconds: 0)).dayCounters
    }

    private func customer(_ ticket: TicketNumber, _ service: Service) -> Customer {
      Customer(
        ticket: ticket, service: service, priority: .regular, amount: 0, account: 0,
        issuedAt: WallTime(milliseconds: 0), itemName: "mango")
    }

    /// A waiting ticket, or one with its receipt.
    func ticket(
      _ ticket: TicketNumber, _ outcome: Outcome?, _ service: Service = .juice, _ result: WorkResult? = nil
    ) throws {
      let customer = customer(ticket, service)
      dayCounters.issued = max(dayCounters.issued, ticket)
      let line = Line(service: service, priority: .regular)
      try queue.stage(.insert(customer))
      dayCounters.waiting[line] += 1
      if let outcome {
        let missing = [Shortage(item: ItemID("mango"), needed: 3, available: 1)]
        let receipt = Receipt(
          day: 1, ticket: ticket, service: service, priority: .regular, outcome: outcome, window: nil,
          generation: 0,
          pid: 0, attempts: 1, amount: 0, account: 0, issuedAt: WallTime(milliseconds: 0), startedAt: nil,
          finishedAt: WallTime(milliseconds: 1), itemName: "mango",
          shortages: outcome == .outOfStock ? missing : [], result: result)
        try queue.stage(.finish(customer, from: .waiting, receipt))
        dayCounters.waiting[line] -= 1
        if outcome.isFinishedByWorker {
          dayCounters.served += 1
          dayCounters.servedByService[service.index] += 1
        } else {
          dayCounters.cancelled += 1
        }
      }
      try queue.commit(dayCounters)
    }

    func order(_ name: String, _ state: OrderRecord.State, _ content: String = "take kiwi*1 mango*2") {
      orders[OrderID(name)] = OrderRecord(id: OrderID(name), content: content, state: state)
    }

    func released(_ ticket: TicketNumber) throws {
      try queue.stage(.released(TicketOfDay(day: 1, ticket: ticket)))
      try queue.commit(dayCounters)
    }

    func audit(stride: Int64 = 20_000) throws -> AuditReport {
      var reconciliation = StockReconciliation(stride: stride)
      while let question = try reconciliation.question(from: queue) {
        questions.append(question)
        let answer = answer(question)
        try meanwhile?(self, question)
        try reconciliation.handle(answer, queue, day: dayCounters.day)
      }
      var report = AuditReport(StoreAudit())
      reconciliation.complete(&report)
      return report
    }

    private func answer(_ question: StockCommand) -> StockResult {
      switch question {
      case .querySnapshot: .snapshot(StockSnapshot(ledger: 1, sequence: 0, items: []))
      case .audit: .audit(ledger)
      case .known(let names): .orders(names.compactMap { orders[$0] })
      case .orders(let after, let limit):
        .orders(
          Array(
            orders.values.filter { $0.id.text > after?.text ?? "" }.sorted { $0.id.text < $1.id.text }
              .prefix(Int(limit))))
      default: .failure(StockFailure(.badRequest))
      }
    }
  }

  @Test(
    "with few juices among many receipts each page has its share, and none is left out")
  func strides() throws {
    let shop = try Shop()
    for ticket in 1...20 as ClosedRange<TicketNumber> {
      let isJuice = [1, 2, 13, 20].contains(ticket)
      try shop.ticket(ticket, .served, isJuice ? .juice : .deposit)
      if isJuice, ticket != 20 { shop.order("1-\(ticket)", .done) }
    }
    let report = try shop.audit(stride: 4)
    #expect(report.problems == ["ticket 20 of day 1 was served but the stock has no order for it"])
    let pages = shop.questions.compactMap {
      if case .known(let names) = $0 { names.map(\.text) } else { nil }
    }
    // The last one is checked once more.
    #expect(pages == [["1-1", "1-2"], [], [], ["1-13"], ["1-20"], ["1-20"]])
  }

  @Test("a page of receipts that ends early because of their results leaves none out")
  func longResults() throws {
    let shop = try Shop()
    let output = try #require(TruncatedOutput(first: [UInt8](repeating: 7, count: TruncatedOutput.longest)))
    for ticket in 1...40 as ClosedRange<TicketNumber> {
      try shop.ticket(ticket, .served, .juice, WorkResult(duration: .zero, output: output))
      if ticket != 30 { shop.order("1-\(ticket)", .done) }
    }
    #expect(
      try shop.audit().problems == ["ticket 30 of day 1 was served but the stock has no order for it"])
    let pages = shop.questions.compactMap { if case .known(let names) = $0 { names.count } else { nil } }
    // The doubtful one is checked once more.
    #expect(pages == [16, 16, 1, 8])
  }

  @Test("orders that agree are not a finding: made, short, cancelled, and still in progress")
  func agrees() throws {
    let shop = try Shop()
    try shop.ticket(1, .served)
    shop.order("1-1", .done)
    try shop.ticket(2, .outOfStock)
    shop.order("1-2", .short)
    try shop.ticket(3, .cancelled)
    shop.order("1-3", .wasReturned)
    try shop.ticket(4, .cancelled)
    shop.order("1-4", .void, "")
    try shop.ticket(5, nil)
    shop.order("1-5", .done)
    try shop.ticket(6, nil)
    // A release of this one is noted.
    try shop.ticket(7, .cancelled)
    shop.order("1-7", .done)
    // Ordered by the operator, and by a client with its own order id.
    shop.order("x-00000000000000010000000000000002", .done)
    shop.order("1-5-2", .done)
    shop.order("01-5", .done)
    let report = try shop.audit()
    #expect(report.problems == [])
    #expect(report.stockDifference == 0)
  }

  @Test("each difference is named, and its pieces are counted")
  func differs() throws {
    let shop = try Shop()
    try shop.ticket(1, .served)
    try shop.ticket(2, .served)
    shop.order("1-2", .wasReturned)
    try shop.ticket(3, .outOfStock)
    shop.order("1-3", .done)
    try shop.ticket(4, .outOfStock)
    try shop.ticket(5, .cancelled)
    shop.order("1-5", .done)
    try shop.released(5)
    shop.order("1-9", .done)
    shop.order("7-1", .short)
    let report = try shop.audit()
    #expect(
      report.problems == [
        "ticket 1 of day 1 was served but the stock has no order for it",
        "ticket 2 of day 1 was served but its order was returned to the stock",
        "ticket 3 of day 1 ended without a juice but still has a reservation: 1 kiwi and 2 mango",
        "ticket 4 of day 1 was rejected for lack of fruit, and the stock has no order for it",
        "ticket 5 of day 1 ended without a juice but still has a reservation: 1 kiwi and 2 mango",
        "the stock has an order of ticket 9 of day 1, which does not exist",
        "the stock has an order of ticket 1 of day 7, which does not exist",
      ])
    #expect(report.stockDifference == 11)
  }

  @Test("findings of the stock in its own ledger are reported with the rest")
  func ledger() throws {
    let shop = try Shop()
    shop.ledger = StockAuditReport(
      items: 5, orders: 0, changes: 9, difference: 4, problems: ["kiwi: 4 too many"])
    let report = try shop.audit()
    #expect(report.problems == ["the stock: kiwi: 4 too many"])
    #expect(report.stockDifference == 4)
  }

  @Test("an order given back between two looks is not a finding")
  func continues() throws {
    let shop = try Shop()
    try shop.ticket(1, .cancelled)
    shop.order("1-1", .done)
    shop.meanwhile = { shop, question in
      guard case .known = question, shop.orders[OrderID("1-1")]?.state == .done else { return }
      // The answer is in flight, and reports that the order holds what it has taken.
      shop.order("1-1", .wasReturned)
      try shop.released(1)
    }
    #expect(try shop.audit().problems == [])
  }

  @Test("many are compared page by page")
  func pages() throws {
    let shop = try Shop()
    for ticket in 1...2_500 as ClosedRange<TicketNumber> {
      try shop.ticket(ticket, .served)
      if ticket != 1_700 { shop.order("1-\(ticket)", .done) }
    }
    let report = try shop.audit()
    #expect(report.problems == ["ticket 1700 of day 1 was served but the stock has no order for it"])
    #expect(report.stockDifference == 1)
    for case .known(let names) in shop.questions { #expect(names.count <= 1_000) }
    #expect(shop.questions.count < 12)
  }

  @Test("of very many findings the first are listed and the rest are counted")
  func bounded() throws {
    let shop = try Shop()
    for ticket in 1...150 as ClosedRange<TicketNumber> { try shop.ticket(ticket, .served) }
    let report = try shop.audit()
    #expect(report.problems.count == 101)
    #expect(report.problems.last == "and 50 more of the stock")
    #expect(report.stockDifference == 150)
  }

  @Test("a stock that cannot be asked is one finding, and its pieces are not reported")
  func unreachable() throws {
    let shop = try Shop()
    var reconciliation = StockReconciliation()
    #expect(try reconciliation.question(from: shop.queue) == .querySnapshot)
    reconciliation.fail("no listener")
    #expect(try reconciliation.question(from: shop.queue) == nil)
    var report = AuditReport(StoreAudit())
    reconciliation.complete(&report)
    #expect(report.problems == ["the stock could not be audited: no listener"])
    #expect(report.stockDifference == nil)
    #expect(report.lost == 0)
  }

  @Test("an unexpected answer ends the questions")
  func odd() throws {
    let shop = try Shop()
    for odd in [.done([]), .failure(StockFailure(.crowded))] as [StockResult] {
      var reconciliation = StockReconciliation()
      _ = try reconciliation.question(from: shop.queue)
      try reconciliation.handle(odd, shop.queue, day: 1)
      #expect(try reconciliation.question(from: shop.queue) == nil)
    }
  }

  @Test("the audit's time grows linearly with the orders still to be given back")
  func isLinear() throws {
    let place = try TemporaryDatabase()
    let store = try SQLiteStore(path: place.path)
    var dayCounters = try store.load(now: WallTime(milliseconds: 0)).dayCounters
    let count: TicketNumber = 6_000
    var orders: [OrderID: OrderRecord] = [:]
    for ticket in 1...2 * count {
      let isMade = ticket <= count
      let customer = Customer(
        ticket: ticket, service: .juice, priority: .regular, amount: 0, account: 0,
        issuedAt: WallTime(milliseconds: 0), itemName: "mango")
      try store.stage(.insert(customer))
      let receipt = Receipt(
        day: 1, ticket: ticket, service: .juice, priority: .regular, outcome: isMade ? .served : .cancelled,
        window: nil, generation: 0, pid: 0, attempts: isMade ? 1 : 0, amount: 0, account: 0,
        issuedAt: WallTime(milliseconds: 0), startedAt: nil, finishedAt: WallTime(milliseconds: 1),
        itemName: "mango")
      try store.stage(.finish(customer, from: .waiting, receipt))
      let name = OrderID(day: 1, ticket: ticket)
      orders[name] = OrderRecord(id: name, content: "take mango*2", state: .done)
    }
    dayCounters.issued = 2 * count
    dayCounters.served = count
    dayCounters.cancelled = count
    dayCounters.servedByService[Service.juice.index] = count
    try store.commit(dayCounters)
    var (made, cancelled) = (TimeSpan.zero, TimeSpan.zero)
    var reconciliation = StockReconciliation()
    while let question = try reconciliation.question(from: store) {
      let answer: StockResult =
        switch question {
        case .querySnapshot: .snapshot(StockSnapshot(ledger: 1, sequence: 0, items: []))
        case .known(let names): .orders(names.compactMap { orders[$0] })
        case .orders: .orders([])
        default: .audit(StockAuditReport(items: 1, orders: 0, changes: 0, difference: 0, problems: []))
        }
      let began = SystemClock.monotonic()
      try reconciliation.handle(answer, store, day: 1)
      let took = SystemClock.monotonic().since(began)
      guard case .known(let names) = question, let first = names.first else { continue }
      if first.text.split(separator: "-").last.flatMap({ Int64($0) }) ?? 0 <= count {
        made += took
      } else {
        cancelled += took
      }
    }
    var report = AuditReport(StoreAudit())
    reconciliation.complete(&report)
    #expect(report.problems == [])
    // A scan of all notes for each of them took hundreds of times as long.
    #expect(cancelled < made * 20, "\(made) for those that were made, \(cancelled) for the cancelled")
  }
}

/// A path for a database, which is removed with the value.
private final class TemporaryDatabase {
  let path: String
  private let directory: String

  init() throws {
    var template = Array("/tmp/reckoning-XXXXXX".utf8CString)
    directory = try #require(mkdtemp(&template).map { String(cString: $0) })
    path = directory + "/bank.db"
  }

  deinit {
    for suffix in ["", "-wal", "-journal"] { unlink(path + suffix) }
    rmdir(directory)
  }
}
