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
struct StartsTests {
  /// A bank with a limit of attempts for deposits, and a worker that takes two of them.
  private func bank(_ most: Int16?) throws -> (bank: TestBank, told: () -> [TicketNumber]) {
    let bank = try TestBank()
    var policy = bank.coordinator.queue.machine.policy
    var rules = policy.common
    rules.maxAttempts = most
    rules.prefetch = 2
    policy.set(rules, for: .deposit)
    bank.coordinator.queue.adopt(policy)
    final class Ear { var told: [TicketNumber] = [] }
    let ear = Ear()
    bank.coordinator.queue.onOutside = { wish, _ in
      if case .tell(.assign(let assignment)) = wish { ear.told.append(assignment.ticket) }
    }
    bank.coordinator.queue.happen(.workerCame([.deposit], number: 1, 70_000, pid: 1, inHand: 2))
    return (bank, { ear.told })
  }

  @Test("a worker gets a customer with the commit, and at once if attempts are not counted")
  func toldWithTheCommit() throws {
    let (bank, told) = try bank(1)
    let client = try TestClient(bank.coordinator)
    _ = try bank.enqueue(2, client)
    let queue = bank.coordinator.queue
    #expect(told() == [] && bank.store.hasStagedChanges)
    #expect(queue.commitDue(isHurried: false) == bank.coordinator.context.now.monotonic, "it is awaited")
    queue.commit()
    #expect(told() == [1, 2] && !bank.store.hasStagedChanges)
    let kept = try bank.store.find(1)
    #expect(kept?.customer.begun == 1 && kept?.customer.isBegun == true && kept?.state == .waiting)

    let (other, heard) = try self.bank(nil)
    _ = try other.enqueue(2, try TestClient(other.coordinator))
    #expect(heard() == [1, 2] && !other.store.hasStagedChanges)
  }

  @Test("while the disk is full no worker gets a customer, and no attempt has started")
  func fullDisk() throws {
    let (bank, told) = try bank(1)
    _ = try bank.enqueue(1, try TestClient(bank.coordinator))
    let queue = bank.coordinator.queue
    bank.store.fail(.commit, with: .diskFull(detail: "of this test"))
    queue.commit()
    #expect(queue.isJammed && told() == [])
    #expect(queue.machine.serving == 0)
    bank.store.fail(.commit, with: .diskFull(detail: "of this test"))
    queue.retry()
    #expect(queue.isJammed && told() == [])
    queue.retry()
    #expect(!queue.isJammed && told() == [], "now it is staged")
    queue.commit()
    #expect(told() == [1])
    #expect(try bank.store.find(1)?.customer.begun == 1)
  }

  @Test("a worker that leaves before the commit has started nothing")
  func gone() throws {
    let (bank, told) = try bank(1)
    _ = try bank.enqueue(1, try TestClient(bank.coordinator))
    bank.coordinator.queue.happen(.workerGone(70_000))
    bank.coordinator.queue.commit()
    #expect(told() == [])
    let kept = try bank.store.find(1)
    #expect(kept?.customer.begun == 0 && kept?.customer.isBegun == false && kept?.state == .waiting)
  }
}
