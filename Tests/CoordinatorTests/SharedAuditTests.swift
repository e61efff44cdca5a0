// Concurrent audits: each reads every row, so requests that come while one runs share the next one's answer.
// The test plays the stock and the vending machine.

import BankModel
import QueueCore
import StockClient
import Storage
import Testing
import VendingClient
import Wire

@testable import Coordinator

@Suite("Concurrent audits")
struct SharedAuditTests {
  /// The audit in a home without a stock: every question to the services is answered like this.
  private func answer(
    _ stock: Result<StockResult, StockClientError>, _ machine: Result<VendingResult, VendingClientError>,
    to bank: TestBank
  ) {
    bank.coordinator.audits.current?.handle(AuditRun.Answer(stock))
    bank.coordinator.audits.advance()
    bank.coordinator.audits.current?.handle(AuditRun.Answer(machine))
    bank.coordinator.audits.advance()
  }

  private func reports(_ client: TestClient, _ bank: TestBank) throws -> [AuditReport] {
    try client.answers(bank.coordinator).compactMap {
      if case .audit(let report) = $0.answer { report } else { nil }
    }
  }

  @Test("one audit runs at a time, and requests made meanwhile share the next one")
  func shared() throws {
    let bank = try TestBank()
    let clients = try (0..<64).map { _ in try TestClient(bank.coordinator) }
    let late = try TestClient(bank.coordinator)
    for client in clients { client.ask(.audit, bank.coordinator) }
    bank.coordinator.audits.advance()
    #expect(
      bank.coordinator.audits.current?.requesters.count == 1
        && bank.coordinator.audits.current?.canContinue == false)
    _ = try bank.enqueue(3, late)
    late.ask(.audit, bank.coordinator)
    answer(
      .failure(.tryLater(detail: "x", isInDoubt: false)), .failure(.tryLater(detail: "y", isInDoubt: false)),
      to: bank)
    #expect(try reports(clients[0], bank).map(\.issued) == [0])
    #expect(try reports(clients[1], bank).isEmpty)
    #expect(
      bank.coordinator.audits.current?.requesters.count == 64
        && bank.coordinator.audits.current?.hasBegun == false
    )
    // A client that has left gets no answer, and the others get theirs.
    bank.coordinator.router.forget(clients[1].session)
    bank.coordinator.audits.advance()
    answer(
      .failure(.tryLater(detail: "x", isInDoubt: false)), .failure(.tryLater(detail: "y", isInDoubt: false)),
      to: bank)
    for client in clients[2...] { #expect(try reports(client, bank).map(\.issued) == [3]) }
    #expect(try reports(late, bank).map(\.issued) == [3])
    #expect(try reports(clients[1], bank).isEmpty)
    #expect(bank.coordinator.audits.current == nil && bank.coordinator.audits.requesters.isEmpty)
  }

  @Test(
    "an audit for which the stock or the machine has no room is refused as a whole", arguments: [false, true])
  func fullDisk(ofTheMachine: Bool) throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    let number = client.ask(.audit, bank.coordinator)
    bank.coordinator.audits.advance()
    let stock = Result<StockResult, StockClientError>.success(
      .failure(StockFailure(.diskFull, detail: "no room")))
    let machine = Result<VendingResult, VendingClientError>.success(
      .failure(VendingFailure(.diskFull, detail: "no room")))
    answer(ofTheMachine ? .failure(.tryLater(detail: "x", isInDoubt: false)) : stock, machine, to: bank)
    #expect(try client.answers(to: number, bank.coordinator).map { $0.failure?.code } == [.diskFull])
    #expect(bank.coordinator.audits.current == nil)
  }
}
