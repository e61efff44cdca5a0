// The path of changes into the store, and what waits while they cannot be stored: promises that hold whatever
// the queue requires meanwhile.

import BankModel
import Configuration
import Posix
import QueueCore
import Storage
import Testing
import Time

@testable import Coordinator

@Suite("The commit engine")
struct CommitEngineTests {
  private let change = StoreChange.remember(key: "k", day: 1, first: 1, last: 1, request: nil)

  @Test(
    "while the disk is full nothing is staged, read or committed, and reads follow with the retry"
  )
  func fullDisk() throws {
    let bank = try TestBank()
    let engine = bank.coordinator.queue.engine
    try engine.stage(change)
    #expect(bank.store.hasStagedChanges && !engine.isDurable)
    engine.rollBack(isFirst: true)
    #expect(!engine.isWorking && engine.isDurable, "the staged changes are dropped")
    try engine.stage(change)
    #expect(!bank.store.hasStagedChanges)
    let reads: [QueueEffect] = [
      .lookUp(7, 1), .loadPage(Line(service: .loan, priority: .vip), after: 0, limit: 9),
    ]
    for read in reads { #expect(try engine.read(read) == nil) }
    #expect(!engine.canCommit && engine.due(hasUncommittedChanges: true, isAwaited: true) == nil)
    engine.beginRetry()
    #expect(engine.due(hasUncommittedChanges: false, isAwaited: true) == nil, "nothing is staged any more")
    #expect(engine.takeHeldBack() == reads && engine.takeHeldBack() == [])
    try engine.stage(change)
    #expect(bank.store.hasStagedChanges)
  }

  @Test("a page that could not be read is repeated, since otherwise its line would block")
  func unread() throws {
    let bank = try TestBank()
    let engine = bank.coordinator.queue.engine
    let read = QueueEffect.loadPage(Line(service: .loan, priority: .vip), after: 0, limit: 9)
    bank.store.fail(.read, with: .diskFull(detail: "of this test"))
    #expect(throws: StoreError.self) { try engine.read(read) }
    #expect(engine.takeHeldBack() == [read])
  }

  @Test("a full disk is retried at once, and then after a pause")
  func pause() throws {
    let bank = try TestBank()
    let engine = bank.coordinator.queue.engine
    let now = bank.coordinator.context.now.monotonic
    engine.rollBack(isFirst: true)
    #expect(engine.retryAt == now && engine.nextDeadline == now)
    engine.rollBack(isFirst: false)
    #expect(engine.retryAt == now + CommitEngine.diskPause)
  }

  @Test("awaited changes are committed at once, and others are batched")
  func due() throws {
    let bank = try TestBank()
    let (queue, engine) = (bank.coordinator.queue, bank.coordinator.queue.engine)
    #expect(engine.due(hasUncommittedChanges: false, isAwaited: true) == nil, "there is nothing to commit")
    #expect(
      engine.due(hasUncommittedChanges: true, isAwaited: false) == bank.coordinator.context.now.monotonic)
    #expect(try engine.commit(queue.machine.dayCounters, arriving: nil) == .onDisk)
    let staged = bank.coordinator.context.now.monotonic
    try engine.stage(change)
    #expect(engine.due(hasUncommittedChanges: true, isAwaited: true) == staged)
    let gathered = try #require(engine.due(hasUncommittedChanges: true, isAwaited: false))
    #expect(gathered > staged && gathered <= staged + CommitPacing.longestPause + BankConfiguration().gather)
  }

  @Test("a process that was cut off commits nothing, and what the store shows answers no client")
  func halt() throws {
    let bank = try TestBank()
    let engine = bank.coordinator.queue.engine
    try engine.stage(change)
    bank.coordinator.context.halt(with: 1)
    let commits = bank.store.commits
    bank.coordinator.queue.commit()
    bank.coordinator.queue.retry()
    bank.coordinator.queue.runDeferredWork()
    #expect(bank.store.commits == commits && !engine.canCommit && !engine.isDurable)
    bank.store.rollBack()
    try engine.stage(change)
    #expect(!bank.store.hasStagedChanges && !engine.isDurable)
  }
}
