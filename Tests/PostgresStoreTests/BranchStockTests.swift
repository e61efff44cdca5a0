// Customers whose goods are in the stock of one branch: its juice is in the shared database, and no other
// branch serves it, whatever happens to that branch.
import BankModel
import Postgres
import PostgresFixture
import QueueCore
import Testing
import Time

@testable import PostgresStore

@Suite("Juice in a shared database", .enabled(if: PostgresCluster.isInstalled))
struct BranchStockTests {
  private static let juice = Line(service: .juice, priority: .regular)

  /// Orders juice at a branch; returns the tickets.
  private func order(_ count: Int, at branch: TestBranch, on stage: SharedStoreFixture) throws
    -> [TicketNumber]
  {
    var request = EnqueueRequest(issuedAt: WallTime(milliseconds: 1_000))
    for _ in 0..<count {
      var order = CustomerOrder(service: .juice, priority: .regular, amount: 0, account: 1)
      order.itemName = "kiwi"
      request.add(order)
    }
    guard case .issued(let tickets) = try stage.ask(branch, { $0.enqueueCustomers($1, request) }) else {
      return []
    }
    return tickets.new.flatMap { Array($0.first...$0.last) }
  }

  private func own(_ branch: TestBranch, in numbers: BankCounters?) -> Int64? {
    numbers?.branches.first { $0.identity.number == branch.joins.last?.branch.id }?.juices
  }

  @Test("A branch serves only the juice that was ordered there; all other customers are shared")
  func lanes() throws {
    let stage = try SharedStoreFixture()
    let (one, other) = (try stage.open("one"), try stage.open("other"))
    let mine = try order(4, at: one, on: stage)
    let theirs = try order(3, at: other, on: stage)
    #expect(mine == [1, 2, 3, 4] && theirs == [5, 6, 7], "one series of tickets")
    try stage.enqueue(one, 5)
    // Two looks of each: a branch called to another one's juice would have been by then.
    let polls = one.renewals
    try stage.runLoop { one.renewals > polls + 2 && one.numbers?.all.waiting == 12 }
    #expect(own(one, in: other.numbers) == 4 && own(other, in: other.numbers) == 3)
    #expect(one.numbers?.services[Service.juice.index].waiting == 7)
    for branch in [one, other] { branch.servesImmediately = true }
    try stage.runLoop { one.done.count + other.done.count == 12 }
    #expect(Set(one.done).isSuperset(of: mine) && Set(other.done).isSuperset(of: theirs))
    #expect(one.rejectedCompletions.isEmpty && other.rejectedCompletions.isEmpty)
    #expect(
      try stage.number(
        "SELECT count(*) FROM bank.receipt r JOIN bank.lane l ON l.number = r.lane WHERE l.branch NOT IN (0, r.branch)"
      ) == 0)
    let pages = (one.pages + other.pages).filter { $0.line == Self.juice }.flatMap(\.customers)
    #expect(pages.count == 7 && pages.allSatisfy { $0.customer.itemName == "kiwi" })
    try stage.runLoop { own(one, in: one.numbers) == 0 && one.numbers?.all.served == 12 }
    try stage.check()
  }

  @Test("Other branches get the customers of a lost one, and its juice waits until it is back")
  func gone() throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one", lease: .milliseconds(600))
    let other = try stage.open("other", lease: .seconds(4))
    let juice = try order(4, at: one, on: stage)
    try stage.enqueue(one, 3)
    one.pageSize = 2
    one.claim(Self.juice)
    one.claim(SharedStoreFixture.deposits)
    try stage.runLoop { one.inFlight.count == 4 }
    let issued = one.inFlight.first { $0.customer.service == .juice }?.customer.issuedAt
    stage.stopRunning(one)
    other.servesImmediately = true
    try stage.runLoop { other.done.count == 3 }
    #expect(Set(other.done).isDisjoint(with: juice))
    let polls = other.renewals
    try stage.runLoop { other.renewals > polls + 2 }
    #expect(other.done.count == 3 && other.pages.allSatisfy { $0.line != Self.juice })
    #expect(own(one, in: other.numbers) == 4, "it knows how many wait there")
    try stage.check()
    // It has its number again, by its name, and with it its lanes.
    let again = try stage.open("one")
    #expect(again.opening?.branch.id == one.joins[0].branch.id)
    again.servesImmediately = true
    try stage.runLoop { again.done.count == 4 }
    #expect(again.done.sorted() == juice)
    let first = again.pages.flatMap(\.customers).first { $0.customer.ticket == juice[0] }
    #expect(first?.customer.issuedAt == issued, "the stock knows the order by it")
    try stage.check()
  }

  @Test(
    "After any cancel the branch of the juice owes its stock a release, until it is done")
  func owed() throws {
    let stage = try SharedStoreFixture()
    let (one, other) = (try stage.open("one"), try stage.open("other"))
    _ = try order(5, at: one, on: stage)
    try stage.enqueue(one, 1)
    #expect(try stage.ask(other) { $0.cancel($1, 2) } == .done)
    // The branch writes the receipts of its own claimed customers itself.
    one.claim(Self.juice)
    try stage.runLoop { one.inFlight.count == 4 }
    let mine = try #require(one.inFlight.first { $0.customer.ticket == 3 })
    let receipt = TestBranch.receipt(mine.customer) { receipt in
      (receipt.outcome, receipt.window, receipt.startedAt) = (.cancelled, nil, nil)
    }
    one.store.stage(.finish(mine.customer, from: .waiting, receipt))
    one.hand(over: [3])
    // No stock holds goods for others.
    #expect(try stage.ask(other) { $0.cancel($1, 6) } == .done)
    try stage.runLoop { one.owed.map(\.ticket.ticket) == [2, 3] }
    #expect(one.owed.allSatisfy { $0.issuedAt == WallTime(milliseconds: 1_000) && $0.ticket.day == 1 })
    #expect(other.owed.isEmpty)
    // Not reported for another branch's.
    other.store.released([TicketOfDay(day: 1, ticket: 2)])
    one.store.released([TicketOfDay(day: 1, ticket: 3)])
    try stage.runLoop { one.owed.map(\.ticket.ticket) == [2] }
    // It is owed for as long as it takes, over the end of the day.
    #expect(try stage.ask(other) { $0.endDay($1, cancellingAll: true) } == .done)
    try stage.runLoop { one.owed.map(\.ticket.ticket) == [1, 2, 4, 5] }
    stage.stopRunning(one)
    let again = try stage.open("one")
    try stage.runLoop { again.owed.count == 4 }
    again.store.released(again.owed.map(\.ticket))
    try stage.runLoop { again.owed.isEmpty }
    #expect(try stage.number("SELECT count(*) FROM bank.stock_release") == 0)
    try stage.check()
  }

  @Test("The last branch to leave a draining bank ends the drain if a lost one has juice left")
  func drain() throws {
    let stage = try SharedStoreFixture()
    let (one, other) = (try stage.open("one"), try stage.open("other"))
    _ = try order(2, at: one, on: stage)
    var left = 0
    one.store.leave { left += 1 }
    try stage.runLoop { left == 1 }
    #expect(try stage.ask(other) { $0.drainDay($1) } == .done)
    try stage.runLoop { other.isDraining }
    #expect(try stage.ask(other) { $0.endDay($1) } == .notFinished)
    other.store.leave(drains: true) { left += 1 }
    try stage.runLoop { left == 2 }
    #expect(own(one, in: other.numbers) == 2, "the last event reports the customers left and where")
    #expect(try stage.number("SELECT count(*) FROM bank.day WHERE draining") == 0)
    // If no branch could report it, the next one to open does.
    try stage.stage.client.run("UPDATE bank.day SET draining = true")
    stage.stopRunning(other)
    let next = try stage.open("other")
    #expect(next.opening?.isDraining == false)
    // An open and draining branch is joined as it is.
    #expect(try stage.ask(next) { $0.drainDay($1) } == .done)
    stage.stopRunning(one)
    let back = try stage.open("one")
    #expect(back.opening?.isDraining == true)
    back.servesImmediately = true
    try stage.runLoop { back.done.count == 2 }
    #expect(try stage.ask(back) { $0.endDay($1) } == .done)
  }
}
