// A service that counts its attempts: no customer is sent to a worker before the start of the attempt is on
// disk.

import BankModel
import Posix
import QueueCore
import Storage
import Testing
import Wire

@testable import Coordinator

@Suite("Counted attempts")
struct AttemptStartTests {
  /// A bank with a limit of attempts for deposits, and a worker that takes two of them.
  private func bank(_ most: Int16?) throws -> (bank: TestBank, told: () -> [TicketNumber]) {
    let bank = try TestBank()
    var policy = bank.coordinator.queue.machine.policy
    var rules = policy.common
    rules.maxAttempts = most
    rules.prefetch = 2
    policy.set(rules, for: .deposit)
    bank.coordinator.queue.adopt(policy)
    final class AssignmentRecorder { var assigned: [TicketNumber] = [] }
    let recorder = AssignmentRecorder()
    bank.coordinator.queue.onOutsideCommand = { command, _ in
      if case .send(.assign(let assignment)) = command { recorder.assigned.append(assignment.ticket) }
    }
    bank.coordinator.queue.process(.workerConnected([.deposit], number: 1, 70_000, pid: 1, inFlight: 2))
    return (bank, { recorder.assigned })
  }

  @Test("a worker gets a customer with the commit, and at once if attempts are not counted")
  func toldWithTheCommit() throws {
    let (bank, assigned) = try bank(1)
    let client = try TestClient(bank.coordinator)
    _ = try bank.enqueue(2, client)
    let queue = bank.coordinator.queue
    #expect(assigned() == [] && bank.store.hasStagedChanges)
    #expect(queue.commitDue(isImmediate: false) == bank.coordinator.context.now.monotonic, "it is awaited")
    queue.commit()
    #expect(assigned() == [1, 2] && !bank.store.hasStagedChanges)
    let kept = try bank.store.find(1)
    #expect(
      kept?.customer.startedAttempts == 1 && kept?.customer.isAttemptRunning == true
        && kept?.state == .waiting)

    let (other, heard) = try self.bank(nil)
    _ = try other.enqueue(2, try TestClient(other.coordinator))
    #expect(heard() == [1, 2] && !other.store.hasStagedChanges)
  }

  @Test("while the disk is full no worker gets a customer, and no attempt has started")
  func fullDisk() throws {
    let (bank, assigned) = try bank(1)
    _ = try bank.enqueue(1, try TestClient(bank.coordinator))
    let queue = bank.coordinator.queue
    bank.store.fail(.commit, with: .diskFull(detail: "of this test"))
    queue.commit()
    #expect(queue.isDiskFull && assigned() == [])
    #expect(queue.machine.serving == 0)
    bank.store.fail(.commit, with: .diskFull(detail: "of this test"))
    queue.retry()
    #expect(queue.isDiskFull && assigned() == [])
    queue.retry()
    #expect(!queue.isDiskFull && assigned() == [], "now it is staged")
    queue.commit()
    #expect(assigned() == [1])
    #expect(try bank.store.find(1)?.customer.startedAttempts == 1)
  }

  @Test("a worker that leaves before the commit has started nothing")
  func gone() throws {
    let (bank, assigned) = try bank(1)
    _ = try bank.enqueue(1, try TestClient(bank.coordinator))
    bank.coordinator.queue.process(.workerDisconnected(70_000))
    bank.coordinator.queue.commit()
    #expect(assigned() == [])
    let kept = try bank.store.find(1)
    #expect(
      kept?.customer.startedAttempts == 0 && kept?.customer.isAttemptRunning == false
        && kept?.state == .waiting)
  }
}
