// The end of a bank and of an abandoned request: no client waits for an answer that would never come, and an
// idle process sleeps.

import BankModel
import Glibc
import QueueCore
import Testing
import Wire

@testable import Coordinator

@Suite("Ends")
struct ClosingTests {
  @Test(
    "wait for ended tickets is answered, even if a large request was abandoned meanwhile")
  func ticketsAndARequestGivenUp() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    bank.openWindows(1)
    _ = try bank.enqueue(1, client)
    bank.serveAll()
    bank.coordinator.queue.commit()
    client.ask(.enqueue(.deposits(400_000)), bank.coordinator)
    bank.coordinator.context.updateTime()
    bank.coordinator.enqueueHandler.advance()
    #expect(bank.coordinator.queue.isTakingIn)
    let number = other.ask(.awaitTickets(day: 1, first: 1, last: 1), bank.coordinator)
    bank.round()
    #expect(try other.answers(bank.coordinator).isEmpty, "staged changes are not read")
    bank.coordinator.enqueueHandler.giveUp(because: Failure(.system))
    bank.round()
    guard case .ended(let report)? = try other.answers(to: number, bank.coordinator).first else {
      Issue.record("nothing else wakes the coordinator, so this was the round of the answer")
      return
    }
    #expect(report.dead == 0)
  }

  @Test(
    "wait is answered with the number of tickets cancelled before the question and afterwards")
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
    #expect(
      try ended(other.answers(to: number, bank.coordinator)) == AwaitedTicketsReport(dead: 0, cancelled: 2))
    // A reset cancels all that was left; of a day that is over the receipts give the same number.
    _ = try bank.enqueue(2, client)
    let second = other.ask(.awaitTickets(day: 1, first: 3, last: 7), bank.coordinator)
    bank.round()
    client.ask(.reset(day: nil), bank.coordinator)
    bank.coordinator.queue.commit()
    bank.round()
    #expect(
      try ended(other.answers(to: second, bank.coordinator)) == AwaitedTicketsReport(dead: 0, cancelled: 3))
    let third = other.ask(.awaitTickets(day: 1, first: 1, last: 3), bank.coordinator)
    bank.round()
    #expect(
      try ended(other.answers(to: third, bank.coordinator)) == AwaitedTicketsReport(dead: 0, cancelled: 2))
  }

  private func ended(_ answers: [ControlAnswer]) -> AwaitedTicketsReport? {
    if case .ended(let report)? = answers.first { report } else { nil }
  }

  @Test("an audit that comes too late for the stock does not keep the ending coordinator awake")
  func lateAudit() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    bank.openWindows(1)
    _ = try bank.enqueue(1, client)
    client.ask(.audit, bank.coordinator)
    bank.coordinator.router.readThrottled()
    #expect(bank.coordinator.hasOwnWork, "the stock is to be asked")
    // A customer is still served.
    other.ask(.stop(StopParameters(now: false, timeoutMilliseconds: nil)), bank.coordinator)
    try #require(bank.coordinator.context.isEnding && bank.coordinator.context.exitCode == nil)
    bank.coordinator.router.readThrottled()
    #expect(bank.coordinator.hasOwnWork, "it can still be asked")
    bank.coordinator.services.dismiss()
    #expect(!bank.coordinator.hasOwnWork)
  }

  @Test("a signal to read the configuration opens no windows in a bank that closes")
  func reloadWhileClosing() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    bank.openWindows(1)
    _ = try bank.enqueue(1, client)
    client.ask(.stop(StopParameters(now: false, timeoutMilliseconds: nil)), bank.coordinator)
    try #require(bank.coordinator.context.isEnding && bank.coordinator.context.exitCode == nil)
    let before = bank.coordinator.queue.machine.numbers(of: .loan).windows
    bank.coordinator.handle(signal: SIGHUP)
    #expect(bank.coordinator.queue.machine.numbers(of: .loan).windows == before)
  }

  @Test("a bank that could not open reports it once to a list that comes in parts")
  func listAtABankThatCannotOpen() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    let window = Window(service: .deposit, place: 1)
    _ = bank.coordinator.tellerSupervisor.add(window)
    bank.coordinator.opening.windowGivenUp(window, lastExitReason: MessageDetail(.exitedAtOnce))
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
    #expect(failure.code == .startFailed)
  }

  @Test("a signal that comes after the end has no effect")
  func lateSignal() throws {
    let bank = try TestBank()
    bank.coordinator.context.end(with: 0)
    bank.coordinator.handle(signal: SIGTERM)
    #expect(!bank.coordinator.context.isEnding)
    bank.coordinator.handle(signal: SIGHUP)
    #expect(!bank.log.contains("event=reload"))
  }

  @Test("a request in the iteration in which the bank ends is answered as not done")
  func lastTurn() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    bank.openWindows(1)
    _ = try bank.enqueue(1, client)
    client.ask(.stop(StopParameters(now: false, timeoutMilliseconds: nil)), bank.coordinator)
    #expect(bank.coordinator.context.exitCode == nil, "a customer is still served")
    // The message has come, and is to be handled at the end of the iteration.
    let before = other.ask(.enqueue(.deposits(1)), bank.coordinator)
    bank.serveAll()
    bank.coordinator.shutdownController.advance()
    #expect(bank.coordinator.context.exitCode == 0)
    let after = other.ask(.enqueue(.deposits(1)), bank.coordinator)
    let answers = try other.answers(bank.coordinator)
    #expect(answers.map(\.number) == [before, after])
    #expect(answers.map(\.answer.failure?.code) == [.notOpen, .notOpen])
  }
}
