// Requests for customers ordered for later, in the coordinator.

import BankModel
import QueueCore
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("Intake of customers ordered for later")
struct DelayedEnqueueTests {
  private func ask(
    _ bank: TestBank, _ client: TestClient, _ change: (inout EnqueueParameters) -> Void
  ) throws -> ControlAnswer? {
    var order = EnqueueParameters.deposits(1)
    change(&order)
    return try answer(bank, client, .enqueue(order))
  }

  private func answer(_ bank: TestBank, _ client: TestClient, _ command: ControlCommand) throws
    -> ControlAnswer?
  {
    let number = client.ask(command, bank.coordinator)
    bank.coordinator.context.updateTime()
    bank.coordinator.enqueueHandler.advance()
    bank.coordinator.queue.commit()
    return try client.answers(to: number, bank.coordinator).last
  }

  @Test("a delay counts from when the coordinator receives it, and a repetition is recognised by it")
  func inAWhile() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    bank.coordinator.context.updateTime()
    let before = bank.coordinator.context.now.wall.milliseconds
    guard case .enqueued(let first)? = try ask(bank, client, { ($0.delay, $0.key) = (60_000, "k") }) else {
      Issue.record("it was not accepted")
      return
    }
    let due = try #require(bank.store.find(first.first)?.dueAt).milliseconds
    #expect((before + 60_000...bank.coordinator.context.now.wall.milliseconds + 60_000).contains(due))
    guard case .enqueued(let again)? = try ask(bank, client, { ($0.delay, $0.key) = (60_000, "k") }) else {
      Issue.record("it was not recognised")
      return
    }
    #expect(again.first == first.first && again.known == 1)
    for other in [nil, 60_001] as [Int64?] {
      #expect(try ask(bank, client) { ($0.delay, $0.key) = (other, "k") }?.failure?.code == .keyConflict)
    }
    #expect(bank.coordinator.queue.machine.dayCounters.delayed == 1)
  }

  @Test("a due time in the past means at once, and each customer of a list has its own")
  func list() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    let entries = [(5, nil), (nil, 3_600_000), (4_000_000_000_000, nil), (nil, nil)].map { due, delay in
      EnqueueEntry(
        service: .deposit, priority: .regular, amount: 5, account: 7, key: nil, dueAt: due, delay: delay)
    }
    // The last one is beyond ten years.
    let command = ControlCommand.enqueueList(EnqueueList(entries: entries, isLast: true))
    #expect(try answer(bank, client, command)?.failure?.messageDetail == MessageDetail(.dueOfEntry, 3_653, 3))
    let near = ControlCommand.enqueueList(
      EnqueueList(entries: entries.filter { $0.dueAt ?? 0 < 9 }, isLast: true))
    guard case .enqueued(let tickets)? = try answer(bank, client, near) else {
      Issue.record("it was not accepted")
      return
    }
    #expect(tickets.count == 3)
    #expect(try (1...3).map { try bank.store.find($0)?.state } == [.waiting, .delayed, .waiting])
  }

  @Test("impossible times are refused by name, and no customer is added")
  func refused() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    func refusal(_ change: (inout EnqueueParameters) -> Void) throws -> MessageDetail? {
      try ask(bank, client, change)?.failure?.messageDetail
    }
    #expect(try refusal { ($0.dueAt, $0.delay) = (5, 5) } == MessageDetail(.dueTwice))
    #expect(try refusal { $0.delay = -1 } == MessageDetail(.dueRange, 3_653))
    #expect(try refusal { $0.delay = BankModel.Limits.delay + 1 } == MessageDetail(.dueRange, 3_653))
    #expect(try refusal { $0.dueAt = .max } == MessageDetail(.dueRange, 3_653))
    #expect(bank.coordinator.queue.machine.dayCounters.issued == 0)
    // The earliest time that can be written means at once.
    #expect(try refusal { $0.dueAt = .min } == nil)
    #expect(bank.coordinator.queue.machine.dayCounters.waitingInAll == 1)
  }
}
