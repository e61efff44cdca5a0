// The end of a bank, and of a request that is given up: nobody waits for an answer that nobody would give, and a process
// that has nothing to do sleeps.

import BankModel
import Glibc
import QueueCore
import Testing
import Wire

@testable import Coordinator

@Suite("What ends")
struct ClosingTests {
  @Test(
    "whoever waits for tickets that have ended is told so, also where a large request was given up meanwhile")
  func ticketsAndARequestGivenUp() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    bank.openWindows(1)
    _ = try bank.enqueue(1, client)
    bank.serveAll()
    bank.coordinator.queue.commit()
    client.ask(.enqueue(.deposits(400_000)), bank.coordinator)
    bank.coordinator.context.takeTime()
    bank.coordinator.intake.advance()
    #expect(bank.coordinator.queue.isTakingIn)
    let number = other.ask(.awaitTickets(day: 1, first: 1, last: 1), bank.coordinator)
    bank.round()
    #expect(try other.answers(bank.coordinator).isEmpty, "what is staged is not read")
    bank.coordinator.intake.giveUp(because: Failure(.system))
    bank.round()
    guard case .ended(let report)? = try other.answers(to: number, bank.coordinator).first else {
      Issue.record("nothing else wakes the coordinator, so this was the round in which it is told")
      return
    }
    #expect(report.dead == 0)
  }

  @Test(
    "a client that waits for tickets is told how many of them were cancelled, before it asked and afterwards")
  func cancelledTickets() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    _ = try bank.enqueue(5, client)
    client.ask(.cancel(1), bank.coordinator)
    client.ask(.cancel(5), bank.coordinator)
    bank.coordinator.queue.commit()
    let number = other.ask(.awaitTickets(day: 1, first: 1, last: 4), bank.coordinator)
    bank.round()
    client.ask(.cancel(2), bank.coordinator)
    bank.coordinator.queue.commit()
    bank.round()
    #expect(try other.answers(to: number, bank.coordinator).isEmpty)
    bank.openWindows(2)
    bank.serveAll()
    bank.coordinator.queue.commit()
    bank.round()
    #expect(try ended(other.answers(to: number, bank.coordinator)) == EndedReport(dead: 0, cancelled: 2))
    // Of a reset everything that was left is cancelled, and of a day that is over the receipts tell the same.
    _ = try bank.enqueue(2, client)
    let second = other.ask(.awaitTickets(day: 1, first: 3, last: 7), bank.coordinator)
    bank.round()
    client.ask(.reset(day: nil), bank.coordinator)
    bank.coordinator.queue.commit()
    bank.round()
    #expect(try ended(other.answers(to: second, bank.coordinator)) == EndedReport(dead: 0, cancelled: 3))
    let third = other.ask(.awaitTickets(day: 1, first: 1, last: 3), bank.coordinator)
    bank.round()
    #expect(try ended(other.answers(to: third, bank.coordinator)) == EndedReport(dead: 0, cancelled: 2))
  }

  private func ended(_ answers: [ControlAnswer]) -> EndedReport? {
    if case .ended(let report)? = answers.first { report } else { nil }
  }

  @Test("an audit that comes too late for the stock keeps nobody awake while the serviceSupervisor goes home")
  func lateAudit() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    bank.openWindows(1)
    _ = try bank.enqueue(1, client)
    client.ask(.audit, bank.coordinator)
    bank.coordinator.router.hearCrowded()
    #expect(bank.coordinator.hasOwnWork, "the stock is to be asked")
    // Somebody is still served.
    other.ask(.stop(StopOrder(now: false, timeoutMilliseconds: nil)), bank.coordinator)
    try #require(bank.coordinator.context.isEnding && bank.coordinator.context.exitCode == nil)
    bank.coordinator.router.hearCrowded()
    #expect(bank.coordinator.hasOwnWork, "it still can be")
    bank.coordinator.services.dismiss()
    #expect(!bank.coordinator.hasOwnWork)
  }

  @Test("a signal to read the configuration opens no windows in a bank that closes")
  func reloadWhileClosing() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    bank.openWindows(1)
    _ = try bank.enqueue(1, client)
    client.ask(.stop(StopOrder(now: false, timeoutMilliseconds: nil)), bank.coordinator)
    try #require(bank.coordinator.context.isEnding && bank.coordinator.context.exitCode == nil)
    let before = bank.coordinator.queue.machine.numbers(of: .loan).windows
    bank.coordinator.hear(signal: SIGHUP)
    #expect(bank.coordinator.queue.machine.numbers(of: .loan).windows == before)
  }

  @Test("a bank that could not open says so once to a list that comes in parts")
  func listAtABankThatCannotOpen() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    let window = Window(service: .deposit, place: 1)
    _ = bank.coordinator.tellerSupervisor.add(window)
    bank.coordinator.opening.windowGivenUp(window, lastEnd: Remark(.endedAtOnce))
    let entry = EnqueueEntry(service: .deposit, priority: .regular, amount: 1, account: 1, key: nil)
    let number = client.ask(.enqueueList(EnqueueList(entries: [entry], isLast: false)), bank.coordinator)
    client.ask(.enqueueList(EnqueueList(entries: [entry], isLast: true)), bank.coordinator, number: number)
    client.ask(.withdraw(number), bank.coordinator)
    let answers = try client.answers(bank.coordinator)
    #expect(answers.map(\.number) == [number])
    guard case .failure(let failure)? = answers.first?.answer else {
      Issue.record("it is refused")
      return
    }
    #expect(failure.code == .windowsFailed)
  }

  @Test("a signal that comes after the end begins nothing")
  func lateSignal() throws {
    let bank = try TestBank()
    bank.coordinator.context.end(with: 0)
    bank.coordinator.hear(signal: SIGTERM)
    #expect(!bank.coordinator.context.isEnding)
    bank.coordinator.hear(signal: SIGHUP)
    #expect(!bank.log.contains("event=reload"))
  }

  @Test("who asks in the turn in which the bank ends is told that nothing of it was done")
  func lastTurn() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    bank.openWindows(1)
    _ = try bank.enqueue(1, client)
    client.ask(.stop(StopOrder(now: false, timeoutMilliseconds: nil)), bank.coordinator)
    #expect(bank.coordinator.context.exitCode == nil, "somebody is still served")
    // It has come, and is to be taken in at the end of the turn.
    let before = other.ask(.enqueue(.deposits(1)), bank.coordinator)
    bank.serveAll()
    bank.coordinator.ending.advance()
    #expect(bank.coordinator.context.exitCode == 0)
    let after = other.ask(.enqueue(.deposits(1)), bank.coordinator)
    let answers = try other.answers(bank.coordinator)
    #expect(answers.map(\.number) == [before, after])
    #expect(answers.map(\.answer.failure?.code) == [.notOpen, .notOpen])
  }
}
