// Several tickets at once, and lists requested by service, by number and with a limit.

import BankModel
import Posix
import QueueCore
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("Several tickets at once")
struct SelectionTests {
  private func selection(
    _ bank: TestBank, _ client: TestClient, _ command: ControlCommand
  ) throws -> ControlAnswer? {
    let number = client.ask(command, bank.coordinator)
    for _ in 0..<100 {
      bank.coordinator.context.updateTime()
      bank.coordinator.selections.advance()
      bank.coordinator.queue.commit()
      if let answer = try client.answers(to: number, bank.coordinator).last { return answer }
    }
    return nil
  }

  private func tickets(_ bank: TestBank, _ client: TestClient, _ query: TicketQuery) throws -> [Int64] {
    let number = client.ask(.tickets(query), bank.coordinator)
    var found: [Int64] = []
    // Between two pages there is a rest.
    let deadline = SystemClock.monotonic() + .seconds(120)
    while SystemClock.monotonic() < deadline {
      bank.round()
      for reply in try client.answers(bank.coordinator) where reply.number == number {
        if case .tickets(let page) = reply.answer { found += page.map(\.ticket) }
        if !reply.more { return found }
      }
    }
    Issue.record("the list has no end")
    return found
  }

  @Test("each named customer is cancelled once, and for the others the answer gives the reason")
  func cancel() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    bank.openWindows(1)
    _ = try bank.enqueue(20, client)
    bank.serveAll()
    bank.coordinator.queue.commit()
    let wanted = TicketSelection(
      spans: [TicketNumbers(first: 8, last: 10), TicketNumbers(1), TicketNumbers(9), TicketNumbers(50)],
      day: 1)
    let answer = try selection(bank, client, .cancelAll(wanted))
    #expect(
      answer
        == .selection(
          SelectionReport(
            done: 3,
            refused: [
              RefusedTicket(ticket: 1, reason: .wrongState, state: .done),
              RefusedTicket(ticket: 50, reason: .noSuchTicket),
            ])))
    #expect(bank.coordinator.queue.machine.dayCounters.cancelled == 3)
    let again = try selection(bank, client, .requeueAll(TicketSelection(spans: [TicketNumbers(12)])))
    #expect(
      again
        == .selection(
          SelectionReport(
            done: 0, refused: [RefusedTicket(ticket: 12, reason: .wrongState, state: .waiting)])))
    #expect(client.session.openRequests == 0 && !bank.coordinator.selections.hasWork)
  }

  @Test("a selection of another day, of too many, or of an invalid ticket is refused as a whole")
  func refused() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    _ = try bank.enqueue(3, client)
    let late = try selection(
      bank, client, .cancelAll(TicketSelection(spans: [TicketNumbers(1)], day: 2)))
    #expect(late?.failure?.code == .noSuchDay)
    for spans in [
      [TicketNumbers(first: 1, last: 10_001)], [TicketNumbers(0)], [TicketNumbers(first: 3, last: 2)],
      [TicketNumbers(first: 1, last: .max)], [TicketNumbers(first: .min, last: .max)],
      [TicketNumbers(first: 1, last: 6_000), TicketNumbers(first: 7_000, last: 12_000)],
    ] {
      let answer = try selection(bank, client, .cancelAll(TicketSelection(spans: spans)))
      #expect(answer?.failure?.code == .badRequest, "\(spans)")
    }
    #expect(bank.coordinator.queue.machine.dayCounters.cancelled == 0)
    let none = try selection(bank, client, .cancelAll(TicketSelection(spans: [])))
    #expect(none == .selection(SelectionReport(done: 0)))
    #expect(
      Selections.tickets(of: TicketSelection(spans: [TicketNumbers(first: 1, last: 10_000)]))?.count == 10_000
    )
  }

  @Test("lists are in the order of the numbers, of one service, after a number, and within the limit")
  func lists() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    bank.openWindows(1)
    _ = try bank.enqueue(5, client)
    for (service, priority) in [(ServiceName.loan, Priority.regular), (.deposit, .vip), (.loan, .vvip)] {
      var order = EnqueueParameters.deposits(200)
      (order.service, order.priority) = (service, priority)
      client.ask(.enqueue(order), bank.coordinator)
      bank.finishEnqueue()
    }
    _ = try client.answers(bank.coordinator)
    #expect(
      try tickets(bank, client, TicketQuery(limit: 10)) == Array(1...10),
      "customers being served are among them")
    #expect(try tickets(bank, client, TicketQuery(state: .waiting, limit: 3)) == [2, 3, 4])
    #expect(
      try tickets(bank, client, TicketQuery(state: .waiting, after: 203, limit: 4)) == [204, 205, 206, 207])
    #expect(
      try tickets(bank, client, TicketQuery(service: .loan)) == Array(6...205) + Array(406...605))
    #expect(
      try tickets(bank, client, TicketQuery(service: .loan, after: 300, limit: 10_000)) == Array(406...605))
    #expect(try tickets(bank, client, TicketQuery(state: .dead, after: 0)) == [])
    for query in [TicketQuery(limit: 0), TicketQuery(limit: 10_001), TicketQuery(limit: .min)] {
      let number = client.ask(.tickets(query), bank.coordinator)
      #expect(try client.answers(to: number, bank.coordinator).first?.failure?.code == .badRequest)
    }
    let unknown = client.ask(.tickets(TicketQuery(service: ServiceName("unknown"))), bank.coordinator)
    #expect(try client.answers(to: unknown, bank.coordinator).first?.failure?.code == .noSuchService)
  }

  @Test("receipts are those of one service, and within the limit")
  func receipts() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    _ = try bank.enqueue(30, client)
    var order = EnqueueParameters.deposits(3)
    order.service = .loan
    client.ask(.enqueue(order), bank.coordinator)
    bank.finishEnqueue()
    _ = try selection(
      bank, client, .cancelAll(TicketSelection(spans: [TicketNumbers(first: 1, last: 33)])))
    func receipts(_ query: ReceiptQuery) throws -> [Int64] {
      let number = client.ask(.receipts(query), bank.coordinator)
      let deadline = SystemClock.monotonic() + .seconds(120)
      while SystemClock.monotonic() < deadline {
        bank.round()
        let answers = try client.answers(to: number, bank.coordinator)
        guard !answers.isEmpty else { continue }
        return answers.flatMap { answer -> [Int64] in
          if case .receipts(let page) = answer { page.map(\.ticket) } else { [] }
        }
      }
      return []
    }
    #expect(try receipts(ReceiptQuery(days: .present, follow: false, service: .loan)) == [31, 32, 33])
    #expect(try receipts(ReceiptQuery(days: .all, follow: false, limit: 2)) == [1, 2])
    #expect(
      try receipts(ReceiptQuery(days: .all, follow: false, after: 4, service: .deposit, limit: 3)) == [
        5, 6, 7,
      ])
    let endless = client.ask(.receipts(ReceiptQuery(days: .all, follow: true, limit: 3)), bank.coordinator)
    #expect(try client.answers(to: endless, bank.coordinator).first?.failure?.code == .badRequest)
  }
}
