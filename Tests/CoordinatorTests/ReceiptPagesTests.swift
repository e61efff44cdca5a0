// Pages of receipts that end early because their results are long: the client gets all of them, and only the
// last page is marked as the last.

import BankModel
import QueueCore
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("Receipts with long results")
struct ReceiptPagesTests {
  private static let count: Int64 = 90

  /// A bank with receipts whose results fill more than five pages, few as they are.
  private func bank() throws -> TestBank {
    let bank = try TestBank()
    var dayCounters = try bank.store.load(now: WallTime(milliseconds: 1)).dayCounters
    let output = try #require(TruncatedOutput(first: [UInt8](repeating: 7, count: TruncatedOutput.longest)))
    for ticket in 1...Self.count {
      let customer = Customer(
        ticket: ticket, service: .deposit, priority: .regular, amount: 1, account: 1,
        issuedAt: WallTime(milliseconds: 1))
      try bank.store.stage(.insert(customer))
      let receipt = Receipt(
        day: 1, ticket: ticket, service: .deposit, priority: .regular, outcome: .served,
        window: Window(service: .deposit, place: 1), generation: 1, pid: 1, attempts: 1, amount: 1,
        account: 1,
        issuedAt: customer.issuedAt, startedAt: WallTime(milliseconds: 2),
        finishedAt: WallTime(milliseconds: 3),
        result: WorkResult(duration: .milliseconds(1), output: output))
      try bank.store.stage(.finish(customer, from: .waiting, receipt))
    }
    dayCounters.issued = Self.count
    dayCounters.served = Self.count
    dayCounters.servedByService[0] = Self.count
    try bank.store.commit(dayCounters)
    #expect(try bank.store.receipts(day: nil, after: 0, limit: 500).count < Self.count / 5)
    return bank
  }

  private func told(_ query: ReceiptQuery) throws -> (tickets: [Int64], more: [Bool]) {
    let bank = try bank()
    let client = try TestClient(bank.coordinator)
    let number = client.ask(.receipts(query), bank.coordinator)
    var (tickets, more): ([Int64], [Bool]) = ([], [])
    for _ in 0..<1_000_000 {
      if query.follow ? tickets.count == Self.count : more.last == false { break }
      bank.coordinator.context.updateTime()
      bank.round()
      for reply in try client.answers(bank.coordinator) where reply.number == number {
        guard case .receipts(let page) = reply.answer else { continue }
        tickets += page.map(\.ticket)
        more.append(reply.more)
      }
      _ = try bank.coordinator.context.loop.spin(for: .zero)
    }
    return (tickets, more)
  }

  @Test(
    "all are sent, and only the last page is marked as the last",
    arguments: [ReceiptQuery.Days.all, .present])
  func all(_ days: ReceiptQuery.Days) throws {
    let (tickets, more) = try told(ReceiptQuery(days: days, follow: false))
    #expect(tickets == Array(1...Self.count))
    #expect(more.last == false && more.count(where: { !$0 }) == 1 && more.count > 5)
  }

  @Test("all are sent to a subscriber, too, also after a number")
  func followed() throws {
    let (tickets, more) = try told(ReceiptQuery(days: .day(1), follow: true))
    #expect(tickets == Array(1...Self.count) && more.allSatisfy { $0 })
    #expect(try told(ReceiptQuery(days: .all, follow: false, after: 1)).tickets.first == 2)
  }
}
